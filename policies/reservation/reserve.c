/* Backfill where queues compete: planned starts for the first heads, and the jobs that may start beside them.
 *
 * A pass tries class queues in the order of the queue selection and starts the heads that fit.  The first heads that
 * lack only space get planned starts, as many as the policy reserves.  After that the queue selection goes on as usual,
 * but a job whose place would delay a planned start is placed beside it, or waits until the next pass or until a
 * planned start is dropped.  Borrowed space counts as free for a job that may reclaim it, once the protection of its
 * holder and the preemption delay of the job are over and the grace has passed.  Unless class queues are strict, a job
 * that ends before the first planned start begins may overtake the head of its class queue.
 * Law: a job within what its queue deserves does not wait for one of another queue that goes beyond.  Inside the queue
 * that goes beyond, the first comes first.  (tests/cases/left_waiting.json.  A tenant's small jobs, each within the
 * quota that its large job exceeded, once kept that from starting for ever.)
 * Departure: only the head of a class queue gets a planned start.  Eviction plans ignore planned starts.  If there are
 * earlier planned starts, the time that is found need not be the earliest possible one.
 * Cost: a pass O(class queues) for each head, O(jobs log jobs) to list the ends, and for each planned start O(running
 * jobs) in the ledger and O(log) placements; between passes O(pieces of the planned starts) for each job that starts.
 */
#include <stdlib.h>

#include "policies/booking/patience.h"
#include "policies/booking/planned_end.h"
#include "policies/booking/start.h"
#include "policies/eviction/eviction.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/candidates.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

/* ---- Ends of running jobs ---- */

/* The time at which the preemptor can have reclaimed the space of the job; TIME_NEVER: it may not. */
static time_ns returns_at(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    time_ns ripe = victims_eligible_at(sched, preemptor, slot);
    if (ripe == TIME_NEVER)
        return TIME_NEVER;
    time_ns patient = time_after(sched->jobs.facts[preemptor].waiting_since, sched_delay(sched, preemptor));
    time_ns at = ripe > patient ? ripe : patient;
    return time_after(at > sched->now ? at : sched->now, sched_grace(sched, slot));
}

static bool may_take_back(struct sched *sched, uint32_t preemptor)
{
    const struct sched_job *job = &sched->jobs.jobs[preemptor];
    return sched->retry_queues[PLAN_RECLAIM].is_used && sched->policy.quota->may_reclaim != NULL &&
           sched->policy.quota->may_reclaim(&sched->tree, job->queue, sched_ask(sched, job)->charge);
}

/* The time at which the preemptor can have the space of the job in `slot`: its planned end, or earlier if the preemptor
 * can reclaim it or the job is a filler that gives way to it. */
static time_ns end_for(struct sched *sched, uint32_t preemptor, uint32_t slot, bool takes_back)
{
    if (fillers_has(sched, slot) && fillers_gives_way(sched, slot, preemptor))
        return planned_end_rounded(sched, sched->now + 1); /* with its grace, others could start in that time */
    const time_ns end = planned_end(sched, slot);
    const time_ns back = takes_back ? returns_at(sched, preemptor, slot) : TIME_NEVER;
    return back < end ? back : end;
}

/* List the ends in order, as they are for this job; its own holdings stay. */
static void list_ends(struct sched *sched, uint32_t preemptor)
{
    struct planned_start_book *book = sched->planned_starts;
    const bool takes_back = may_take_back(sched, preemptor);
    book->end_count = 0;
    MEM_GROW(book->ends, book->end_capacity, sched->jobs.used);
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->holding_count == 0 || slot == preemptor)
            continue;
        const time_ns end = end_for(sched, preemptor, slot, takes_back);
        if (end != TIME_NEVER)
            book->ends[book->end_count++] = (struct running_end){end, slot};
    }
    if (book->end_count > 1)
        qsort(book->ends, book->end_count, sizeof *book->ends, running_end_compare);
}

/* ---- Planned starts ---- */

/* Remove the jobs of the ends [from, to) in the trial.  Does the job fit then? */
static bool fits_after(struct sched *sched, uint32_t slot, uint32_t from, uint32_t to)
{
    for (uint32_t e = from; e < to; e++)
        planned_start_let_go(sched, sched->planned_starts->ends[e].slot);
    return planned_start_fits_at(sched, slot, planned_start_end(sched, to - 1), &sched->pieces);
}

/* The least number of ends after which the job fits, found with steps that double, then halve; 0: it does not fit even
 * after all.  These have then left the ledger, and sched->pieces say where. */
static uint32_t ends_needed(struct sched *sched, uint32_t slot)
{
    const uint32_t count = sched->planned_starts->end_count;
    uint32_t low = 0, high = 0; /* it does not fit after `low`, but after `high`; 0: not known yet */
    for (uint32_t step = 8; low < count && low + 1 != high; step *= 2) {
        const uint32_t next = high > 0 ? low + (high - low) / 2 : count - low < step ? count : low + step;
        const size_t mark = ledger_mark(sched->ledger);
        if (fits_after(sched, slot, low, next)) {
            ledger_rollback(sched->ledger, mark);
            high = next;
        } else {
            ledger_commit(sched->ledger, mark);
            low = next;
        }
    }
    return high > 0 && fits_after(sched, slot, low, high) ? high : 0;
}

