/* The backfill pass for policies with one queue (policies/backfill/): which jobs may overtake.
 *
 * The pass takes the waiting jobs in the order of the chain.  Up to `reservations` jobs that do not fit get a planned
 * start; the others start if they fit now beside all planned starts.  If a job that should get a planned start cannot,
 * because some job has no planned end, the pass ends and the jobs behind it do not overtake.
 * Class queues are kept sorted (pending_keep_sorted), and the pass merges them as far as it looks.
 * Cost: O(class queues + n log(class queues)) for the n jobs that are looked at, and a placement for each that could
 * fit.  Jobs that are refused by their length alone cost a read of an array each (pass_by_refused). */
#include <stdlib.h>

#include "policies/booking/planned_end.h"
#include "policies/booking/start.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

/* ---- The waiting jobs in the order of the chain ----------------------------------------------------- */

static uint32_t job_at(const struct pending *pending, const struct class_queue_cursor *cursor)
{
    return pending->class_queues[cursor->class_queue].heap[cursor->at].slot;
}

static bool is_at_end(const struct pending *pending, const struct class_queue_cursor *cursor)
{
    return cursor->at >= cursor->bound || cursor->at >= pending->class_queues[cursor->class_queue].count;
}

/* The least length of the jobs with this request that did not fit earlier in this pass.  Since then space only shrank,
 * so longer ones do not fit either.  UINT64_MAX: each of them fitted. */
static uint64_t refused_from(const struct sched *sched, uint32_t ask)
{
    const struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    return ask < scratch->refused_count ? scratch->refused_from[ask] : UINT64_MAX;
}

/* Move the cursor at that index of the heap down to its place. */
static void sink(struct sched *sched, uint32_t index)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const struct pending *pending = &sched->pending;
    const struct class_queue_cursor own = scratch->cursors[index];
    const uint32_t slot = job_at(pending, &own);
    for (uint32_t child = 2 * index + 1; child < scratch->cursor_count; child = 2 * index + 1) {
        uint32_t first = job_at(pending, &scratch->cursors[child]);
        if (child + 1 < scratch->cursor_count &&
            pending_compare(pending, job_at(pending, &scratch->cursors[child + 1]), first) < 0)
            first = job_at(pending, &scratch->cursors[++child]);
        if (pending_compare(pending, slot, first) < 0)
            break;
        scratch->cursors[index] = scratch->cursors[child];
        index = child;
    }
    scratch->cursors[index] = own;
}

static void order_cursors(struct sched *sched)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    uint32_t kept = 0;
    for (uint32_t c = 0; c < scratch->cursor_count; c++)
        if (!is_at_end(&sched->pending, &scratch->cursors[c]))
            scratch->cursors[kept++] = scratch->cursors[c];
    scratch->cursor_count = kept;
    for (uint32_t c = kept / 2; c-- > 0;)
        sink(sched, c);
}

/* Begin with the head of each class queue.  Only the head of a closed class queue can get a planned start if
 * `reservations` is 1: then the jobs behind it are left out.  O(class queues). */
static void open_cursors(struct sched *sched)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const struct pending *pending = &sched->pending;
    const bool heads_do = sched->policy.backfill_config.reservations == 1;
    MEM_GROW(scratch->cursors, scratch->cursor_capacity, (size_t)pending->busy_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++)
        scratch->cursors[b] = (struct class_queue_cursor){
            pending->busy[b], 0, heads_do && pending_is_closed(pending, pending->busy[b]) ? 1 : UINT32_MAX};
    scratch->cursor_count = pending->busy_count;
    scratch->again_count = 0;
    order_cursors(sched);
}

/* The next job; SLOT_NONE: there is none. */
static uint32_t next_waiting(const struct sched *sched)
{
    const struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    return scratch->cursor_count > 0 ? job_at(&sched->pending, &scratch->cursors[0]) : SLOT_NONE;
}

/* From now on in this pass, can a job that does not start be passed by without another trial?  Yes, if no more planned
 * starts are wanted and no count of jobs bounds the pass. */
static bool needs_no_look(const struct sched *sched)
{
    const struct backfill_config *config = &sched->policy.backfill_config;
    return sched->planned_starts->count >= config->reservations && config->depth == BACKFILL_ALL &&
           config->per_user == 0;
}

/* Move the cursor past jobs that are refused by the lengths noted in the class queue.  The passes of a deep queue spend
 * their time here: it reads an array, where a look at each job would read four tables. */
static void pass_by_refused(const struct sched *sched, struct class_queue_cursor *cursor)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[cursor->class_queue];
    const uint64_t from = refused_from(sched, class_queue->request_class);
    const uint64_t seconds = from / TIME_NS_PER_S + (from % TIME_NS_PER_S > 0);
    const uint32_t end = cursor->bound < class_queue->count ? cursor->bound : class_queue->count;
    uint32_t at = cursor->at;
    while (at < end && class_queue->heap[at].seconds >= seconds)
        at++;
    cursor->at = at;
}

