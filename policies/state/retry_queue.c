/* Finds the class queues that may be due for a plan, without looking at the others.
 *
 * For each kind of plan a class queue with jobs is awake (checked in every cycle) or asleep after a plan that failed.
 * It sleeps until a count of state changes, a time, or the confirmation of a START, whichever comes first.  A class
 * queue without jobs is absent and keeps its memo.  Retry entries stand in two heaps, one by state change and one by
 * time.  When one entry of a class queue has come due, its entry in the other heap is stale and skipped.  A class queue
 * that is due, but whose head's delay is not over, is delayed until then or the head changes.
 * Cost: O(log class queues) per sleep. */
#include <assert.h>

#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"

enum { BACKOFF_EAGER = 6 };

void retry_queue_use(struct sched *sched, enum plan_kind kind, bool is_used)
{
    sched->retry_queues[kind].is_used = is_used;
}

static bool is_before(const struct retry_entry *a, const struct retry_entry *b)
{
    return a->key != b->key ? a->key < b->key : a->class_queue < b->class_queue;
}

static void heap_push(struct retry_heap *heap, struct retry_entry retry_entry)
{
    uint32_t at = heap->count++;
    for (; at > 0 && is_before(&retry_entry, &heap->at[(at - 1) / 2]); at = (at - 1) / 2)
        heap->at[at] = heap->at[(at - 1) / 2];
    heap->at[at] = retry_entry;
}

static void heap_pop(struct retry_heap *heap)
{
    struct retry_entry last = heap->at[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && is_before(&heap->at[child + 1], &heap->at[child]);
        if (!is_before(&heap->at[child], &last))
            break;
        heap->at[at] = heap->at[child];
        at = child;
    }
    heap->at[at] = last;
}

static struct plan_memo *memo_of(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    return &sched->pending.memos[class_queue][kind];
}

static bool is_current(struct sched *sched, const struct retry_entry *retry_entry, enum plan_kind kind)
{
    const struct plan_memo *memo = memo_of(sched, retry_entry->class_queue, kind);
    return memo->state == MEMO_ASLEEP && memo->sleep == retry_entry->sleep;
}

/* A full heap first drops its stale entries, and grows only if more than half of them are left.  While only time
 * passes, the same class queues sleep again and again, and their stale entries by state change are not popped. */
static void make_room(struct sched *sched, struct retry_heap *heap, enum plan_kind kind)
{
    uint32_t count = heap->count;
    if (count < heap->capacity)
        return;
    heap->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct retry_entry retry_entry = heap->at[i]; /* heap_push writes only at indices up to i */
        if (is_current(sched, &retry_entry, kind))
            heap_push(heap, retry_entry);
    }
    MEM_GROW(heap->at, heap->capacity, 2 * (size_t)heap->count + 2);
}

bool retry_queue_is_due(const struct sched *sched, const struct plan_memo *memo)
{
    return memo->retry_change <= sched->changes || memo->eligible_at <= sched->now ||
           (memo->awaits_start && memo->starts_seen != sched->starts);
}

static void awaken(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct retry_queue *retry_queue = &sched->retry_queues[kind];
    memo_of(sched, class_queue, kind)->state = MEMO_AWAKE;
    memo_of(sched, class_queue, kind)->is_delayed = false;
    if (retry_queue->awake_count == retry_queue->awake_capacity)
        MEM_GROW(retry_queue->awake, retry_queue->awake_capacity, (size_t)retry_queue->awake_count + 1);
    retry_queue->awake[retry_queue->awake_count++] = class_queue;
}

static void push_by_time(struct sched *sched, enum plan_kind kind, struct retry_entry retry_entry)
{
    struct retry_heap *heap = &sched->retry_queues[kind].by_time;
    make_room(sched, heap, kind);
    heap_push(heap, retry_entry);
}

