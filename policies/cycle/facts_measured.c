/* Facts about jobs that run on: what they saved, and what a monitor measured of them. */
#include "policies/booking/booking.h"
#include "policies/booking/told.h"
#include "policies/cycle/cycle_inside.h"
#include "policies/eviction/eviction.h"
#include "policies/hoarders/hoarders.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"

void sched_job_checkpointed(struct sched *sched, job_id id, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    sched->jobs.facts[slot].saved_at = now;
    preemption_cost_know(sched, slot);
    if (sched->policy.preemption->evicts)
        candidates_forget(sched, slot);
}

void sched_job_observed(struct sched *sched, job_id id, const struct observation *observation, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_observation(observation, now)) ||
        !told_well(sched, told_known(sched, id)))
        return;
    if (sched->hoarders != NULL)
        hoarders_observed(sched, job_table_find(&sched->jobs, id), observation, now);
}
