/* conservative.  Every job knows from its submission on when and where it will start at the latest, and nobody delays
 * anybody.
 *
 * Source: conservative backfilling (Mu'alem and Feitelson 2001).  When something ends before its time, jobs are gone
 * through in the order of their promises, and each may move up to the first hole that is large and long enough.
 * Departure: a promise names GPUs, not counts.  A promise that something outlived is made anew, later.  Only nodes
 * where something came free since the last pass are looked at for one who may move up, if he is a single member; a
 * hole that appears when somebody behind him moves waits until something comes free on that node again.  The
 * compression `replan` drops all promises instead, and makes them anew in the order of the chain: then only the first
 * job in line is surely not delayed.
 * Cost: a search of the profile (policies/state/profile.h) for each job that comes, and for each that waits whenever
 * something ends early; under `replan` for every job that waits, and a profile drawn anew for every node that was
 * promised. Known failure: fewer may overtake than under EASY; who waits is promised times that are as wrong as the
 * limits. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_conservative = {
    .name = "conservative",
    .version = 1,
    .summary = "every job is promised a start when it comes and nobody delays anybody; needs "
               "limits or estimates, and lets fewer overtake than easy",
    .overtakes = true,
    .keeps = true,
    .defaults = {.reservations = BACKFILL_ALL, .depth = BACKFILL_ALL, .window = TIME_NEVER},
};