/* Go on behind that job, the next one, which still waits there or has started; is_last: the pass does not look at the
 * jobs behind it in its class queue. */
static void pass_by(struct sched *sched, uint32_t slot, bool is_last)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    struct class_queue_cursor *cursor = &scratch->cursors[0];
    const struct class_queue *class_queue = &sched->pending.class_queues[cursor->class_queue];
    if (cursor->at < class_queue->count && class_queue->heap[cursor->at].slot == slot)
        cursor->at++;
    else
        cursor->bound--; /* it left */
    if (is_last)
        cursor->bound = 0;
    else if (needs_no_look(sched) && !sched->policy.backfill_config.keeps && !sched->policy.backfill_config.fills_gaps)
        pass_by_refused(sched, cursor);
    if (is_at_end(&sched->pending, cursor))
        scratch->cursors[0] = scratch->cursors[--scratch->cursor_count];
    if (scratch->cursor_count > 0)
        sink(sched, 0);
}

/* The job has started.  If it waits for another member, this pass looks at it no more. */
static void pass_by_started(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const uint32_t class_queue = sched->jobs.jobs[slot].class_queue;
    if (class_queue == CLASS_QUEUE_NONE) {
        pass_by(sched, slot, false);
        return;
    }
    MEM_GROW(scratch->again, scratch->again_capacity, (size_t)scratch->again_count + 1);
    scratch->again[scratch->again_count++] = slot;
    scratch->cursors[0].bound--; /* of its old class queue, which it left */
    const uint32_t at = pending_index(&sched->pending, class_queue, slot);
    for (uint32_t c = 0; c < scratch->cursor_count; c++)
        if (scratch->cursors[c].class_queue == class_queue && at <= scratch->cursors[c].at)
            scratch->cursors[c].at++;
    order_cursors(sched);
}

static bool has_started(const struct overtake_scratch *scratch, uint32_t slot)
{
    for (uint32_t i = 0; i < scratch->again_count; i++)
        if (scratch->again[i] == slot)
            return true;
    return false;
}

/* ---- What this pass knows already ------------------------------------------------------------------- */

/* Note the length of the next job, for pass_by_refused in this pass and in later ones. */
static void note_length(struct sched *sched, uint32_t slot)
{
    const struct class_queue_cursor *cursor = &sched->planned_starts->overtake.cursors[0];
    if (sched->pending.class_queues[cursor->class_queue].heap[cursor->at].seconds > 0)
        return;
    const time_ns seconds = planned_length(sched, slot) / TIME_NS_PER_S;
    pending_note_length(&sched->pending, cursor->class_queue, cursor->at,
                        seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX);
}

static bool is_refused(const struct sched *sched, uint32_t slot)
{
    return refused_from(sched, sched->jobs.jobs[slot].ask) <= (uint64_t)planned_length(sched, slot);
}

static void note_refused(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const uint32_t ask = sched->jobs.jobs[slot].ask;
    const uint64_t length = (uint64_t)planned_length(sched, slot);
    MEM_GROW(scratch->refused_from, scratch->refused_capacity, (size_t)ask + 1);
    while (scratch->refused_count <= ask)
        scratch->refused_from[scratch->refused_count++] = UINT64_MAX;
    if (length < scratch->refused_from[ask])
        scratch->refused_from[ask] = length;
}

/* Is its request class closed to the job?  Space that is kept for owners is open to a job in quota. */
static bool is_shut(const struct sched *sched, uint32_t slot)
{
    const uint8_t closed = sched->request_classes.at[sched->jobs.jobs[slot].ask].closed;
    return closed != 0 && (closed != REQUEST_CLASS_SPARES_OWNERS || !sched_is_entitled(sched, slot));
}

/* Can the job start now without delaying a planned start?  Then sched->pieces say where. */
static bool fits_beside_planned_starts(struct sched *sched, uint32_t slot, const struct node_marks *only)
{
    if (is_shut(sched, slot) || (!sched->policy.backfill_config.keeps && is_refused(sched, slot)))
        return false;
    if (planned_start_fits_now(sched, slot, only, &sched->pieces))
        return true;
    note_refused(sched, slot);
    if (!planned_start_is_all(sched, slot))
        waits_close_request_class(sched, sched->jobs.jobs[slot].ask, REQUEST_CLASS_BLOCKED);
    return false;
}

/* Does a limit forbid the job?  Then it forbids all of its class queue, which is closed and passed. */
static bool is_limited(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const queue_id by = queue_tree_limit_forbids(&sched->tree, job->queue, sched->request_classes.at[job->ask].charge);
    if (by == QUEUE_NONE)
        return false;
    pending_block(&sched->pending, job->class_queue, by);
    queue_tree_close(&sched->tree, by);
    return true;
}