void retry_queue_delay(struct sched *sched, uint32_t class_queue, enum plan_kind kind, time_ns until)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    memo->state = MEMO_ASLEEP;
    id_marks_set(&sched->retry_queues[kind].noted, class_queue, true);
    memo->is_delayed = true;
    memo->delayed_until = until;
    push_by_time(sched, kind,
                 (struct retry_entry){.key = (uint64_t)until, .class_queue = class_queue, .sleep = ++memo->sleep});
}

/* A delayed class queue has a new head with a delay of its own: it is awake at the next check. */
static void end_delay(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    if (memo->state != MEMO_ASLEEP || !memo->is_delayed || memo->delayed_until == 0)
        return;
    memo->delayed_until = 0;
    push_by_time(sched, kind, (struct retry_entry){.key = 0, .class_queue = class_queue, .sleep = memo->sleep});
}

void retry_queue_new_head(struct sched *sched, uint32_t class_queue)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++)
        end_delay(sched, class_queue, (enum plan_kind)k);
}

/* The class queue sleeps until the state change, the time or the START that its memo names. */
static void fall_asleep(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct retry_queue *retry_queue = &sched->retry_queues[kind];
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    struct retry_entry retry_entry = {.key = memo->retry_change, .class_queue = class_queue, .sleep = ++memo->sleep};
    memo->state = MEMO_ASLEEP;
    id_marks_set(&retry_queue->noted, class_queue, true);
    memo->is_delayed = false;
    make_room(sched, &retry_queue->by_change, kind);
    heap_push(&retry_queue->by_change, retry_entry);
    if (memo->eligible_at != TIME_NEVER) {
        retry_entry.key = (uint64_t)memo->eligible_at;
        push_by_time(sched, kind, retry_entry);
    }
    if (memo->awaits_start) {
        MEM_GROW(retry_queue->expectant, retry_queue->expectant_capacity, (size_t)retry_queue->expectant_count + 1);
        retry_queue->expectant[retry_queue->expectant_count++] = retry_entry;
    }
}

/* A job has joined the class queue. */
static void retry_queues_note(struct sched *sched, void *own, uint32_t class_queue)
{
    (void)own;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        struct plan_memo *memo = memo_of(sched, class_queue, (enum plan_kind)k);
        if (memo->state != MEMO_ABSENT || !sched->retry_queues[k].is_used)
            continue;
        if (retry_queue_is_due(sched, memo))
            awaken(sched, class_queue, (enum plan_kind)k);
        else
            fall_asleep(sched, class_queue, (enum plan_kind)k);
    }
}

static void end_sleep(struct sched *sched, const struct retry_entry *retry_entry, enum plan_kind kind)
{
    if (!is_current(sched, retry_entry, kind))
        return;
    if (sched->pending.class_queues[retry_entry->class_queue].count == 0)
        memo_of(sched, retry_entry->class_queue, kind)->state = MEMO_ABSENT;
    else
        awaken(sched, retry_entry->class_queue, kind);
}

/* Has the first entry's key been reached? */
static bool is_due(const struct retry_heap *heap, uint64_t key)
{
    return heap->count > 0 && heap->at[0].key <= key;
}

static void wake_until(struct sched *sched, struct retry_heap *heap, uint64_t key, enum plan_kind kind)
{
    while (is_due(heap, key)) {
        struct retry_entry first = heap->at[0];
        heap_pop(heap);
        end_sleep(sched, &first, kind);
    }
}

/* Take class queues that sleep, or have no jobs, off the awake list. */
static void sift_awake(struct sched *sched, enum plan_kind kind)
{
    struct retry_queue *retry_queue = &sched->retry_queues[kind];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < retry_queue->awake_count; i++) {
        uint32_t class_queue = retry_queue->awake[i];
        struct plan_memo *memo = memo_of(sched, class_queue, kind);
        if (memo->state == MEMO_AWAKE && sched->pending.class_queues[class_queue].count > 0)
            retry_queue->awake[kept++] = class_queue;
        else if (memo->state == MEMO_AWAKE)
            memo->state = MEMO_ABSENT;
    }
    retry_queue->awake_count = kept;
}