static void add_planned_start(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    list_ends(sched, slot);
    planned_start_ignore_harmless(sched, slot);
    size_t mark = ledger_mark(sched->ledger);
    const uint32_t needed = ends_needed(sched, slot);
    ledger_rollback(sched->ledger, mark);
    if (needed > 0) {
        struct planned_start *own =
            planned_start_append(sched, slot, PLANNED_START_MANY, planned_start_end(sched, needed - 1));
        own->owed_by = sched_owed_by(sched, slot);
    }
    book->end_count = 0; /* the ends are valid now only, and for this job */
}

/* Open the request classes that planned starts closed. */
static void reopen(struct sched *sched)
{
    for (uint32_t id = request_class_next_closed(&sched->request_classes, 0); id < sched->request_classes.count;
         id = request_class_next_closed(&sched->request_classes, id + 1)) {
        const uint8_t closed = sched->request_classes.at[id].closed;
        if (closed & REQUEST_CLASS_PROMISED)
            request_class_close(&sched->request_classes, id, closed & (uint8_t)~REQUEST_CLASS_PROMISED);
    }
}

bool reserve_review(struct sched *sched)
{
    const bool has_fallen = sched->planned_starts->count > 0 && planned_start_keep_standing(sched);
    if (has_fallen)
        reopen(sched);
    else if (sched->planned_starts->cycle == sched->cycle)
        sched->planned_starts->passed_change = sched->changes;
    return has_fallen;
}

/* ---- Conflicts with planned starts ---- */

bool reserve_is_clear(struct sched *sched, uint32_t slot, const struct piece_list *pieces)
{
    const struct planned_start_book *book = sched->planned_starts;
    if (book->count == 0)
        return true;
    const time_ns end = planned_end_after(sched, sched->now, slot);
    planned_start_ignore_harmless(sched, slot);
    for (uint32_t f = 0; f < book->count; f++)
        if (!book->of[f].is_ignored && book->of[f].start < end &&
            planned_start_shares_node(sched, &book->of[f], pieces))
            return false;
    return true;
}

bool reserve_place(struct sched *sched, uint32_t slot)
{
    const bool fits = planned_start_fits_now(sched, slot, NULL, &sched->pieces);
    if (fits)
        sched_take(sched, slot);
    return fits;
}

/* The earliest of the planned starts that are not ignored (planned_start_ignore_harmless); TIME_NEVER: none. */
static time_ns first_start(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    time_ns first = TIME_NEVER;
    for (uint32_t f = 0; f < book->count; f++)
        if (!book->of[f].is_ignored && book->of[f].start < first)
            first = book->of[f].start;
    return first;
}

uint32_t reserve_shorter(struct sched *sched, uint32_t class_queue_id)
{
    const struct pending *pending = &sched->pending;
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    const uint32_t head = pending_head(pending, class_queue_id);
    const time_ns bound = first_start(sched);
    uint32_t best = SLOT_NONE;
    for (uint32_t i = 1; i < class_queue->count && !pending->is_strict; i++) {
        const uint32_t slot = class_queue->heap[i].slot;
        if (sched->jobs.jobs[slot].queue == sched->jobs.jobs[head].queue &&
            planned_end_after(sched, sched->now, slot) <= bound &&
            (best == SLOT_NONE || pending_compare(pending, slot, best) < 0))
            best = slot;
    }
    return best;
}

/* ---- Passes ---- */

void reserve_begin(struct sched *sched)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const struct pending *pending = &sched->pending;
    planned_start_forget_all(sched);
    sched->planned_starts->passed_at = sched->now;
    sched->planned_starts->cycle = sched->cycle;
    reopen(sched);
    scratch->class_queue_count = scratch->reserved = 0;
    MEM_GROW(scratch->waiting, scratch->waiting_capacity, (size_t)pending->busy_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++)
        if (!planned_start_exempts(sched, pending->class_queues[pending->busy[b]].request_class))
            scratch->waiting[scratch->class_queue_count++] = pending->busy[b];
}

/* Its head may start, or lacks only space. */
static bool is_in_selection(const struct sched *sched, uint32_t class_queue_id)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const uint8_t closed = sched->request_classes.at[class_queue->request_class].closed;
    return class_queue->count > 0 && class_queue->quota_block == QUEUE_NONE &&
           (!sched->pending.is_strict || pending_first(&sched->pending, class_queue->leaf_queue) == class_queue_id) &&
           (closed & (REQUEST_CLASS_BLOCKED | REQUEST_CLASS_PROMISED) ||
            !pending_is_closed(&sched->pending, class_queue_id));
}

uint32_t reserve_next(struct sched *sched)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    uint32_t kept = 0;
    if (scratch->reserved >= sched->policy.backfill_config.reservations)
        return CLASS_QUEUE_NONE;
    for (uint32_t l = 0; l < scratch->class_queue_count; l++)
        if (is_in_selection(sched, scratch->waiting[l]))
            scratch->waiting[kept++] = scratch->waiting[l];
    scratch->class_queue_count = kept;
    return queue_selection_best(&sched->tree, &sched->pending, scratch->waiting, kept, &sched->queue_selection);
}

void reserve_for(struct sched *sched, uint32_t class_queue)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    for (uint32_t l = 0; l < scratch->class_queue_count; l++)
        if (scratch->waiting[l] == class_queue) {
            scratch->waiting[l] = scratch->waiting[--scratch->class_queue_count];
            break;
        }
    if (!is_in_selection(sched, class_queue))
        return;
    if (!planned_start_is_wanted(sched, pending_head(&sched->pending, class_queue)))
        return;
    scratch->reserved++;
    add_planned_start(sched, pending_head(&sched->pending, class_queue));
}
