/* Backfill where queues compete: who is given a forecast, and who stands in its way.
 *
 * In a pass lanes are asked in the order of the contest.  Whose head fits starts it; the first heads that do not, though no
 * limit forbids them, are given forecasts, as many as the policy reserves.  Then the contest goes on as ever, but whoever
 * would stand in the way of a forecast is put beside it, or waits until the next pass, or until a forecast falls.
 * What another queue has borrowed ends, for a job that may take it back, when its protection and the job's patience are
 * over and the grace has passed.  A job within what its queue deserves does not wait for one that is not.
 * Who ends before the first forecast begins may go before the head of its lane that does not, unless lines are strict.
 * Departure: of a lane, all jobs of a queue that ask the same, only the first is given a forecast.  Plans that evict do not
 * look at forecasts: who is entitled takes what it finds.  Where forecasts stand before another the time found need not
 * be the first.
 * Cost: a pass O(lanes) for each head, O(jobs log jobs) to list the ends, and for each forecast O(running jobs) in the
 * ledger and O(log) placements; between passes O(pieces of the forecasts) for each job that starts. */
#include <stdlib.h>

#include "policies/eviction/eviction.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/candidates.h"
#include "policies/state/listeners.h"
#include "policies/state/over_quota.h"
#include "policies/state/patience.h"
#include "policies/state/planned_end.h"
#include "policies/state/sched_state.h"

/* ---- When what runs will have ended ---- */

/* Until when the space is borrowed at the longest; TIME_NEVER: the gainer has no right to it. */
static time_ns returns_at(struct sched *sched, uint32_t gainer, uint32_t slot)
{
    time_ns ripe = victims_ripe_at(sched, gainer, slot);
    if (ripe == TIME_NEVER)
        return TIME_NEVER;
    time_ns patient =
        time_after(sched->jobs.facts[gainer].waiting_since, sched_delay(sched, gainer));
    time_ns at = ripe > patient ? ripe : patient;
    return time_after(at > sched->now ? at : sched->now, sched_grace(sched, slot));
}

static bool may_take_back(struct sched *sched, uint32_t gainer)
{
    const struct sched_job *job = &sched->jobs.jobs[gainer];
    return sched->agendas[PLAN_RECLAIM].is_used && sched->policy.quota->may_reclaim != NULL &&
           sched->policy.quota->may_reclaim(&sched->tree, job->queue,
                                            sched_ask(sched, job)->charge);
}

static int compare_ends(const void *a, const void *b)
{
    const struct planned_end *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* In order, as they are for this job; what it holds itself stays. */
static void list_ends(struct sched *sched, uint32_t gainer)
{
    struct forecast_book *book = sched->forecasts;
    const bool takes_back = may_take_back(sched, gainer);
    book->end_count = 0;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->holding_count == 0 || slot == gainer)
            continue;
        time_ns end = forecast_planned_end(sched, slot);
        time_ns back = takes_back ? returns_at(sched, gainer, slot) : TIME_NEVER;
        end = back < end ? back : end;
        if (end == TIME_NEVER)
            continue;
        MEM_GROW(book->ends, book->end_capacity, (size_t)book->end_count + 1);
        book->ends[book->end_count++] = (struct planned_end){end, slot};
    }
    if (book->end_count > 1)
        qsort(book->ends, book->end_count, sizeof *book->ends, compare_ends);
}

/* ---- Forecasts ---- */

static bool goes_before_all(const struct sched *sched, uint32_t shape)
{
    return sched->policy.inference_first && sched->shapes.shapes[shape].class == JOB_INFERENCE;
}

void reserve_look_ahead(struct sched *sched, uint32_t slot)
{
    struct forecast_book *book = sched->forecasts;
    const bool is_entitled = sched_is_entitled(sched, slot);
    bool is_behind = goes_before_all(sched, sched->jobs.jobs[slot].ask);
    for (uint32_t f = 0; f < book->count; f++) {
        is_behind |= book->of[f].slot == slot;
        book->of[f].is_aside = is_behind || (is_entitled && !book->of[f].is_entitled);
    }
}

/* With the ends [from, to) over besides, in the trial, does it fit? */
static bool fits_after(struct sched *sched, uint32_t slot, uint32_t from, uint32_t to)
{
    for (uint32_t e = from; e < to; e++)
        forecast_let_go(sched, sched->forecasts->ends[e].slot);
    return forecast_fits_at(sched, slot, forecast_end(sched, to - 1), &sched->pieces);
}

