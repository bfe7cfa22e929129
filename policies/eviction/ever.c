/* Which jobs the policy may ever evict for another: the rules of plans without what time decides. */
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/victims.h"
#include "policies/state/sched_state.h"

/* Of one queue, or all jobs share one: by preemption, else by reclaim. */
static enum plan_kind kind_between(const struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    return sched->policy.quota->is_flat || sched->jobs.jobs[preemptor].queue == sched->jobs.jobs[slot].queue
               ? PLAN_PREEMPT
               : PLAN_RECLAIM;
}

/* A job that waits is charged in a trial, as if it ran. */
static bool may_reclaim(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *job = &sched->jobs.jobs[slot];
    const struct quota_policy *quota = sched->policy.quota;
    const int64_t *ask = sched_ask(sched, own)->charge, *unit = sched_request_class(sched, job)->charge;
    const struct taking taking = {.preemptor = own->queue,
                                  .victim = job->queue,
                                  .preemptor_ask = ask,
                                  .victim_unit = unit,
                                  .preemptor_priority = own->priority,
                                  .victim_priority = job->priority};
    if (quota->may_reclaim == NULL || !victims_is_queue_meant(sched, own->queue, job->queue, PLAN_RECLAIM) ||
        !quota->may_reclaim(&sched->tree, own->queue, ask))
        return false;
    const size_t mark = ledger_mark(sched->ledger);
    if (!job->is_booked)
        ledger_charge(sched->ledger, job->queue, unit);
    const bool may = quota->may_take(&sched->tree, &taking);
    ledger_rollback(sched->ledger, mark);
    return may;
}

bool eviction_is_ever(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const enum plan_kind kind = kind_between(sched, preemptor, slot);
    const bool is_used = sched->retry_queues[kind].is_used || (kind == PLAN_PREEMPT && sched->eviction->takes_both);
    if (slot == preemptor || !is_used || !sched_request_class(sched, job)->is_preemptible ||
        job->evictions >= sched->policy.preempt.evictions_per_job_max)
        return false;
    return kind == PLAN_RECLAIM ? may_reclaim(sched, preemptor, slot)
                                : victims_is_within_rule(sched, preemptor, slot) &&
                                      pending_compare(&sched->pending, preemptor, slot) < 0;
}

time_ns eviction_protects_for(const struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    return victims_min_runtime(sched, sched->jobs.jobs[preemptor].queue, sched->jobs.jobs[slot].queue,
                               kind_between(sched, preemptor, slot));
}