static bool is_forbidden(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return queue_tree_forbids(&sched->tree, job->queue, sched->request_classes.at[job->ask].charge) != QUEUE_NONE;
}

/* Start it if no limit forbids it and it fits now beside all planned starts. */
static bool start_beside(struct sched *sched, uint32_t slot, const struct node_marks *only)
{
    if (is_forbidden(sched, slot) || !fits_beside_planned_starts(sched, slot, only))
        return false;
    sched_start(sched, slot, SOURCE_FREE);
    planned_start_started(sched, slot);
    return true;
}

enum { SPARES = REQUEST_CLASS_SPARES_NODES | REQUEST_CLASS_SPARES_OWNERS | REQUEST_CLASS_SPARES_INFERENCE };

/* Planned ends have moved in this pass. */
static void redraw(struct sched *sched)
{
    sched->planned_starts->is_approximate = true;
    planned_start_sharpen(sched);
}

/* planned_start_find.  The profile does not know the headroom: what that keeps from the job is not free before the next
 * planned end. */
static bool find_from(struct sched *sched, uint32_t slot, time_ns from, time_ns latest, const struct node_marks *only)
{
    const struct planned_start_book *book = sched->planned_starts;
    const time_ns next_end = book->end_count > 0 ? book->ends[0].end : TIME_NEVER;
    if (from < next_end && sched_ask(sched, &sched->jobs.jobs[slot])->closed & SPARES && is_shut(sched, slot))
        from = next_end;
    if (from > latest || from == TIME_NEVER)
        return false;
    const bool shows = fillers_show(sched, slot);
    if (shows)
        redraw(sched);
    const bool is_found = planned_start_find(sched, slot, from, latest, only);
    if (shows) {
        fillers_hide(sched);
        redraw(sched);
    }
    return is_found;
}

/* Start it in a gap that planned starts leave. */
static bool fill_gap(struct sched *sched, uint32_t slot)
{
    if (is_shut(sched, slot) || !fillers_place(sched, slot))
        return false;
    fillers_add(sched, slot);
    sched_start(sched, slot, SOURCE_GAP);
    planned_start_started(sched, slot);
    return true;
}

/* ---- Promises --------------------------------------------------------------------------------------- */

/* A promise that is due: start the job on its promised GPUs, else anywhere, else give it a later promise or none.  A
 * job beyond the limit of its queue loses its promise, since other jobs of the queue decide when it may start. */
static void keep_due_promise(struct sched *sched, uint32_t index)
{
    const uint32_t slot = sched->planned_starts->of[index].slot;
    planned_start_lift(sched, index);
    if (is_forbidden(sched, slot)) {
        sched->planned_starts->promises[slot].start = 0;
        planned_start_drop(sched, index);
    } else if (planned_start_is_there(sched, index)) {
        planned_start_fulfil(sched, index);
        sched_start(sched, slot, SOURCE_FREE);
        planned_start_started(sched, slot);
    } else if (start_beside(sched, slot, NULL) || !find_from(sched, slot, 0, TIME_NEVER, NULL)) {
        planned_start_drop(sched, index);
    } else {
        planned_start_replace(sched, index);
    }
}

/* Space was freed early: start the job there now, or give it an earlier promise there, or leave the promise as it is.
 */
static void move_promise_up(struct sched *sched, uint32_t index)
{
    const struct planned_start promise = sched->planned_starts->of[index];
    const struct node_marks *freed = &sched->planned_starts->freed;
    if (!planned_start_may_move_up(sched, index))
        return;
    if (!planned_start_may_fit_earlier(sched, index)) {
        fits_beside_planned_starts(sched, promise.slot, freed); /* it does not; this notes why */
        return;
    }
    planned_start_lift(sched, index);
    if (start_beside(sched, promise.slot, freed))
        planned_start_drop(sched, index);
    else if (find_from(sched, promise.slot, 0, promise.start - 1, freed))
        planned_start_replace(sched, index);
    else
        planned_start_put_back(sched, index);
}

/* Take promises in the order of their starts.  Promises made in this pass come after the first `count`. */
static void keep_promises(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    const uint32_t count = book->count;
    for (uint32_t f = 0; f < count; f++) {
        if (book->of[f].job == JOB_NONE)
            continue;
        if (book->of[f].start <= sched->now)
            keep_due_promise(sched, f);
        else if (book->freed.count > 0 || book->units.is_freed) /* unexpectedly */
            move_promise_up(sched, f);
        else
            break; /* later ones are not due either */
    }
}

