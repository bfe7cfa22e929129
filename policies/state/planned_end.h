/* policies/state/planned_end.h -- when running jobs end, and how long waiting ones run, by what they say. */
#ifndef POLICIES_STATE_PLANNED_END_H
#define POLICIES_STATE_PLANNED_END_H

#include "policies/state/sched_state.h"

/* What the job says it runs; TIME_NEVER if it says nothing. */
time_ns planned_length(const struct sched *sched, uint32_t slot);
/* Plans are made in multiples of the resolution of the backfill policy, to be on the safe side. */
time_ns planned_end_rounded(const struct sched *sched, time_ns at);
/* When it has ended by its plan if it starts then. */
time_ns planned_end_after(const struct sched *sched, time_ns start, uint32_t slot);
/* When what holds something will have ended, by what it says; TIME_NEVER. */
time_ns planned_end(const struct sched *sched, uint32_t slot);

#endif
