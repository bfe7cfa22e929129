/* What jobs were promised: the forecasts that nobody may delay, and whether their jobs started in time.
 *
 * Where forecasts stand and only become earlier, every forecast is a promise.  Otherwise only that of the first job in line is
 * one: no job is planned before it. */
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

bool forecast_replans(const struct sched *sched)
{
    return sched->policy.backfill->keeps &&
           sched->policy.backfill_config.compression == COMPRESSION_REPLAN;
}

void forecast_note_start(struct sched *sched, uint32_t slot)
{
    struct forecast_book *book = sched->forecasts;
    if (book->head < book->promise_capacity && book->promises[book->head].start != 0 &&
        pending_compare(&sched->pending, slot, book->head) < 0)
        book->promises[book->head].start = 0; /* the order has put this one before it since */
    if (slot >= book->promise_capacity || book->promises[slot].start == 0)
        return;
    struct promise *promise = &book->promises[slot];
    if (book->end_count > 0 && book->ends[0].end <= sched->now)
        book->outlived_at = sched->now;
    book->promised_starts++;
    book->late_starts += sched->now > promise->start && book->outlived_at < promise->made_at;
    promise->start = 0;
}

/* The old head may still wait: the order has put another job before it, which is no delay. */
static void turn_head(struct forecast_book *book, uint32_t slot)
{
    if (book->head != slot && book->head < book->promise_capacity)
        book->promises[book->head].start = 0;
    book->head = slot;
}

static void promise_start(struct sched *sched, const struct forecast *forecast)
{
    struct forecast_book *book = sched->forecasts;
    struct promise *promise = &book->promises[forecast->slot];
    if (promise->start == 0 || forecast->start <= promise->start ||
        book->outlived_at >= promise->made_at)
        *promise = (struct promise){forecast->start, sched->now};
}

void forecast_note_promise(struct sched *sched, const struct forecast *forecast, bool is_head)
{
    const bool keeps = sched->policy.backfill->keeps;
    if (forecast_replans(sched) || (!keeps && !is_head))
        return;
    if (!keeps)
        turn_head(sched->forecasts, forecast->slot);
    promise_start(sched, forecast);
}

void forecast_note_first(struct sched *sched)
{
    struct forecast_book *book = sched->forecasts;
    const struct pending *pending = &sched->pending;
    uint32_t first = UINT32_MAX;
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t head = pending_head(pending, pending->busy[b]);
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
