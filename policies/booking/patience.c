/* How long jobs wait before other jobs are evicted for them; see policies/booking/patience.h. */
#include "policies/booking/patience.h"
#include "policies/state/retry_queue.h"

time_ns sched_delay(const struct sched *sched, uint32_t slot)
{
    const time_ns own = sched->jobs.facts[slot].preemption_delay;
    if (own >= 0 || !sched->has_own_times)
        return own >= 0 ? own : sched->policy.preempt.delay;
    return queue_table_delay(sched->tree.table, sched->jobs.jobs[slot].queue, sched->policy.preempt.delay);
}

time_ns sched_stale_after(const struct sched *sched, uint32_t slot)
{
    const time_ns own = sched->jobs.facts[slot].stale_after;
    if (own >= 0 || !sched->has_own_times)
        return own >= 0 ? own : sched->policy.stale_after;
    return queue_table_stale_after(sched->tree.table, sched->jobs.jobs[slot].queue, sched->policy.stale_after);
}

void sched_learn_new_times(struct sched *sched, queue_id first)
{
    for (queue_id q = first; q < sched->tree.count; q++) {
        const struct queue_spec *spec = &sched->tree.table->queues[q];
        sched->has_own_times |= spec->preemption_delay >= 0 || spec->stale_after >= 0;
        sched->has_patience |= spec->preemption_delay > 0;
    }
}

void sched_learn_times(struct sched *sched)
{
    const bool had = sched->has_own_times;
    sched->has_own_times = false;
    sched->has_patience |= sched->policy.preempt.delay > 0;
    sched_learn_new_times(sched, 0);
    if (sched->policy.preemption->evicts && (had || sched->has_own_times))
        for (uint32_t class_queue = 0; class_queue < sched->pending.class_queue_count; class_queue++)
            retry_queue_new_head(sched, class_queue); /* its delay may differ */
}
