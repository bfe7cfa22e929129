/* policies/eviction/plan_rounds.h -- in which rounds victims are sought, as the quota policy says. */
#ifndef POLICIES_EVICTION_PLAN_ROUNDS_H
#define POLICIES_EVICTION_PLAN_ROUNDS_H

#include "policies/eviction/plan.h"

/* May a plan of this kind evict anybody for the preemptor?  Fills plan.rounds. */
bool plan_may_evict(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* Does a plan of reclaim for the preemptor also take from this queue, for it is its own? */
bool plan_takes_own(const struct sched *sched, uint32_t preemptor, queue_id queue);
/* Is what the preemptor takes from beyond this queue, its own or one above it, what that is entitled to in this round?
 */
bool plan_is_by_right(const struct sched *sched, queue_id preemptor_top);
/* Do the rounds take from the queue of the largest share first? */
bool plan_is_by_share(const struct sched *sched);
/* Is what the preemptor takes from this queue its due in every round? */
bool plan_is_all_by_right(const struct sched *sched, queue_id queue);
/* The preemptor (a) and the job of the unit (b) as `compare` wants them, where their queues meet. */
void plan_contenders(struct sched *sched, uint32_t preemptor, const struct unit *unit, struct contender *a,
                     struct contender *b);
/* Go on to the next round, from `mark` if it begins with nothing; false: this was the last. */
bool plan_next_round(struct sched *sched, size_t *mark);
/* With only the units that are still taken, might each be taken in its round? */
bool plan_is_lawful(struct sched *sched, uint32_t preemptor);
/* victims_next in a round that goes by share. */
struct unit *plan_next_by_share(struct sched *sched, uint32_t preemptor, enum plan_kind kind);

#endif