/* It fits after `high` ends, not after `low`, which have left the ledger: after how many at least?  What is between has then
 * left too, and sched->pieces say where it fits. */
static uint32_t bisect(struct sched *sched, uint32_t slot, uint32_t low, uint32_t high)
{
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        size_t mark = ledger_mark(sched->ledger);
        if (fits_after(sched, slot, low, middle)) {
            ledger_rollback(sched->ledger, mark);
            high = middle;
        } else {
            ledger_commit(sched->ledger, mark);
            low = middle;
        }
    }
    return fits_after(sched, slot, low, high) ? high : 0;
}

/* After so many ends, doubled until that is enough; 0: it is not before all is over. */
static uint32_t ends_needed(struct sched *sched, uint32_t slot)
{
    const uint32_t count = sched->forecasts->end_count;
    uint32_t low = 0;
    for (uint32_t step = 8; low < count; step *= 2) {
        const uint32_t high = count - low < step ? count : low + step;
        size_t mark = ledger_mark(sched->ledger);
        if (fits_after(sched, slot, low, high)) {
            ledger_rollback(sched->ledger, mark);
            return bisect(sched, slot, low, high);
        }
        ledger_commit(sched->ledger, mark);
        low = high;
    }
    return 0;
}

static void add_forecast(struct sched *sched, uint32_t slot)
{
    struct forecast_book *book = sched->forecasts;
    list_ends(sched, slot);
    reserve_look_ahead(sched, slot);
    size_t mark = ledger_mark(sched->ledger);
    const uint32_t needed = ends_needed(sched, slot);
    ledger_rollback(sched->ledger, mark);
    if (needed > 0) {
        struct forecast *own =
            forecast_append(sched, slot, FORECAST_MANY, forecast_end(sched, needed - 1));
        own->is_entitled = sched_is_entitled(sched, slot);
    }
    book->end_count = 0; /* they hold in this moment only */
}

/* Who waited for a forecast may try again. */
static void reopen(struct sched *sched)
{
    for (uint32_t id = shape_next_closed(&sched->shapes, 0); id < sched->shapes.count;
         id = shape_next_closed(&sched->shapes, id + 1)) {
        const uint8_t closed = sched->shapes.shapes[id].closed;
        if (closed & SHAPE_PROMISED)
            shape_close(&sched->shapes, id, closed & (uint8_t)~SHAPE_PROMISED);
    }
}

void reserve_end_contest(struct sched *sched)
{
    if (sched->forecasts->cycle == sched->cycle)
        sched->forecasts->passed_change = sched->changes;
}

bool reserve_review(struct sched *sched)
{
    struct forecast_book *book = sched->forecasts;
    uint32_t kept = 0;
    for (uint32_t f = 0; f < book->count; f++)
        if (forecast_stands(sched, &book->of[f]))
            book->of[kept++] = book->of[f];
    const bool has_fallen = kept < book->count;
    book->count = kept;
    if (has_fallen)
        reopen(sched);
    return has_fallen;
}

/* ---- In the way ---- */

static bool shares_node(const struct sched *sched, const struct forecast *forecast,
                        const struct piece_list *pieces)
{
    const struct piece *own = &sched->forecasts->pieces[forecast->first_piece];
    for (uint32_t i = 0; i < forecast->piece_count; i++)
        for (uint32_t p = 0; p < pieces->count; p++)
            if (own[i].node == pieces->pieces[p].node)
                return true;
    return false;
}

bool reserve_is_clear(struct sched *sched, uint32_t slot, const struct piece_list *pieces)
{
    const struct forecast_book *book = sched->forecasts;
    if (book->count == 0)
        return true;
    const time_ns end = forecast_end_after(sched, sched->now, slot);
    reserve_look_ahead(sched, slot);
    for (uint32_t f = 0; f < book->count; f++)
        if (!book->of[f].is_aside && book->of[f].start < end &&
            shares_node(sched, &book->of[f], pieces))
            return false;
    return true;
}

bool reserve_place(struct sched *sched, uint32_t slot)
{
    if (!forecast_fits_at(sched, slot, sched->now, &sched->pieces))
        return false;
    const struct shape *shape = &sched->shapes.shapes[sched->jobs.jobs[slot].ask];
    for (uint32_t p = 0; p < sched->pieces.count; p++) {
        struct space space = shape_space(shape, &sched->pieces.pieces[p], slot);
        ledger_take(sched->ledger, &space);
    }
    return true;
}