/* A function of its own, so that it costs next to nothing where no class queue is awake or due. */
static __attribute__((noinline)) void check_again(struct sched *sched, enum plan_kind kind)
{
    struct retry_queue *retry_queue = &sched->retry_queues[kind];
    if (retry_queue->awake_count > 0)
        sift_awake(sched, kind);
    if (is_due(&retry_queue->by_change, sched->changes))
        wake_until(sched, &retry_queue->by_change, sched->changes, kind);
    if (is_due(&retry_queue->by_time, (uint64_t)sched->now))
        wake_until(sched, &retry_queue->by_time, (uint64_t)sched->now, kind);
    if (retry_queue->starts_seen == sched->starts)
        return;
    retry_queue->starts_seen = sched->starts;
    for (uint32_t i = 0; i < retry_queue->expectant_count; i++)
        end_sleep(sched, &retry_queue->expectant[i], kind);
    retry_queue->expectant_count = 0;
}

bool retry_queue_wake(struct sched *sched, enum plan_kind kind)
{
    struct retry_queue *retry_queue = &sched->retry_queues[kind];
    if (retry_queue->expectant_count == 0)
        retry_queue->starts_seen = sched->starts;
    if (retry_queue->awake_count > 0 || is_due(&retry_queue->by_change, sched->changes) ||
        is_due(&retry_queue->by_time, (uint64_t)sched->now) || retry_queue->starts_seen != sched->starts)
        check_again(sched, kind);
    return retry_queue->awake_count > 0;
}

time_ns retry_queue_eligible_at(struct sched *sched, enum plan_kind kind)
{
    struct retry_heap *heap = &sched->retry_queues[kind].by_time;
    for (; heap->count > 0; heap_pop(heap)) {
        struct retry_entry first = heap->at[0];
        if (!is_current(sched, &first, kind))
            continue;
        if (plan_may_ask(sched, first.class_queue, kind))
            return (time_ns)first.key;
        end_sleep(sched, &first, kind); /* its retry time no longer matters */
    }
    return TIME_NEVER;
}

/* ---- How attempts end ---- */

static void back_off(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    if (memo->failed < PLAN_FAILED_MAX)
        memo->failed++;
    memo->retry_change = sched->changes + (UINT64_C(1) << memo->failed);
    if (sched->policy.quota->homes.confines != NULL) /* queues own GPUs: any change may help */
        memo->retry_change = sched->changes + 1;
    memo->tried_cycle = sched->cycle;
    fall_asleep(sched, class_queue, kind);
}

void retry_queue_failed(struct sched *sched, uint32_t class_queue, enum plan_kind kind, const struct plan_failure *why)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    /* A plan that keeps failing waits until all candidates that are too young now may be taken: it may need them all.
     */
    memo->eligible_at = memo->failed < BACKOFF_EAGER ? why->eligible_at : why->eligible_last_at;
    memo->awaits_affordable = why->affordable_at != TIME_NEVER;
    if (memo->awaits_affordable)
        memo->eligible_at = why->affordable_at;
    memo->awaits_start = why->awaits_start;
    memo->starts_seen = sched->starts;
    memo->no_victim_for = why->no_victim_for;
    if (why->no_victim_for != JOB_NONE) {
        memo->no_victim_version = why->no_victim_version;
        memo->no_victim_until = why->eligible_at;
    }
    back_off(sched, class_queue, kind);
}

void retry_queue_refused(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    if (memo->eligible_at <= sched->now)
        memo->eligible_at = TIME_NEVER; /* its retry time passed without success */
    back_off(sched, class_queue, kind);
}

void retry_queue_await_affordable(struct sched *sched, uint32_t class_queue, enum plan_kind kind, time_ns at)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    memo->awaits_affordable = true;
    memo->eligible_at = at;
    back_off(sched, class_queue, kind);
}

