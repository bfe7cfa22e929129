/* Nominees: class queues whose heads all searched their victims in the same state.
 *
 * Where a quota policy has rounds (quota.h), all class queues that may ask search their victims in the same state.
 * Their plans are booked one after another, each planned again at its turn.  If a nominee's victims overlap with those
 * of a plan booked before in this cycle, it waits for the next cycle.
 *   In turn.  A plan of reclaim is booked when the queue selection comes to its class queue.  Jobs behind it in the
 *   queue selection then see the freed space charged to the preemptor.  Before the first plan is booked, the heads
 *   behind it that do not fit are found, so that they search their victims in the same state.
 * Source: Kueue, pkg/scheduler/scheduler.go (nominate, and then the entries in their order).
 * Cost: that of the plans; for each class queue tried while N nominees wait for their turn, O(N * depth). */
#include "policies/eviction/nominees.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"

static void nominate(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct plan_scratch *plan = sched->plan;
    struct attempts *attempts = &sched->eviction->attempts;
    if (!plan_attempt(sched, class_queue, kind, true))
        return;
    struct nominee nominee = {class_queue, attempts->target_count, 0};
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken)
            continue;
        MEM_GROW(attempts->targets, attempts->target_capacity, (size_t)attempts->target_count + 1);
        attempts->targets[attempts->target_count++] = unit->slot;
        nominee.count++;
    }
    MEM_GROW(attempts->nominees, attempts->nominee_capacity, (size_t)attempts->nominee_count + 1);
    attempts->nominees[attempts->nominee_count++] = nominee;
}

/* Does a plan booked in this cycle evict one of its victims? */
static bool overlaps(const struct sched *sched, const struct nominee *nominee)
{
    for (uint32_t t = nominee->first; t < nominee->first + nominee->count; t++) {
        const struct job_facts *facts = &sched->jobs.facts[sched->eviction->attempts.targets[t]];
        if (facts->displaced_by != JOB_NONE && facts->displaced_cycle == sched->cycle)
            return true;
    }
    return false;
}

/* Search victims for each class queue gathered.  Returns the number of attempts. */
static int64_t seek_all(struct sched *sched, enum plan_kind kind, int64_t attempts_max)
{
    struct attempts *attempts = &sched->eviction->attempts;
    int64_t made = 0;
    for (; attempts->class_queue_count > 0 && made < attempts_max; made++)
        nominate(sched, attempts->class_queues[--attempts->class_queue_count], kind);
    return made;
}

/* Leave out class queues that are empty by now: a victim that waited for more members no longer does, or for others. */
static void leave_out_empty(struct sched *sched)
{
    struct attempts *attempts = &sched->eviction->attempts;
    for (uint32_t c = attempts->class_queue_count; c-- > 0;)
        if (sched->pending.class_queues[attempts->class_queues[c]].count == 0)
            attempts->class_queues[c] = attempts->class_queues[--attempts->class_queue_count];
}

/* A class queue whose victims overlap with a booked plan is not tried again in this cycle. */
int64_t nominees_try_all(struct sched *sched, enum plan_kind kind, bool *is_booked)
{
    struct attempts *attempts = &sched->eviction->attempts;
    attempts->nominee_count = attempts->target_count = 0;
    const int64_t made = seek_all(sched, kind, sched->policy.preempt.attempts_per_cycle);
    for (uint32_t n = 0; n < attempts->nominee_count; n++) {
        MEM_GROW(attempts->class_queues, attempts->class_queue_capacity, (size_t)n + 1);
        attempts->class_queues[n] = attempts->nominees[n].class_queue;
    }
    attempts->class_queue_count = attempts->nominee_count;
    while (attempts->class_queue_count > 0) {
        const uint32_t class_queue = plan_take_best_class_queue(sched);
        uint32_t n = 0;
        while (attempts->nominees[n].class_queue != class_queue)
            n++;
        if (overlaps(sched, &attempts->nominees[n])) {
            retry_queue_set_tried(sched, class_queue, kind, true);
        } else if (plan_attempt(sched, class_queue, kind, false)) {
            *is_booked = true;
            leave_out_empty(sched);
        }
    }
    return made;
}

/* ---- in turn ---- */

