/* policies/state/over_quota.h -- which heads would go beyond what their queue deserves. */
#ifndef POLICIES_STATE_OVER_QUOTA_H
#define POLICIES_STATE_OVER_QUOTA_H

#include "policies/state/sched_state.h"

/* Would its queue, and all above it, still be within what they deserve with the allocation step it asks? */
bool sched_is_entitled(const struct sched *sched, uint32_t slot);
/* True if the head of the class queue is not entitled so; that is remembered until it may be, or another is the head.
 */
bool over_quota_find(struct sched *sched, uint32_t class_queue);
/* Less is charged to the queue: heads that it made borrowers may be none now. */
void over_quota_review(struct sched *sched, queue_id queue);

#endif
