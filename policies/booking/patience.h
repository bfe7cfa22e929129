/* policies/booking/patience.h -- how long a job waits before other jobs are evicted for it, and how long a gang may
 * stay below its minimum. */
#ifndef POLICIES_BOOKING_PATIENCE_H
#define POLICIES_BOOKING_PATIENCE_H

#include "policies/state/sched_state.h"

/* How long it waits before any job is evicted for it. */
time_ns sched_delay(const struct sched *sched, uint32_t slot);
/* How long it may stay below its minimum before the rest is evicted; TIME_NEVER: for ever. */
time_ns sched_stale_after(const struct sched *sched, uint32_t slot);
/* Note the preemption delay of a job that has come. */
static inline void sched_learn_delay(struct sched *sched, time_ns delay)
{
    sched->has_patience |= delay > 0;
}
void sched_learn_times(struct sched *sched); /* the queues changed: read which of them set their own times */
/* As above, where only the queues from `first` on are new.  No job waits in them or below.  O(those). */
void sched_learn_new_times(struct sched *sched, queue_id first);

#endif
