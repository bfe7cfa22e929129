/* consolidation.  Running preemptible jobs move to other places, all at once, so that a waiting preemptible one fits.
 *
 * Source: the consolidation action of NVIDIA's KAI-Scheduler: every victim is placed again in the after-state, at most
 * a given number of them; a preset of it turns the rest off.
 * Departure: a job that ends sooner than the move costs stays; the place found for it
 * is held, so that it starts there as soon as it has left.
 * Cost: the search of the engine (policies/eviction/plan.c), and a placement for each job moved. Known failure: it
 * needs free space elsewhere, as much as it clears, and jobs that lose little by a restart: where most run without
 * checkpoints the work thrown away may be worth more than the wait. */
#include "policies/defrag/defrags.h"

const struct defrag_policy defrag_consolidation = {
    .name = "consolidation",
    .version = 1,
    .summary = "running jobs move together so that a waiting one fits; needs space to move to, and "
               "jobs that restart cheaply",
    .moves = true,
    .defaults = {.moves_per_plan = 16, .spares_ending = true, .holds_places = true},
};
