/* easy.  The first jobs that do not fit get planned starts; a job that delays none of them may start now.
 *
 * Source: the EASY scheduler (Lifka 1995; Mu'alem and Feitelson 2001): one reservation, for the first job; more
 * are Maui's RESERVATIONDEPTH.  Planned starts are made anew in every cycle, so that a job that ends early moves them
 * up.  Where any GPUs will do they are counted, as there (policies/reservation/planned_units.c).
 * Departure: elsewhere a planned start names GPUs, so that it cannot assume space that is never free together.  With
 * `names_gpus`, and where queues compete, it names them always, as Batsim's EASY names machines.
 * Cost: O(running jobs + waiting jobs) placements a cycle at worst.
 * Known failure: jobs behind the last planned start may be delayed without bound; it is only as good as the declared
 * limits. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_easy = {
    .name = "easy",
    .version = 1,
    .summary = "a job that delays none of the first `reservations` jobs may overtake; needs limits "
               "or estimates, and delays jobs further behind without bound",
    .defaults = {.overtakes = true, .reservations = 1, .depth = BACKFILL_ALL, .window = TIME_NEVER},
};