void nominees_begin(struct sched *sched)
{
    struct attempts *attempts = &sched->eviction->attempts;
    attempts->nominee_count = attempts->target_count = attempts->class_queue_count = 0;
    attempts->is_turn_stale = true;
}

static struct nominee *nominee_of(struct attempts *attempts, uint32_t class_queue)
{
    for (uint32_t n = 0; n < attempts->nominee_count; n++)
        if (attempts->nominees[n].class_queue == class_queue)
            return &attempts->nominees[n];
    return NULL;
}

/* The class queue that goes first among those gathered, the nominees and this one. */
static uint32_t best_with(struct sched *sched, uint32_t class_queue)
{
    struct attempts *attempts = &sched->eviction->attempts;
    uint32_t count = attempts->class_queue_count;
    MEM_GROW(attempts->class_queues, attempts->class_queue_capacity, (size_t)count + attempts->nominee_count + 1);
    for (uint32_t n = 0; n < attempts->nominee_count; n++)
        attempts->class_queues[count++] = attempts->nominees[n].class_queue;
    if (class_queue != CLASS_QUEUE_NONE)
        attempts->class_queues[count++] = class_queue;
    return queue_selection_best(&sched->tree, &sched->pending, attempts->class_queues, count, &sched->queue_selection);
}

/* Remove nominees whose class queue is empty: their jobs started meanwhile, with a planned start. */
static void drop_empty(struct sched *sched)
{
    struct attempts *attempts = &sched->eviction->attempts;
    for (uint32_t n = attempts->nominee_count; n-- > 0;)
        if (sched->pending.class_queues[attempts->nominees[n].class_queue].count == 0)
            attempts->nominees[n] = attempts->nominees[--attempts->nominee_count];
}

enum turn nominees_turn(struct sched *sched, uint32_t class_queue, uint32_t *whose)
{
    struct attempts *attempts = &sched->eviction->attempts;
    if (attempts->turn_attempts >= sched->policy.preempt.attempts_per_cycle)
        attempts->class_queue_count = 0; /* the attempts of this cycle are used up */
    else if (attempts->is_turn_stale)
        plan_gather_class_queues(sched, PLAN_RECLAIM);
    attempts->is_turn_stale = false;
    drop_empty(sched);
    if (attempts->class_queue_count + attempts->nominee_count == 0)
        return TURN_NONE;
    *whose = best_with(sched, class_queue);
    if (nominee_of(attempts, *whose) != NULL)
        return TURN_TO_BOOK;
    return *whose == class_queue ? TURN_NONE : TURN_TO_SEEK;
}

void nominees_seek(struct sched *sched)
{
    struct attempts *attempts = &sched->eviction->attempts;
    plan_gather_class_queues(sched, PLAN_RECLAIM);
    attempts->is_turn_stale = false;
    if (attempts->class_queue_count == 1 && attempts->nominee_count == 0) { /* no overlap is possible */
        attempts->turn_attempts++;
        attempts->is_turn_stale =
            plan_attempt(sched, attempts->class_queues[--attempts->class_queue_count], PLAN_RECLAIM, false);
        return;
    }
    const uint32_t first = attempts->nominee_count;
    attempts->turn_attempts +=
        seek_all(sched, PLAN_RECLAIM, sched->policy.preempt.attempts_per_cycle - attempts->turn_attempts);
    for (uint32_t n = first; n < attempts->nominee_count; n++) /* do not gather them again */
        retry_queue_set_tried(sched, attempts->nominees[n].class_queue, PLAN_RECLAIM, true);
}

void nominees_book(struct sched *sched, uint32_t class_queue)
{
    struct attempts *attempts = &sched->eviction->attempts;
    struct nominee *nominee = nominee_of(attempts, class_queue);
    const bool must_wait = overlaps(sched, nominee);
    *nominee = attempts->nominees[--attempts->nominee_count];
    if (must_wait || !plan_attempt(sched, class_queue, PLAN_RECLAIM, false))
        return;
    retry_queue_set_tried(sched, class_queue, PLAN_RECLAIM, false); /* the next head may ask */
    attempts->is_turn_stale = true;
}

void nominees_turn_moved(struct sched *sched)
{
    sched->eviction->attempts.is_turn_stale = true;
}