/* The first forecast that may hold up the job last looked ahead for begins then. */
static time_ns first_start(const struct sched *sched)
{
    const struct forecast_book *book = sched->forecasts;
    time_ns first = TIME_NEVER;
    for (uint32_t f = 0; f < book->count; f++)
        if (!book->of[f].is_aside && book->of[f].start < first)
            first = book->of[f].start;
    return first;
}

uint32_t reserve_shorter(struct sched *sched, uint32_t lane_id)
{
    const struct pending *pending = &sched->pending;
    const struct lane *lane = &pending->lanes[lane_id];
    const uint32_t head = pending_head(pending, lane_id);
    const time_ns bound = first_start(sched);
    uint32_t best = SLOT_NONE;
    for (uint32_t i = 1; i < lane->count && !pending->is_strict; i++) {
        const uint32_t slot = lane->heap[i].slot;
        if (sched->jobs.jobs[slot].queue == sched->jobs.jobs[head].queue &&
            forecast_end_after(sched, sched->now, slot) <= bound &&
            (best == SLOT_NONE || pending_compare(pending, slot, best) < 0))
            best = slot;
    }
    return best;
}

/* ---- Passes ---- */

/* Somebody waits for space, and something has happened. */
static bool wants_pass(const struct sched *sched)
{
    return sched->pending.job_count > 0 && sched->changes != sched->forecasts->passed_change &&
           sched->shapes.closed_count > 0;
}

bool reserve_is_due(const struct sched *sched)
{
    const time_ns passed_at = sched->forecasts->passed_at;
    return wants_pass(sched) && sched->forecasts->cycle != sched->cycle &&
           (passed_at < 0 || sched->now - passed_at >= sched->policy.backfill_config.interval);
}

time_ns reserve_wake(const struct sched *sched)
{
    const time_ns passed_at = sched->forecasts->passed_at;
    if (!wants_pass(sched))
        return TIME_NEVER;
    return passed_at < 0 ? sched->now
                         : time_after(passed_at, sched->policy.backfill_config.interval);
}

void reserve_begin(struct sched *sched)
{
    struct overtake_scratch *scratch = sched->overtake;
    const struct pending *pending = &sched->pending;
    sched->forecasts->count = sched->forecasts->piece_count = 0;
    sched->forecasts->passed_at = sched->now;
    sched->forecasts->cycle = sched->cycle;
    reopen(sched);
    scratch->lane_count = scratch->reserved = 0;
    MEM_GROW(scratch->waiting, scratch->waiting_capacity, (size_t)pending->busy_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++)
        if (!goes_before_all(sched, pending->lanes[pending->busy[b]].shape))
            scratch->waiting[scratch->lane_count++] = pending->busy[b];
}

/* Its head may go, or lacks nothing but space. */
static bool is_in_contest(const struct sched *sched, uint32_t lane_id)
{
    const struct lane *lane = &sched->pending.lanes[lane_id];
    const uint8_t closed = sched->shapes.shapes[lane->shape].closed;
    return lane->count > 0 && lane->quota_block == QUEUE_NONE &&
           (!sched->pending.is_strict || pending_first(&sched->pending, lane->line) == lane_id) &&
           (closed & (SHAPE_BLOCKED | SHAPE_PROMISED) ||
            !pending_is_closed(&sched->pending, lane_id));
}

uint32_t reserve_next(struct sched *sched)
{
    struct overtake_scratch *scratch = sched->overtake;
    uint32_t kept = 0;
    if (scratch->reserved >= sched->policy.backfill_config.reservations)
        return LANE_NONE;
    for (uint32_t l = 0; l < scratch->lane_count; l++)
        if (is_in_contest(sched, scratch->waiting[l]))
            scratch->waiting[kept++] = scratch->waiting[l];
    scratch->lane_count = kept;
    return contest_best(&sched->tree, &sched->pending, scratch->waiting, kept, &sched->contest);
}

void reserve_for(struct sched *sched, uint32_t lane)
{
    struct overtake_scratch *scratch = sched->overtake;
    for (uint32_t l = 0; l < scratch->lane_count; l++)
        if (scratch->waiting[l] == lane) {
            scratch->waiting[l] = scratch->waiting[--scratch->lane_count];
            break;
        }
    if (!is_in_contest(sched, lane))
        return;
    if (!forecast_is_wanted(sched, pending_head(&sched->pending, lane)))
        return;
    scratch->reserved++;
    add_forecast(sched, pending_head(&sched->pending, lane));
}
