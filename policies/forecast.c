/* When, and on which GPUs, a waiting job will start by what is known now.
 *
 * What runs ends when its limit says (its estimate where it has no limit; never where it has neither), what has outlived
 * that in the next instant, what is on its way out when its grace is over.  A forecast is found by letting all that ends
 * leave the ledger, in a trial, in the order of their ends, until the job fits besides what earlier forecasts need while
 * it runs; it names the pieces.  In the way of somebody who ends after a forecast begins stands the part of its space that
 * is free now and will not be made up by what leaves before.
 * Departure: of two forecasts that use the same CPUs or memory of a node one after the other both are counted.
 * Cost: O(running jobs) to list the ends, in order; a placement for each of them at worst for a forecast. */
#include <assert.h>
#include <stdlib.h>

#include "policies/sched_state.h"

static time_ns later(time_ns at, time_ns span)
{
    return span >= TIME_NEVER - at ? TIME_NEVER : at + span;
}

time_ns forecast_length(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    return facts->limit != TIME_NEVER ? facts->limit
           : facts->estimate > 0      ? facts->estimate
                                      : TIME_NEVER;
}

/* When all that the job holds has left. */
static time_ns end_of(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    time_ns end = job->state == SJOB_EVICTING ? later(sched->now, sched->policy.preempt.grace)
                                              : later(job->decided, forecast_length(sched, slot));
    return end > sched->now ? end : sched->now + 1;
}

static int compare_ends(const void *a, const void *b)
{
    const struct planned_end *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

void forecast_begin(struct sched *sched)
{
    struct forecast_book *book = &sched->forecasts;
    book->count = book->end_count = book->piece_count = 0;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->holding_count == 0)
            continue;
        MEM_GROW(book->ends, book->end_capacity, (size_t)book->end_count + 1);
        book->ends[book->end_count++] = (struct planned_end){end_of(sched, slot), slot};
    }
    qsort(book->ends, book->end_count, sizeof *book->ends, compare_ends);
}

/* All that the job holds leaves the ledger, in the trial. */
static void let_go(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t h = 0; h < job->holding_count; h++) {
        uint8_t phase = sched_job_holding(job, h)->phase;
        sched_move(sched, slot, h,
                   phase == HOLDING_LEAVING   ? ledger_arrive
                   : phase == HOLDING_CLAIMED ? ledger_unclaim
                                              : ledger_give);
    }
}

