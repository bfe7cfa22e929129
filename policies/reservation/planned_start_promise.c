/* Promises: the planned starts that no other job may delay, and whether their jobs started in time.
 *
 * Where planned starts stand and only become earlier, every planned start is a promise.  Otherwise only that of the
 * first job in the order is one, because no job is planned before it. */
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

bool planned_start_replans(const struct sched *sched)
{
    return sched->policy.backfill->keeps && sched->policy.backfill_config.compression == COMPRESSION_REPLAN;
}

void planned_start_note_start(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    if (book->head < book->promise_capacity && book->promises[book->head].start != 0 &&
        pending_compare(&sched->pending, slot, book->head) < 0)
        book->promises[book->head].start = 0; /* the order has changed: `slot` goes before the old head */
    if (slot >= book->promise_capacity || book->promises[slot].start == 0)
        return;
    struct promise *promise = &book->promises[slot];
    if (book->end_count > 0 && book->ends[0].end <= sched->now)
        book->outlived_at = sched->now;
    book->promised_starts++;
    book->late_starts += sched->now > promise->start && book->outlived_at < promise->made_at;
    promise->start = 0;
}

/* The old head may still wait.  It loses its promise: the order put another job before it, which is not a delay. */
static void turn_head(struct planned_start_book *book, uint32_t slot)
{
    if (book->head != slot && book->head < book->promise_capacity)
        book->promises[book->head].start = 0;
    book->head = slot;
}

static void promise_start(struct sched *sched, const struct planned_start *planned_start)
{
    struct planned_start_book *book = sched->planned_starts;
    struct promise *promise = &book->promises[planned_start->slot];
    if (promise->start == 0 || planned_start->start <= promise->start || book->outlived_at >= promise->made_at)
        *promise = (struct promise){planned_start->start, sched->now};
}

void planned_start_note_promise(struct sched *sched, const struct planned_start *planned_start, bool is_head)
{
    const bool keeps = sched->policy.backfill->keeps;
    if (planned_start_replans(sched) || (!keeps && !is_head))
        return;
    if (!keeps)
        turn_head(sched->planned_starts, planned_start->slot);
    promise_start(sched, planned_start);
}

void planned_start_waive(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    if (slot < book->promise_capacity)
        book->promises[slot].start = 0;
}

void planned_start_note_first(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    const struct pending *pending = &sched->pending;
    uint32_t first = UINT32_MAX;
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t head = pending_head(pending, pending->busy[b]);
        if (pending_is_passed(&pending->class_queues[pending->busy[b]]))
            continue;
        if (first == UINT32_MAX || pending_compare(pending, head, first) < 0)
            first = head;
    }
    if (first == UINT32_MAX)
        return;
    turn_head(book, first);
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].slot == first)
            promise_start(sched, &book->of[f]);
}
