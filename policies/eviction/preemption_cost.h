/* policies/eviction/preemption_cost.h -- is what an eviction throws away worth the wait? */
#ifndef POLICIES_EVICTION_PREEMPTION_COST_H
#define POLICIES_EVICTION_PREEMPTION_COST_H

#include "policies/eviction/plan.h"

/* GPU-ns that may be thrown away for what the preemptor has waited until now. */
int64_t preemption_cost_of_wait(const struct sched *sched, uint32_t preemptor);
/* The loss is more than that: note when it may not be. */
void preemption_cost_note(struct sched *sched, uint32_t preemptor, const struct preemption_cost *preemption_cost);
/* Before that no plan of reclaim can be worth the preemptor's wait; 0: it may be any time. */
time_ns preemption_cost_earliest(const struct sched *sched, uint32_t preemptor);
/* When a plan that was too dear is worth another look. */
time_ns preemption_cost_retry_at(const struct sched *sched, uint32_t preemptor);

#endif
