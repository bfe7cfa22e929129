/* easy.  The first jobs that do not fit know when and where they will start; a job that delays none of them may
 * start now.
 *
 * Source: the EASY scheduler (Lifka 1995; Mu'alem and Feitelson 2001): one reservation, for the head of the line; more
 * are Maui's RESERVATIONDEPTH.  Reservations are made anew in every cycle, on particular GPUs, so that a job that
 * ends early moves them up.
 * Departure: space is named, not counted, so that a request class that never comes together is not promised.
 * Cost: O(running jobs + waiting jobs) placements a cycle at worst.
 * Known failure: jobs behind the last reservation may be delayed without bound; it is as good as the limits it is
 * told. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_easy = {
    .name = "easy",
    .version = 1,
    .summary = "who delays none of the first `reservations` jobs in line may overtake; needs limits "
               "or estimates, and delays jobs further behind without bound",
    .overtakes = true,
    .defaults = {.reservations = 1, .depth = BACKFILL_ALL, .window = TIME_NEVER},
};
