/* policies/booking/eligible.h -- jobs that may not wait for their turn yet: dependencies, arrays, holds. */
#ifndef POLICIES_BOOKING_ELIGIBLE_H
#define POLICIES_BOOKING_ELIGIBLE_H

#include "policies/state/sched_state.h"

/* Why the new job may not wait for its turn yet; REASON_NONE: it may; REASON_DEPENDENCY_NEVER: never. */
enum reason eligible_submit(struct sched *sched, uint32_t slot, const struct job *job);
void eligible_adopt(struct sched *sched, uint32_t slot);              /* it runs already, whatever the limit */
void eligible_ended(struct sched *sched, job_id job, enum ended end); /* of any job; releases who waited for it */
void eligible_left(struct sched *sched, uint32_t array);              /* an element of the array is over */
void eligible_released(struct sched *sched, uint32_t slot);           /* its submitter holds it no longer */
void eligible_unpark(struct sched *sched, uint32_t slot);             /* cancelled while it was held */
void eligible_archive(struct archive *archive, struct sched *sched);

#endif
