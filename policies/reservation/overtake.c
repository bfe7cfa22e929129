/* The backfill pass for policies with one queue (policies/backfill/): which jobs may overtake.
 *
 * The pass takes the waiting jobs in the order of the chain.  Up to `reservations` jobs that do not fit get a planned
 * start; the others start if they fit now beside all planned starts.  If a job that should get a planned start cannot,
 * because some job has no planned end, the pass ends and the jobs behind it do not overtake.
 * Cost: O(n log n) to order the n waiting jobs, and a placement for each that could fit. */
#include <stdlib.h>

#include "policies/booking/start.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/listeners.h"
#include "policies/state/planned_end.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

static int compare_waiting(const void *a, const void *b, void *pending)
{
    return pending_compare(pending, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Keep in the list only the jobs without a planned start; returns their number. */
static uint32_t leave_newcomers(struct sched *sched, uint32_t count)
{
    const struct planned_start_book *book = sched->planned_starts;
    uint32_t *waiting = sched->overtake->waiting, kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (waiting[i] >= book->promised_capacity || !book->is_promised[waiting[i]])
            waiting[kept++] = waiting[i];
    return kept;
}

/* List the waiting jobs in the order of the chain.  Only the head of a closed class queue can get a planned start if
 * `reservations` is 1: then the jobs behind it are left out. */
static uint32_t list_waiting(struct sched *sched)
{
    struct overtake_scratch *scratch = sched->overtake;
    const struct pending *pending = &sched->pending;
    const bool heads_do = sched->policy.backfill_config.reservations == 1;
    uint32_t count = 0;
    MEM_GROW(scratch->waiting, scratch->waiting_capacity, (size_t)pending->job_count + 1);
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t id = pending->busy[b];
        const struct class_queue *class_queue = &pending->class_queues[id];
        uint32_t jobs = heads_do && pending_is_closed(pending, id) ? 1 : class_queue->count;
        for (uint32_t i = 0; i < jobs; i++)
            scratch->waiting[count++] = class_queue->heap[i].slot;
    }
    if (sched->policy.backfill->keeps)
        count = leave_newcomers(sched, count);
    if (count > 1)
        qsort_r(scratch->waiting, count, sizeof *scratch->waiting, compare_waiting, &sched->pending);
    return count;
}

/* A job with the same request and no greater length did not fit earlier in this pass; since then space only shrank. */
static bool is_refused(const struct sched *sched, uint32_t slot)
{
    uint32_t ask = sched->jobs.jobs[slot].ask;
    return ask < sched->overtake->refused_count &&
           sched->overtake->refused_from[ask] <= (uint64_t)planned_length(sched, slot);
}

static void note_refused(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = sched->overtake;
    uint32_t ask = sched->jobs.jobs[slot].ask;
    MEM_GROW(scratch->refused_from, scratch->refused_capacity, (size_t)ask + 1);
    while (scratch->refused_count <= ask)
        scratch->refused_from[scratch->refused_count++] = UINT64_MAX;
    uint64_t length = (uint64_t)planned_length(sched, slot);
    if (length < scratch->refused_from[ask])
        scratch->refused_from[ask] = length;
}

/* Can the job start now without delaying a planned start?  Then sched->pieces say where. */
static bool fits_beside_planned_starts(struct sched *sched, uint32_t slot, const struct node_marks *only)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    if (ask->closed != 0 || (!sched->policy.backfill->keeps && is_refused(sched, slot)))
        return false;
    if (planned_start_fits_now(sched, slot, only, &sched->pieces))
        return true;
    note_refused(sched, slot);
    if (!planned_start_is_all(sched, slot))
        waits_close_request_class(sched, sched->jobs.jobs[slot].ask, REQUEST_CLASS_BLOCKED);
    return false;
}

static bool is_forbidden(struct sched *sched, uint32_t slot)
{
    const struct quota_policy *quota = sched->policy.quota;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return quota->forbids != NULL &&
           quota->forbids(&sched->tree, job->queue, sched->request_classes.at[job->ask].charge) != QUEUE_NONE;
}

/* Start it if it fits now beside all planned starts. */
static bool start_beside(struct sched *sched, uint32_t slot, const struct node_marks *only)
{
    if (!fits_beside_planned_starts(sched, slot, only))
        return false;
    sched_start(sched, slot, SOURCE_FREE);
    planned_start_started(sched, slot);
    return true;
}