void retry_queue_begin_attempt(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    memo_of(sched, class_queue, kind)->eligible_at = TIME_NEVER;
}

void retry_queue_succeeded(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    memo_of(sched, class_queue, kind)->failed /= 2;
}

void retry_queue_head_started(struct sched *sched, uint32_t class_queue)
{
    for (int k = 0; k < PLAN_KINDS_MAX; k++)
        sched->pending.memos[class_queue][k].failed /= 2;
}

void retry_queue_set_tried(struct sched *sched, uint32_t class_queue, enum plan_kind kind, bool is_tried)
{
    memo_of(sched, class_queue, kind)->tried_cycle = is_tried ? sched->cycle : 0;
}

/* The memo knows of no failure, and its class queue does not sleep. */
static void void_memo(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    struct plan_memo *memo = memo_of(sched, class_queue, kind);
    memo->failed = 0;
    memo->retry_change = 0;
    memo->no_victim_for = JOB_NONE;
    memo->awaits_affordable = false;
    if (memo->state == MEMO_ASLEEP && sched->pending.class_queues[class_queue].count > 0)
        awaken(sched, class_queue, kind);
    else if (memo->state == MEMO_ASLEEP)
        memo->state = MEMO_ABSENT;
    id_marks_set(&sched->retry_queues[kind].noted, class_queue, false);
}

void sched_void_memos(struct sched *sched)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        const struct id_marks *noted = &sched->retry_queues[k].noted;
        if (!sched->retry_queues[k].is_used)
            continue;
        sift_awake(sched, (enum plan_kind)k);
        for (uint32_t l = id_marks_next(noted, 0); l != ID_MARKS_NONE; l = id_marks_next(noted, l + 1))
            void_memo(sched, l, (enum plan_kind)k);
    }
}

/* The most entries that a heap may have room for, stale ones included, for each class queue. */
enum { HEAP_ROOM_MAX = 1024 };

bool plan_may_ask(const struct sched *sched, uint32_t class_queue_id, enum plan_kind kind)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const struct request_class *request_class = &sched->request_classes.at[class_queue->request_class];
    bool is_forbidden = class_queue->quota_block != QUEUE_NONE;
    if (!is_forbidden && request_class->closed == REQUEST_CLASS_PROMISED)
        return false; /* there is room, but it belongs to a planned start */
    if (class_queue->count == 0 || !pending_is_closed(&sched->pending, class_queue_id))
        return false;
    if (kind == PLAN_CONSOLIDATE &&
        (!request_class->is_preemptible || is_forbidden || sched->policy.defrag_config.moves_per_plan == 0))
        return false;
    if (kind == PLAN_RECLAIM && sched->policy.quota->may_reclaim == NULL)
        return false;
    return !sched->pending.is_strict || pending_first(&sched->pending, class_queue->leaf_queue) == class_queue_id;
}

/* ---- Events ---- */

static void *retry_queues_init(struct sched *sched)
{
    return sched->policy.preemption->evicts ? sched->retry_queues : NULL;
}

static void retry_queues_release(struct sched *sched, void *own)
{
    (void)own;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        struct retry_queue *retry_queue = &sched->retry_queues[k];
        mem_free(retry_queue->awake);
        mem_free(retry_queue->by_change.at);
        mem_free(retry_queue->by_time.at);
        mem_free(retry_queue->expectant);
        id_marks_release(&retry_queue->noted);
    }
}

static void retry_queues_meet_head(struct sched *sched, void *own, uint32_t class_queue)
{
    (void)own;
    retry_queue_new_head(sched, class_queue);
}

const struct observer retry_queues_observer = {.init = retry_queues_init,
                                               .release = retry_queues_release,
                                               .check = retry_queues_check,
                                               .queued = retry_queues_note,
                                               .new_head = retry_queues_meet_head};
