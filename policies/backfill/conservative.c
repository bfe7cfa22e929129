/* conservative.  Every job gets a planned start when it is submitted, and no job delays another.
 *
 * Source: conservative backfilling (Mu'alem and Feitelson 2001).  When a job ends early, the waiting jobs are tried in
 * the order of their planned starts, and each may move forward into the first hole that is large and long enough.
 * Departure: unless any GPUs will do (policies/reservation/planned_units.c), a planned start names GPUs, and a job of
 * one member is only tried on nodes where space came free since the last pass.  If running jobs outlive a planned
 * start, it is planned again, later.  A hole that appears because a later job moved is not used before something comes
 * free again, on that node where GPUs are named.
 * With `depth` a job behind that many jobs with planned starts waits until one of these starts; then it gets its own.
 * Cost: a search of the profile (policies/reservation/profile.h) for each job submitted, and for each waiting job
 * whenever a job ends early.  Known failure: fewer jobs overtake than under EASY, and planned starts are as wrong as
 * the time limits. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_conservative = {
    .name = "conservative",
    .version = 1,
    .summary = "every job gets a promised start when it is submitted and no job delays another; "
               "needs limits or estimates, and fewer jobs overtake than under easy",
    .defaults =
        {.overtakes = true, .keeps = true, .reservations = BACKFILL_ALL, .depth = BACKFILL_ALL, .window = TIME_NEVER},
};
