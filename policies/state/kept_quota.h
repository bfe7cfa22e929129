/* policies/state/kept_quota.h -- quota that is kept for a blocked head. */
#ifndef POLICIES_STATE_KEPT_QUOTA_H
#define POLICIES_STATE_KEPT_QUOTA_H

#include "policies/state/sched_state.h"

void kept_init(struct sched *sched);
/* The queue that forbids the job what is kept for others in front of it; QUEUE_NONE. */
queue_id kept_forbids(struct sched *sched, uint32_t slot);
/* The class queues that were closed by it are open again. */
void kept_reopen(struct sched *sched);

#endif
