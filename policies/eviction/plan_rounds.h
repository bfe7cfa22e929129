/* policies/eviction/plan_rounds.h -- the rounds in which a plan searches victims, as the quota policy defines them. */
#ifndef POLICIES_EVICTION_PLAN_ROUNDS_H
#define POLICIES_EVICTION_PLAN_ROUNDS_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

/* Within a queue only jobs of lower priority may be evicted, and no job of this queue has a lower priority than the
 * preemptor. */
bool plan_has_no_lower(const struct sched *sched, uint32_t preemptor, queue_id queue);
/* What a plan of this kind for the preemptor asks, with its rounds; without a bound of the loss. */
struct plan_request plan_request_of(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* Is this the preemptor's own queue, and does a plan of reclaim take from that too? */
bool plan_takes_own(const struct sched *sched, uint32_t preemptor, queue_id queue);
/* Is this queue (the preemptor's or one above it) entitled in this round to what the preemptor takes from outside it?
 */
bool plan_is_by_right(const struct sched *sched, const struct plan_request *request, queue_id preemptor_top);
/* Do the rounds take from the queue of the largest share first? */
bool plan_is_by_share(const struct sched *sched, const struct plan_request *request);
/* Is the preemptor's side entitled in every round to what it takes from this queue? */
bool plan_is_all_by_right(const struct sched *sched, const struct plan_request *request, queue_id queue);
/* Fill the preemptor (a) and the unit's job (b) for `compare`: as siblings, just below the queue that both have in
 * common. */
void plan_contenders(struct sched *sched, uint32_t preemptor, const struct unit *unit, struct contender *a,
                     struct contender *b);
/* Go on to the next round.  If it begins with no victims, the ledger is rolled back to `mark`.  False: this round was
 * the last. */
bool plan_next_round(struct sched *sched, const struct plan_request *request, size_t *mark);

#endif
