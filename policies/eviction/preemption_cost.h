/* policies/eviction/preemption_cost.h -- is what an eviction throws away worth the wait? */
#ifndef POLICIES_EVICTION_PREEMPTION_COST_H
#define POLICIES_EVICTION_PREEMPTION_COST_H

#include "policies/eviction/plan.h"

/* GPU-ns that may be thrown away for what the gainer has waited until now. */
int64_t worth_of_wait(const struct sched *sched, uint32_t gainer);
/* The loss is more than that: note when it may not be. */
void worth_note(struct sched *sched, uint32_t gainer, const struct forfeit *forfeit);
/* Before that no plan of reclaim can be worth the gainer's wait; 0: it may be any time. */
time_ns worth_earliest(const struct sched *sched, uint32_t gainer);
/* When a plan that was too dear is worth another look. */
time_ns worth_retry_at(const struct sched *sched, uint32_t gainer);

#endif