/* Count the jobs of its user in this pass; true if per_user of them came before.  Jobs without a user have no bound. */
static bool is_user_done(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const int64_t bound = sched->policy.backfill_config.per_user;
    if (bound == 0)
        return false;
    const uint32_t user = sched->jobs.facts[slot].user;
    if (user == NAMES_NONE)
        return false;
    for (uint32_t u = 0; u < scratch->tally_count; u++)
        if (scratch->tallies[u].user == user)
            return scratch->tallies[u].jobs++ >= bound;
    MEM_GROW(scratch->tallies, scratch->tally_capacity, (size_t)scratch->tally_count + 1);
    scratch->tallies[scratch->tally_count++] = (struct user_tally){user, 1};
    return false;
}

/* The bin of lengths, which lie between two powers of two of a second. */
static uint32_t bin_of(time_ns length)
{
    uint32_t bin = 0;
    for (time_ns rest = length / TIME_NS_PER_S; rest > 0 && bin < LENGTH_BINS - 1; rest /= 2)
        bin++;
    return bin;
}

/* Seek a planned start of the job, not after `latest`.  It cannot start before a job of no greater length with the same
 * request that this pass has planned: since then space only shrank. */
static bool find_start(struct sched *sched, uint32_t slot, time_ns latest)
{
    struct overtake_scratch *scratch = &sched->planned_starts->overtake;
    const uint32_t ask = sched->jobs.jobs[slot].ask, own = bin_of(planned_length(sched, slot));
    const time_ns length = planned_length(sched, slot);
    const bool fills_gaps = sched->policy.backfill_config.fills_gaps; /* then jobs see different fillers leave */
    time_ns from = 0;
    MEM_GROW(scratch->found, scratch->found_capacity, (size_t)ask + 1);
    for (uint32_t bin = 0; bin <= own; bin++) {
        const struct found_start *found = &scratch->found[ask][bin];
        if (!fills_gaps && found->pass == scratch->pass && found->length <= length && found->start > from)
            from = found->start;
    }
    const bool is_found = find_from(sched, slot, from, latest, NULL);
    const struct planned_start_book *book = sched->planned_starts;
    scratch->found[ask][own] =
        (struct found_start){scratch->pass, length, is_found ? book->of[book->count - 1].start : TIME_NEVER};
    return is_found;
}

/* True if no other job of its class queue can start or get a planned start in this pass, and none counts. */
static bool is_all_refused(const struct sched *sched, uint32_t slot)
{
    return needs_no_look(sched) && sched->request_classes.at[sched->jobs.jobs[slot].ask].closed != 0;
}

/* In the order of the chain, start jobs that may overtake, and give others planned starts. */
static void go_through(struct sched *sched)
{
    const struct backfill_config *config = &sched->policy.backfill_config;
    const struct planned_start_book *book = sched->planned_starts;
    const time_ns latest = time_after(sched->now, config->window);
    int64_t looked_at = config->keeps ? book->count - book->dropped : 0;
    open_cursors(sched);
    for (uint32_t slot = next_waiting(sched); slot != SLOT_NONE && looked_at < config->depth;
         slot = next_waiting(sched)) {
        const bool is_closed = is_limited(sched, slot);
        const bool is_passed = is_closed || planned_start_has(book, slot) || has_started(&book->overtake, slot) ||
                               is_forbidden(sched, slot) || is_user_done(sched, slot);
        looked_at += !is_passed;
        note_length(sched, slot);
        if (!is_passed && (start_beside(sched, slot, NULL) || fill_gap(sched, slot))) {
            looked_at -= config->keeps; /* it needs no promise */
            pass_by_started(sched, slot);
            continue;
        }
        const bool is_wanted = !is_passed && book->count < config->reservations && planned_start_is_wanted(sched, slot);
        if (is_wanted && !find_start(sched, slot, latest) && latest == TIME_NEVER && book->has_endless)
            return; /* nobody knows when it could start, so any job might delay it */
        pass_by(sched, slot, is_closed || is_all_refused(sched, slot));
    }
}

void overtake(struct sched *sched)
{
    const struct pending *pending = &sched->pending;
    const bool keeps = sched->policy.backfill_config.keeps;
    struct planned_start_book *book = sched->planned_starts;
    if (!sched->overtakes || !reservation_is_due(sched))
        return;
    book->passed_at = sched->now;
    book->passed_change = sched->changes;
    if (!keeps && !pending_may_go(pending, pending->leaf_queues[QUEUE_ROOT].asked))
        return; /* no waiting job can fit */
    planned_start_begin(sched);
    book->overtake.tally_count = book->overtake.refused_count = 0;
    book->overtake.pass++;
    if (keeps)
        keep_promises(sched);
    planned_start_sharpen(sched);
    go_through(sched);
    planned_start_end_pass(sched);
    book->passed_change = sched->changes;
}
