/* Fillers: which jobs may fill a gap, whether that is worth it, and how they give way. */
#include "policies/reservation/fillers.h"
#include "policies/booking/booking.h"
#include "policies/booking/planned_end.h"
#include "policies/booking/start.h"
#include "policies/eviction/eviction.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/candidates.h"
#include "policies/state/headroom.h"
#include "policies/state/request_classes.h"

/* ---- In plans ---- */

bool fillers_show(struct sched *sched, uint32_t waiting)
{
    const struct filler_book *fillers = &sched->planned_starts->fillers;
    bool is_any = false;
    for (uint32_t i = 0; i < fillers->count; i++) {
        const uint32_t slot = fillers->of[i].slot;
        if (!fillers_has(sched, slot) || fillers_gives_way(sched, slot, waiting))
            continue;
        planned_start_move_end(sched, slot, planned_end(sched, slot));
        is_any = true;
    }
    return is_any;
}

void fillers_hide(struct sched *sched)
{
    const struct filler_book *fillers = &sched->planned_starts->fillers;
    for (uint32_t i = 0; i < fillers->count; i++)
        if (fillers_has(sched, fillers->of[i].slot))
            planned_start_move_end(sched, fillers->of[i].slot, planned_start_end_of(sched, fillers->of[i].slot));
}

/* ---- Into a gap ---- */

/* With the job charged too, may the queue of the planned start still have what it asks? */
static bool leaves_limits(struct sched *sched, uint32_t slot, uint32_t planned)
{
    const struct sched_job *job = &sched->jobs.jobs[slot], *other = &sched->jobs.jobs[planned];
    const size_t mark = ledger_mark(sched->ledger);
    ledger_charge(sched->ledger, job->queue, sched_ask(sched, job)->charge);
    const bool may = queue_tree_forbids(&sched->tree, other->queue, sched_ask(sched, other)->charge) == QUEUE_NONE;
    ledger_rollback(sched->ledger, mark);
    return may;
}

/* Ignore the planned starts to which the job would give way.  False: there is none. */
static bool yield_all(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    bool is_any = false;
    if (sched->reserves)
        planned_start_ignore_harmless(sched, slot);
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start *own = &book->of[f];
        own->is_yielded = own->job != JOB_NONE && !own->is_ignored && eviction_is_ever(sched, own->slot, slot) &&
                          leaves_limits(sched, slot, own->slot);
        own->is_ignored |= own->is_yielded;
        is_any |= own->is_yielded;
    }
    return is_any;
}

/* As before yield_all, and as the callers of planned_start_ignore_harmless expect it. */
static void yield_none(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++)
        book->of[f].is_ignored = book->of[f].is_yielded = false;
    if (sched->reserves)
        planned_start_ignore_harmless(sched, slot);
}

/* Can the job save its work when it is evicted? */
static bool saves(const struct sched *sched, uint32_t slot)
{
    const time_ns grace = sched_grace(sched, slot);
    return grace > 0 && sched->jobs.facts[slot].checkpoint.duration <= grace;
}

/* How long it takes to leave when it is evicted, at most. */
static time_ns leaves_in(const struct sched *sched, uint32_t slot)
{
    return saves(sched, slot) ? sched->jobs.facts[slot].checkpoint.duration : sched_grace(sched, slot);
}

/* The part of a run of this length that is not lost when the job is evicted at its end. */
static time_ns kept_of(const struct sched *sched, uint32_t slot, time_ns run)
{
    const time_ns interval = sched->jobs.facts[slot].checkpoint.interval;
    return saves(sched, slot) ? run : interval > 0 ? run / interval * interval : 0;
}

/* Law 3, on these pieces. */
static bool is_worth_it(struct sched *sched, uint32_t slot, const struct piece_list *pieces)
{
    const struct planned_start_book *book = sched->planned_starts;
    const time_ns end = planned_end_after(sched, sched->now, slot);
    time_ns first = TIME_NEVER, protects = 0;
    int64_t waiting_milli = 0;
    for (uint32_t f = 0; f < book->count; f++) {
        const struct planned_start *own = &book->of[f];
        if (!own->is_yielded || own->start >= end || !planned_start_shares_node(sched, own, pieces))
            continue;
        const time_ns its = eviction_protects_for(sched, own->slot, slot);
        protects = its > protects ? its : protects;
        first = own->start < first ? own->start : first;
        waiting_milli += sched->request_classes.at[own->ask].charge[QUEUE_SUM_GPU];
    }
    const time_ns gap = first - sched->now;
    if (first == TIME_NEVER || gap < protects)
        return false;
    const time_ns useful = kept_of(sched, slot, gap) - sched->jobs.facts[slot].checkpoint.restart;
    const int64_t own_milli = sched_ask(sched, &sched->jobs.jobs[slot])->charge[QUEUE_SUM_GPU];
    return useful > 0 && (__int128)own_milli * useful > (__int128)waiting_milli * leaves_in(sched, slot);
}

bool fillers_place(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (!sched->policy.backfill_config.fills_gaps || sched->planned_starts->count == 0 || job->holding_count > 0 ||
        !sched_ask(sched, job)->is_preemptible)
        return false;
    const bool fits = yield_all(sched, slot) && planned_start_fits_at(sched, slot, sched->now, &sched->pieces) &&
                      is_worth_it(sched, slot, &sched->pieces);
    yield_none(sched, slot);
    return fits;
}

