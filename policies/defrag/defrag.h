/* policies/defrag/defrag.h -- what should move.
 *
 * Free space that is scattered over nodes serves no gang.  A configuration says whether running jobs are moved to other
 * places to bring it together (policies/eviction/moves.c), and how many.  A policy file names one and may change it:
 *
 *   {"defrag": {"policy": "consolidation", "moves_per_plan": 8}}
 *
 * none.  What runs stays where it is.  Known failure: where small jobs never stop coming, no block of whole nodes ever
 * comes together.
 * consolidation.  Running preemptible jobs move to other places, all at once, so that a waiting preemptible one fits.
 * Source: the consolidation action of NVIDIA's KAI-Scheduler: every victim is placed again in the after-state, at most
 * a given number of them; a preset of it turns the rest off.  Departure: a job that ends sooner than the move costs
 * stays; the place found for it is held, so that it starts there as soon as it has left.  Cost: the search of the
 * engine (policies/eviction/plan.c), and a placement for each job moved.  Known failure: it needs free space elsewhere,
 * as much as it clears, and jobs that lose little by a restart: where most run without checkpoints the work thrown away
 * may be worth more than the wait.
 *
 * Laws: every budget counts steps, never time spent.  Who is moved has a place to go to.  Unless `spares_ending` is
 * off, no job is moved that by its planned end has less left to run than the move costs it.
 */
#ifndef POLICIES_DEFRAG_H
#define POLICIES_DEFRAG_H

#include <stdbool.h>
#include <stdint.h>

struct defrag_config {
    int64_t moves_per_plan; /* jobs; 0: none moves, -1: no bound */
    bool spares_ending;     /* a job is not moved that ends sooner than the move costs */
    bool holds_places;      /* the place a moved job is to go to is held for it */
};

struct defrag_policy {
    const char *name;
    const char *summary; /* when it works and when it fails */
    struct defrag_config defaults;
};

extern const struct defrag_policy *const defrag_policies[]; /* NULL-terminated */

#endif
