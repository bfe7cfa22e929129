/* policies/state/over_quota.h -- which heads would take their queue over its quota. */
#ifndef POLICIES_STATE_OVER_QUOTA_H
#define POLICIES_STATE_OVER_QUOTA_H

#include "policies/state/sched_state.h"

/* The lowest queue, its own or one above it, that the next allocation step of the job would take beyond its quota;
 * QUEUE_NONE: none. */
queue_id sched_owed_by(const struct sched *sched, uint32_t slot);
/* Would its queue and all queues above it still be in quota with the next allocation step of the job? */
bool sched_is_entitled(const struct sched *sched, uint32_t slot);
/* True if the head of the class queue is over quota.  The answer is kept until less is charged or the head changes. */
bool over_quota_find(struct sched *sched, uint32_t class_queue);
/* The queue is charged less: heads listed as over quota may be in quota now. */
void over_quota_review(struct sched *sched, queue_id queue);

#endif
