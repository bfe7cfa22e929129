/* policies/eviction/preemption_cost.h -- is the preemption cost of a plan worth the preemptor's wait? */
#ifndef POLICIES_EVICTION_PREEMPTION_COST_H
#define POLICIES_EVICTION_PREEMPTION_COST_H

#include "policies/eviction/plan.h"

/* The GPU-ns of work that may be lost for a preemptor that has waited until now. */
int64_t preemption_cost_of_wait(const struct sched *sched, uint32_t preemptor);
/* The preemption cost is higher than that: note when it may not be any more (plan.result.affordable_at). */
void preemption_cost_note(struct sched *sched, uint32_t preemptor, const struct preemption_cost *preemption_cost);
/* Before this time no plan of reclaim can be worth the preemptor's wait; 0: it may be worth it now. */
time_ns preemption_cost_earliest(const struct sched *sched, uint32_t preemptor);
/* When to try a plan again whose cost was too high. */
time_ns preemption_cost_retry_at(const struct sched *sched, uint32_t preemptor);
#endif