/* What leaves the piece's node, or its GPU, after `from` and up to `until`. */
static struct space leaving_from(const struct sched *sched, const struct space *where, time_ns from,
                                 time_ns until)
{
    const struct forecast_book *book = &sched->forecasts;
    uint32_t milli = 0, cpu = 0, memory = 0;
    for (uint32_t e = 0; e < book->end_count && book->ends[e].end <= until; e++) {
        const struct sched_job *job = &sched->jobs.jobs[book->ends[e].slot];
        for (uint32_t h = 0; h < job->holding_count && book->ends[e].end > from; h++) {
            struct space space =
                placement_space(&sched->shapes.shapes[job->shape],
                                &sched_job_holding(job, h)->piece, book->ends[e].slot);
            if (space.node != where->node)
                continue;
            milli += (space.gpu_mask & where->gpu_mask) != 0 ? space.gpu_milli : 0;
            cpu += space.cpu_milli;
            memory += space.memory_mib;
        }
    }
    return (struct space){.gpu_milli = milli > GPU_MILLI ? GPU_MILLI : (uint16_t)milli,
                          .cpu_milli = cpu,
                          .memory_mib = memory};
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t without(uint32_t needed, uint32_t comes)
{
    return needed > comes ? needed - comes : 0;
}

/* The part of the space that must stay free at `from` so that all of it is there at `start`. */
static struct space kept_part(const struct sched *sched, struct space space, time_ns from,
                              time_ns start)
{
    const struct ledger *ledger = sched->ledger;
    const struct node_cell *cell = &ledger->nodes[space.node];
    const bool is_share = space.gpu_mask != 0 && space.gpu_milli != GPU_MILLI;
    struct space comes = {0};
    if (is_share || space.cpu_milli != 0 || space.memory_mib != 0)
        comes = leaving_from(sched, &space, from, start);
    if (is_share) {
        gpu_id gpu =
            sched->cluster->nodes[space.node].first_gpu + (gpu_id)__builtin_ctz(space.gpu_mask);
        space.gpu_milli =
            (uint16_t)least(without(space.gpu_milli, comes.gpu_milli), ledger->gpus[gpu].free);
        space.gpu_mask = space.gpu_milli == 0 ? 0 : space.gpu_mask;
    } else {
        space.gpu_mask &= ledger->index->free_mask[space.node];
    }
    space.cpu_milli = least(without(space.cpu_milli, comes.cpu_milli), cell->cpu_free);
    space.memory_mib = least(without(space.memory_mib, comes.memory_mib), cell->memory_free);
    space.member_count = 0;
    return space;
}

/* Keep what forecasts need, that begin before `until` and end after `from`. */
static void keep_for_forecasts(struct sched *sched, time_ns from, time_ns until)
{
    const struct forecast_book *book = &sched->forecasts;
    for (uint32_t f = 0; f < book->count; f++) {
        const struct forecast *forecast = &book->of[f];
        if (forecast->start >= until || forecast->end <= from)
            continue;
        const struct shape *shape = &sched->shapes.shapes[sched->jobs.jobs[forecast->slot].ask];
        for (uint32_t p = 0; p < forecast->piece_count; p++) {
            struct space space = kept_part(
                sched,
                placement_space(shape, &book->pieces[forecast->first_piece + p], forecast->slot),
                from, forecast->start);
            if (space.gpu_mask != 0 || space.cpu_milli != 0 || space.memory_mib != 0)
                ledger_take(sched->ledger, &space);
        }
    }
}

/* Does the job fit at that time, with the ledger as it is then, and stay for its length?  The ledger is as before. */
static bool fits_at(struct sched *sched, uint32_t slot, time_ns at, struct piece_list *pieces)
{
    size_t mark = ledger_mark(sched->ledger);
    keep_for_forecasts(sched, at, later(at, forecast_length(sched, slot)));
    bool fits = placement_may_fit(sched->ledger, sched_ask(sched, &sched->jobs.jobs[slot])) &&
                sched_place(sched, slot, pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

bool forecast_fits_now(struct sched *sched, uint32_t slot, struct piece_list *pieces)
{
    return fits_at(sched, slot, sched->now, pieces);
}

static void add_forecast(struct sched *sched, uint32_t slot, time_ns start)
{
    struct forecast_book *book = &sched->forecasts;
    MEM_GROW(book->of, book->capacity, (size_t)book->count + 1);
    MEM_GROW(book->pieces, book->piece_capacity, (size_t)book->piece_count + sched->pieces.count);
    book->of[book->count++] = (struct forecast){.slot = slot,
                                                .start = start,
                                                .end = later(start, forecast_length(sched, slot)),
                                                .first_piece = book->piece_count,
                                                .piece_count = sched->pieces.count};
    for (uint32_t p = 0; p < sched->pieces.count; p++)
        book->pieces[book->piece_count++] = sched->pieces.pieces[p];
}

/* The first time after `at` when something that is known of leaves; TIME_NEVER. */
static time_ns next_end(const struct forecast_book *book, uint32_t first, time_ns at)
{
    time_ns next = first < book->end_count ? book->ends[first].end : TIME_NEVER;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].end > at && book->of[f].end < next)
            next = book->of[f].end;
    return next;
}

bool forecast_find(struct sched *sched, uint32_t slot)
{
    struct forecast_book *book = &sched->forecasts;
    const size_t mark = ledger_mark(sched->ledger);
    bool is_found = false;
    uint32_t e = 0;
    for (time_ns at = next_end(book, 0, sched->now); at != TIME_NEVER && !is_found;
         at = next_end(book, e, at)) {
        for (; e < book->end_count && book->ends[e].end <= at; e++)
            let_go(sched, book->ends[e].slot);
        is_found = fits_at(sched, slot, at, &sched->pieces);
        if (is_found)
            add_forecast(sched, slot, at);
    }
    ledger_rollback(sched->ledger, mark);
    return is_found;
}

void forecast_release(struct sched *sched)
{
    mem_free(sched->forecasts.of);
    mem_free(sched->forecasts.pieces);
    mem_free(sched->forecasts.ends);
}
