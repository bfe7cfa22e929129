/* policies/state/retry_queue_check.c -- checks the laws of policies/state/retry_queue.c by plain scans: every sleeping
 * class queue will be woken.
 *
 * A class queue with jobs is awake and once in the list, or asleep with one entry for each event that may wake it.
 * Stale entries of earlier sleeps do not count.  Cost: O(class queues + retry entries). */
#include "base/mem.h"
#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"

enum wake { WAKE_AWAKE, WAKE_BY_CHANGE, WAKE_BY_TIME, WAKE_BY_START, WAKE_COUNT };

struct wakes { /* of a class queue: its entries in each list, for its present sleep */
    uint32_t count[WAKE_COUNT];
};

static void tally_retry_entries(const struct sched *sched, enum plan_kind kind, enum wake wake,
                                struct wakes *class_queues)
{
    const struct retry_queue *retry_queue = &sched->retry_queues[kind];
    const struct retry_entry *at = wake == WAKE_BY_CHANGE ? retry_queue->by_change.at
                                   : wake == WAKE_BY_TIME ? retry_queue->by_time.at
                                                          : retry_queue->expectant;
    uint32_t count = wake == WAKE_BY_CHANGE ? retry_queue->by_change.count
                     : wake == WAKE_BY_TIME ? retry_queue->by_time.count
                                            : retry_queue->expectant_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_memo *memo = &sched->pending.memos[at[i].class_queue][kind];
        uint64_t key = wake == WAKE_BY_CHANGE ? memo->retry_change
                       : memo->is_delayed     ? (uint64_t)memo->delayed_until
                                              : (uint64_t)memo->eligible_at;
        class_queues[at[i].class_queue].count[wake] +=
            at[i].sleep == memo->sleep && (wake == WAKE_BY_START || at[i].key == key);
    }
}

static const char *check_memo(const struct plan_memo *memo, const struct wakes *wakes)
{
    if (memo->state == MEMO_ABSENT)
        return "a class queue with jobs is not in the retry queue";
    if (memo->state == MEMO_AWAKE && wakes->count[WAKE_AWAKE] != 1)
        return "an awake class queue is not once in the awake list";
    if (memo->state != MEMO_ASLEEP)
        return NULL;
    if (memo->is_delayed)
        return wakes->count[WAKE_BY_TIME] != 1 ? "no time will wake a dozing class queue" : NULL;
    if (wakes->count[WAKE_BY_CHANGE] != 1)
        return "no change will wake a class queue";
    if (wakes->count[WAKE_BY_TIME] != (memo->eligible_at != TIME_NEVER))
        return "no time will wake a class queue, or the wrong one";
    if (wakes->count[WAKE_BY_START] != memo->awaits_start)
        return "no start will wake a class queue, or any start will";
    return NULL;
}

static const char *check_heap(const struct retry_heap *heap)
{
    for (uint32_t i = 1; i < heap->count; i++)
        if (heap->at[i].key < heap->at[(i - 1) / 2].key)
            return "a retry heap is out of order";
    return NULL;
}

static const char *check_retry_queue(const struct sched *sched, enum plan_kind kind, struct arena *arena)
{
    const struct retry_queue *retry_queue = &sched->retry_queues[kind];
    const char *broken = check_heap(&retry_queue->by_change);
    broken = broken != NULL ? broken : check_heap(&retry_queue->by_time);
    if (!retry_queue->is_used || broken != NULL)
        return broken;
    struct wakes *class_queues = arena_alloc_array(arena, sched->pending.class_queue_count + 1, struct wakes);
    for (uint32_t i = 0; i < retry_queue->awake_count; i++)
        class_queues[retry_queue->awake[i]].count[WAKE_AWAKE]++;
    for (enum wake wake = WAKE_BY_CHANGE; wake < WAKE_COUNT; wake++)
        tally_retry_entries(sched, kind, wake, class_queues);
    for (uint32_t l = 0; l < sched->pending.class_queue_count && broken == NULL; l++) {
        const struct plan_memo *memo = &sched->pending.memos[l][kind];
        if (!plan_memo_is_void(memo) && !id_marks_has(&retry_queue->noted, l))
            broken = "a failed plan would not be forgotten when it may succeed";
        else if (sched->pending.class_queues[l].count > 0)
            broken = check_memo(memo, &class_queues[l]);
    }
    return broken;
}

const char *retry_queues_check(const struct sched *sched, const void *own)
{
    struct arena arena = {0};
    const char *broken = NULL;
    (void)own;
    for (int k = 0; k < PLAN_KIND_COUNT && broken == NULL; k++)
        broken = check_retry_queue(sched, (enum plan_kind)k, &arena);
    arena_release(&arena);
    return broken;
}
