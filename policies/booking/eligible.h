/* policies/booking/eligible.h -- jobs that may not enter a class queue yet: dependencies, arrays, holds, rests. */
#ifndef POLICIES_BOOKING_ELIGIBLE_H
#define POLICIES_BOOKING_ELIGIBLE_H

#include "policies/state/sched_state.h"

void eligible_init(struct sched *sched);
void eligible_release(struct sched *sched);
/* Elements of the array that wait or run. */
uint32_t eligible_array_count(const struct sched *sched, uint32_t array);
/* Open dependencies of the job; JOB_NONE: of all jobs.  O(all of them). */
uint32_t eligible_dependency_count(const struct sched *sched, job_id job);

/* Why the new job may not enter a class queue yet.  REASON_NONE: it may.  REASON_DEPENDENCY_NEVER: it never may, and is
 * rejected and forgotten by this call. */
enum reason eligible_submit(struct sched *sched, uint32_t slot, const struct job *job);
void eligible_adopt(struct sched *sched, uint32_t slot);              /* it runs already: the limit does not apply */
void eligible_ended(struct sched *sched, job_id job, enum ended end); /* releases the jobs that depend on it */
void eligible_released(struct sched *sched, uint32_t slot);           /* its submitter no longer holds it */
/* It holds nothing and waits no more: forget it, and release what waits for its end. */
void eligible_forget(struct sched *sched, uint32_t slot, enum ended end);
/* It was evicted as idle and waits again: it shall wait for nothing (REASON_IDLE), until it is rested. */
void eligible_rest(struct sched *sched, uint32_t slot);
void eligible_rested(struct sched *sched, uint32_t slot);
void eligible_unpark(struct sched *sched, uint32_t slot); /* it was cancelled while it was held */

#endif
