/* When running jobs end, and how long waiting jobs run, by their estimates. */
#include "policies/booking/planned_end.h"
#include "policies/state/sched_state.h"

time_ns planned_length(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const bool learns = sched->run_times.is_used;
    return sched->policy.estimate->length(facts->limit, learns ? sched->run_times.runs[slot].estimate : facts->estimate,
                                          sched->own.estimate);
}

time_ns planned_end_rounded(const struct sched *sched, time_ns at)
{
    time_ns step = sched->policy.backfill_config.resolution;
    return step == 0 || at > TIME_NEVER - step ? at : (at + step - 1) / step * step;
}

time_ns planned_end_after(const struct sched *sched, time_ns start, uint32_t slot)
{
    return planned_end_rounded(sched, time_after(start, planned_length(sched, slot)));
}

time_ns planned_end(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const time_ns grace = sched->policy.preempt.grace, length = planned_length(sched, slot);
    time_ns end = job->state == SJOB_EVICTING ? time_after(sched->now, grace)
                  : job->is_booked            ? time_after(job->decided, length)
                                              : time_after(time_after(sched->now, grace), length);
    return planned_end_rounded(sched, end < 1 ? 1 : end);
}
