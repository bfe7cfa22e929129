/* Promises: the planned starts that no other job may delay, and whether their jobs started in time.
 *
 * Where planned starts stand and only become earlier, every planned start is a promise.  Otherwise only that of the
 * first job in the order is one, because no job is planned before it. */
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

bool planned_start_is_wanted(struct sched *sched, uint32_t slot)
{
    const struct backfill_policy *backfill = sched->policy.backfill;
    struct order_view view;
    if (request_class_is_surplus(sched_ask(sched, &sched->jobs.jobs[slot])))
        return false; /* it runs already, and stops nobody: policies/queues/pending.h */
    if (backfill->reserves == NULL)
        return true;
    sched_view(sched, slot, &view);
    view.own = sched->own.backfill;
    return backfill->reserves(&view);
}

/* Has a job outlived its planned end? */
static bool is_outlived(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    for (uint32_t e = 0; e < book->end_count && book->ends[e].end <= sched->now; e++)
        if (!fillers_has(sched, book->ends[e].slot))
            return true;
    return false;
}

void planned_start_note_start(struct sched *sched, void *own, uint32_t slot)
{
    struct planned_start_book *book = own;
    if (book->head < book->promise_capacity && book->promises[book->head].start != 0 &&
        pending_compare(&sched->pending, slot, book->head) < 0)
        book->promises[book->head].start = 0; /* the order has changed: `slot` goes before the old head */
    if (slot >= book->promise_capacity || book->promises[slot].start == 0)
        return;
    struct promise *promise = &book->promises[slot];
    if (is_outlived(sched))
        book->outlived_at = sched->now;
    book->promised_starts++;
    book->late_starts += sched->now > promise->start && book->outlived_at < promise->made_at;
    promise->start = 0;
}

void planned_start_postpone(struct sched *sched, uint32_t slot, time_ns by)
{
    struct planned_start_book *book = sched->planned_starts;
    if (slot < book->promise_capacity && book->promises[slot].start != 0)
        book->promises[slot].start = time_after(book->promises[slot].start, by);
}

void planned_start_note_promise(struct sched *sched, const struct planned_start *planned_start, bool is_head)
{
    const bool keeps = sched->policy.backfill_config.keeps;
    struct planned_start_book *book = sched->planned_starts;
    struct promise *promise = &book->promises[planned_start->slot];
    if (!keeps && !is_head)
        return;
    if (!keeps) {
        /* The old head may still wait.  It loses its promise: the order put another job before it, which is no
         * delay. */
        if (book->head != planned_start->slot && book->head < book->promise_capacity)
            book->promises[book->head].start = 0;
        book->head = planned_start->slot;
    }
    if (promise->start == 0 || planned_start->start <= promise->start || book->outlived_at >= promise->made_at)
        *promise = (struct promise){planned_start->start, sched->now};
}
