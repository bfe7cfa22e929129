/* policies/state/kept_quota.h -- quota that is kept for a blocked head. */
#ifndef POLICIES_STATE_KEPT_QUOTA_H
#define POLICIES_STATE_KEPT_QUOTA_H

#include "policies/state/sched_state.h"

void kept_init(struct sched *sched);
/* The queue whose kept quota blocks the job; QUEUE_NONE: none does. */
queue_id kept_forbids(struct sched *sched, uint32_t slot);
/* Open the class queues that kept quota closed. */
void kept_reopen(struct sched *sched);

#endif