/* A promise that is due: start the job on its promised GPUs, else anywhere, else give it a later promise or none. */
static void keep_due_promise(struct sched *sched, uint32_t index)
{
    const uint32_t slot = sched->planned_starts->of[index].slot;
    planned_start_lift(sched, index);
    if (planned_start_is_there(sched, index)) {
        planned_start_fulfil(sched, index);
        sched_start(sched, slot, SOURCE_FREE);
        planned_start_started(sched, slot);
    } else if (start_beside(sched, slot, NULL) || !planned_start_find(sched, slot, TIME_NEVER, NULL)) {
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
    const struct node_marks *eased = &sched->planned_starts->eased;
    if (!planned_start_may_move_up(sched, index))
        return;
    if (!planned_start_may_fit_earlier(sched, index)) {
        fits_beside_planned_starts(sched, promise.slot, eased); /* it does not; this notes why */
        return;
    }
    planned_start_lift(sched, index);
    if (start_beside(sched, promise.slot, eased))
        planned_start_drop(sched, index);
    else if (planned_start_find(sched, promise.slot, promise.start - 1, eased))
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
        else if (book->eased.count > 0)
            move_promise_up(sched, f);
        else
            break; /* later ones are not due either */
    }
}

/* Count the jobs of its user in this pass; true if per_user of them came before.  Jobs without a user have no bound. */
static bool is_user_done(struct sched *sched, uint32_t slot)
{
    struct overtake_scratch *scratch = sched->overtake;
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

static time_ns horizon(const struct sched *sched)
{
    const time_ns window = sched->policy.backfill_config.window;
    return time_after(sched->now, window);
}

/* In the order of the list, start jobs that may overtake, and give others planned starts. */
static void go_through(struct sched *sched, uint32_t count)
{
    const struct backfill_config *config = &sched->policy.backfill_config;
    const time_ns latest = horizon(sched);
    int64_t looked_at = 0;
    for (uint32_t i = 0; i < count && looked_at < config->depth; i++) {
        uint32_t slot = sched->overtake->waiting[i];
        if (is_forbidden(sched, slot) || is_user_done(sched, slot))
            continue;
        looked_at++;
        if (start_beside(sched, slot, NULL) || sched->planned_starts->count >= config->reservations ||
            !planned_start_is_wanted(sched, slot))
            continue;
        if (!planned_start_find(sched, slot, latest, NULL) && latest == TIME_NEVER &&
            sched->planned_starts->has_endless)
            return; /* nobody knows when it could start, so any job might delay it */
    }
}

static bool is_between_passes(const struct sched *sched)
{
    const time_ns interval = sched->policy.backfill_config.interval;
    return interval > 0 && sched->planned_starts->passed_at >= 0 &&
           sched->now - sched->planned_starts->passed_at < interval;
}

void overtake(struct sched *sched)
{
    const struct pending *pending = &sched->pending;
    const bool keeps = sched->policy.backfill->keeps;
    struct planned_start_book *book = sched->planned_starts;
    if (!sched->overtakes || pending->job_count == 0 || is_between_passes(sched))
        return;
    if (!keeps && book->passed_at >= 0 && book->passed_change == sched->changes)
        return; /* without a change no other job can overtake */
    book->passed_at = sched->now;
    book->passed_change = sched->changes;
    if (!keeps && !pending_may_go(pending, pending->leaf_queues[QUEUE_ROOT].asked))
        return; /* no waiting job can fit */
    planned_start_begin(sched);
    sched->overtake->tally_count = sched->overtake->refused_count = 0;
    if (keeps)
        keep_promises(sched);
    planned_start_sharpen(sched);
    go_through(sched, list_waiting(sched));
    planned_start_end_pass(sched);
    book->passed_change = sched->changes;
}

time_ns overtake_wake(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    const struct backfill_config *config = &sched->policy.backfill_config;
    const bool is_due = config->interval > 0 && book->passed_change != sched->changes;
    time_ns wake = is_due && book->passed_at >= 0 ? book->passed_at + config->interval : TIME_NEVER;
    if (!sched->policy.backfill->keeps)
        return wake;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].start > sched->now && book->of[f].start < wake)
            wake = book->of[f].start;
    /* a job that outlives its planned end moves promises, which may leave a hole where they were */
    if (book->end_count > 0 && book->ends[0].end < wake)
        wake = book->ends[0].end;
    return wake;
}

void overtake_release(struct overtake_scratch *overtake)
{
    mem_free(overtake->waiting);
    mem_free(overtake->refused_from);
    mem_free(overtake->tallies);
    mem_free(overtake);
}
