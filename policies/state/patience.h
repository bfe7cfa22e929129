/* policies/state/patience.h -- how long a job waits before others are evicted for it, and a gang below its minimum
 * stays. */
#ifndef POLICIES_STATE_PATIENCE_H
#define POLICIES_STATE_PATIENCE_H

#include "policies/state/sched_state.h"

/* How long it waits before anybody is evicted for it. */
time_ns sched_delay(const struct sched *sched, uint32_t slot);
/* How long it may stay below its minimum before it loses the rest; TIME_NEVER: for ever. */
time_ns sched_stale_after(const struct sched *sched, uint32_t slot);
void sched_learn_times(struct sched *sched); /* the queues are others: who says its own? */

#endif
