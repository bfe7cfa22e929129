/* policies/booking/planned_end.h -- when running jobs end, and how long waiting jobs run, by their estimates. */
#ifndef POLICIES_BOOKING_PLANNED_END_H
#define POLICIES_BOOKING_PLANNED_END_H

#include "policies/state/sched_state.h"

/* The declared run time of the job; TIME_NEVER: it declares none. */
time_ns planned_length(const struct sched *sched, uint32_t slot);
/* The time rounded up to a multiple of the backfill policy's resolution, so that plans are on the safe side. */
time_ns planned_end_rounded(const struct sched *sched, time_ns at);
/* Its planned end if it starts at that time. */
time_ns planned_end_after(const struct sched *sched, time_ns start, uint32_t slot);
/* The planned end of a job that holds something; TIME_NEVER: unknown. */
time_ns planned_end(const struct sched *sched, uint32_t slot);

#endif
