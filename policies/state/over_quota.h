/* policies/state/over_quota.h -- which heads would go beyond what their queue deserves. */
#ifndef POLICIES_STATE_OVER_QUOTA_H
#define POLICIES_STATE_OVER_QUOTA_H

#include "policies/state/sched_state.h"

/* Would its queue, and all above it, still be within what they deserve with the chunk it asks? */
bool sched_is_entitled(const struct sched *sched, uint32_t slot);
/* True if the head of the lane is not entitled so; that is remembered until it may be, or another is the head. */
bool borrowers_find(struct sched *sched, uint32_t lane);
/* Less is charged to the queue: heads that it made borrowers may be none now. */
void borrowers_review(struct sched *sched, queue_id queue);

#endif
