/* policies/state/kept_quota.h -- quota that is kept for a blocked head. */
#ifndef POLICIES_STATE_KEPT_QUOTA_H
#define POLICIES_STATE_KEPT_QUOTA_H

#include "policies/state/sched_state.h"

void kept_init(struct sched *sched);
/* The queue whose kept quota blocks the job; QUEUE_NONE: none does. */
queue_id kept_forbids(struct sched *sched, uint32_t slot);
/* Is the class queue closed only because quota is kept for other jobs? */
static inline void kept_note(struct sched *sched, uint32_t class_queue, bool is_kept_from)
{
    sched->pending.class_queues[class_queue].is_kept_from = is_kept_from;
}
/* Open the class queues that kept quota closed. */
void kept_reopen(struct sched *sched);

#endif