/* ---- Out of it ---- */

/* In a trial: the filler has left, and its queue is not charged for it any more. */
static void let_go(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++)
        sched_add_charge(sched, slot, &sched_job_holding(job, i)->piece, -1, amounts);
    ledger_charge(sched->ledger, job->queue, amounts);
    planned_start_let_go(sched, slot);
}

/* Could the job start now with the fillers gone that are marked as leaving?  Then sched->pieces say where. */
static bool could_start(struct sched *sched, uint32_t slot)
{
    const struct filler_book *fillers = &sched->planned_starts->fillers;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const size_t mark = ledger_mark(sched->ledger);
    for (uint32_t i = 0; i < fillers->count; i++)
        if (fillers->of[i].is_leaving)
            let_go(sched, fillers->of[i].slot);
    bool may = queue_tree_forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge) == QUEUE_NONE;
    const struct free_space before = headroom_free(sched);
    may = may && planned_start_fits_at(sched, slot, sched->now, &sched->pieces);
    if (may && headroom_is_kept(sched) && !headroom_is_for(sched, slot)) {
        sched_take(sched, slot);
        may = headroom_spares(sched, slot, before) == 0;
    }
    ledger_rollback(sched->ledger, mark);
    return may;
}

/* Evictions and starts under way come first. */
static bool is_steady(const struct sched_job *job)
{
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase != HOLDING_RUNNING)
            return false;
    return job->holding_count > 0;
}

/* Mark as leaving all fillers that can give way to the job now.  False: there is none. */
static bool leave_all(struct sched *sched, uint32_t slot)
{
    struct filler_book *fillers = &sched->planned_starts->fillers;
    bool is_any = false;
    for (uint32_t i = 0; i < fillers->count; i++) {
        struct filler *own = &fillers->of[i];
        own->is_leaving = fillers_has(sched, own->slot) && is_steady(&sched->jobs.jobs[own->slot]) &&
                          fillers_gives_way(sched, own->slot, slot);
        is_any |= own->is_leaving;
    }
    return is_any;
}

/* Fillers without which the job still could start stay, the oldest first.  Returns how many leave. */
static uint32_t keep_spare(struct sched *sched, uint32_t slot)
{
    struct filler_book *fillers = &sched->planned_starts->fillers;
    uint32_t leaving = 0;
    for (uint32_t i = 0; i < fillers->count; i++) {
        struct filler *own = &fillers->of[i];
        if (!own->is_leaving)
            continue;
        own->is_leaving = false;
        own->is_leaving = !could_start(sched, slot);
        leaving += own->is_leaving;
    }
    return leaving > 0 && could_start(sched, slot) ? leaving : 0;
}

/* Evict the fillers that leave; the job claims sched->pieces. */
static void give_way(struct sched *sched, uint32_t slot)
{
    struct filler_book *fillers = &sched->planned_starts->fillers;
    const struct piece_list pieces = sched->pieces; /* bookings may use that list */
    sched->pieces = fillers->pieces;
    fillers->pieces = pieces;
    enum source source = SOURCE_GRACE_0;
    time_ns grace = 0;
    for (uint32_t i = 0; i < fillers->count; i++) {
        const uint32_t filler = fillers->of[i].slot;
        if (!fillers->of[i].is_leaving)
            continue;
        const time_ns its = sched_grace(sched, filler);
        const enum source own = eviction_take(sched, filler, slot, REASON_GAP);
        grace = its > grace ? its : grace;
        source = own > source ? own : source;
    }
    planned_start_postpone(sched, slot, grace);
    sched_claim(sched, slot, &fillers->pieces, source);
}

/* Try the job of that planned start.  It leaves to the planned starts before it what they need. */
static bool try_to_land(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    const uint32_t slot = book->of[index].slot;
    if (!planned_start_waits(sched, &book->of[index]) || !leave_all(sched, slot))
        return false;
    if (sched->reserves)
        planned_start_ignore_harmless(sched, slot);
    else
        for (uint32_t f = index; f < book->count; f++)
            book->of[f].is_ignored = true;
    const bool lands = could_start(sched, slot) && keep_spare(sched, slot) > 0;
    for (uint32_t f = 0; f < book->count; f++)
        book->of[f].is_ignored = false;
    if (lands)
        give_way(sched, slot);
    return lands;
}

bool fillers_land(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    bool is_any = false;
    if (book->fillers.count == 0 || book->fillers.landed_change == sched->changes)
        return false;
    for (uint32_t f = 0; f < book->count; f++)
        is_any |= try_to_land(sched, f);
    book->fillers.landed_change = sched->changes;
    return is_any;
}

bool sched_fills_gap(struct sched *sched, job_id job, job_id *to, time_ns *start)
{
    const struct planned_start_book *book = sched->planned_starts;
    const uint32_t slot = job_table_find(&sched->jobs, job);
    *to = JOB_NONE;
    *start = TIME_NEVER;
    if (slot == SLOT_NONE || !fillers_has(sched, slot))
        return false;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].start < *start && planned_start_waits(sched, &book->of[f]) &&
            fillers_gives_way(sched, slot, book->of[f].slot)) {
            *to = book->of[f].job;
            *start = book->of[f].start;
        }
    return true;
}
