/* Facts about queues: the table has changed, or has grown. */
#include "policies/booking/booking.h"
#include "policies/booking/patience.h"
#include "policies/booking/told.h"
#include "policies/state/sched_state.h"

/* Make room for what is kept by queue. */
static void grow_queues(struct sched *sched, const struct queue_table *queues)
{
    ledger_queues(sched->ledger, queues);
    pending_lines(&sched->pending, queues->count);
    booking_queues_changed(sched, queues->count);
}

void sched_queues_changed(struct sched *sched, const struct queue_table *queues, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_queues(sched, queues, 0)))
        return;
    sched_begin_fact(sched, now);
    grow_queues(sched, queues);
    queue_tree_update(&sched->tree, queues);
    OBSERVERS_TELL(sched, queues_changed, queues, 0);
    sched_learn_times(sched);
    sched_enter_lines_again(sched);
    sched_reopen_quotas(sched); /* limits may have been raised */
}

/* May the queues from `first` on raise what others may have? */
static bool are_endowed(const struct queue_table *queues, queue_id first)
{
    bool is_endowed = false;
    for (queue_id q = first; q < queues->count; q++)
        for (int r = 0; r < RESOURCE_COUNT; r++)
            is_endowed |= queues->queues[q].deserved[r] > 0 || queues->queues[q].guarantee[r] > 0;
    return is_endowed;
}

void sched_queues_added(struct sched *sched, const struct queue_table *queues, queue_id first, time_ns now)
{
    if (first < sched->tree.count) {
        sched_queues_changed(sched, queues, now);
        return;
    }
    first = sched->tree.count;
    if (!told_in_time(sched, now) || !told_well(sched, told_queues(sched, queues, first)))
        return;
    sched_begin_fact(sched, now);
    grow_queues(sched, queues);
    queue_tree_add(&sched->tree, queues);
    OBSERVERS_TELL(sched, queues_changed, queues, first);
    sched_learn_new_times(sched, first);
    if (are_endowed(queues, first))
        sched_reopen_quotas(sched);
}
