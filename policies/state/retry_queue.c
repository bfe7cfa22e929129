/* Which lanes may be due for a plan, without a look at those that are not.
 *
 * For each kind of plan a lane with jobs is awake (looked at in every cycle) or asleep after a plan that came to nothing:
 * until so many state changes, until a time, or until a START is confirmed, whichever comes first.  A lane without jobs is
 * absent, and keeps its memo for when it has some again.  Sleepers stand in two heaps; who woke for one reason is passed
 * over when the other comes.  Who is due but whose head is not patient yet dozes until it is, or another comes.
 * Cost: O(log lanes) per sleep. */
#include <assert.h>

#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"
#include "policies/util/archive.h"

static bool is_before(const struct sleeper *a, const struct sleeper *b)
{
    return a->key != b->key ? a->key < b->key : a->lane < b->lane;
}

static void heap_push(struct sleeper_heap *heap, struct sleeper sleeper)
{
    uint32_t at = heap->count++;
    for (; at > 0 && is_before(&sleeper, &heap->at[(at - 1) / 2]); at = (at - 1) / 2)
        heap->at[at] = heap->at[(at - 1) / 2];
    heap->at[at] = sleeper;
}

static void heap_pop(struct sleeper_heap *heap)
{
    struct sleeper last = heap->at[--heap->count];
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

static struct plan_memo *memo_of(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    return &sched->pending.memos[lane][kind];
}

static bool is_current(struct sched *sched, const struct sleeper *sleeper, enum plan_kind kind)
{
    const struct plan_memo *memo = memo_of(sched, sleeper->lane, kind);
    return memo->state == MEMO_ASLEEP && memo->sleep == sleeper->sleep;
}

/* A full heap loses those that sleep no more, or again since, and grows if half of it is left: where time alone passes,
 * the same lanes sleep again and again, and nobody ever comes to the keys of before. */
static void make_room(struct sched *sched, struct sleeper_heap *heap, enum plan_kind kind)
{
    uint32_t count = heap->count;
    if (count < heap->capacity)
        return;
    heap->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sleeper sleeper = heap->at[i]; /* never behind where it goes */
        if (is_current(sched, &sleeper, kind))
            heap_push(heap, sleeper);
    }
    MEM_GROW(heap->at, heap->capacity, 2 * (size_t)heap->count + 2);
}

bool agenda_is_due(const struct sched *sched, const struct plan_memo *memo)
{
    return memo->retry_change <= sched->changes || memo->ripe_at <= sched->now ||
           (memo->awaits_start && memo->starts_seen != sched->starts);
}

static void awaken(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    struct agenda *agenda = &sched->agendas[kind];
    memo_of(sched, lane, kind)->state = MEMO_AWAKE;
    memo_of(sched, lane, kind)->is_dozing = false;
    if (agenda->awake_count == agenda->awake_capacity)
        MEM_GROW(agenda->awake, agenda->awake_capacity, (size_t)agenda->awake_count + 1);
    agenda->awake[agenda->awake_count++] = lane;
}

static void push_by_time(struct sched *sched, enum plan_kind kind, struct sleeper sleeper)
{
    struct sleeper_heap *heap = &sched->agendas[kind].by_time;
    make_room(sched, heap, kind);
    heap_push(heap, sleeper);
}

void agenda_doze(struct sched *sched, uint32_t lane, enum plan_kind kind, time_ns until)
{
    struct plan_memo *memo = memo_of(sched, lane, kind);
    memo->state = MEMO_ASLEEP;
    memo->is_dozing = true;
    memo->dozes_until = until;
    push_by_time(sched, kind,
                 (struct sleeper){.key = (uint64_t)until, .lane = lane, .sleep = ++memo->sleep});
}

/* A dozer has another head, whose patience is its own: it is awake when the lanes are next looked at. */
static void rouse(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    struct plan_memo *memo = memo_of(sched, lane, kind);
    if (memo->state != MEMO_ASLEEP || !memo->is_dozing || memo->dozes_until == 0)
        return;
    memo->dozes_until = 0;
    push_by_time(sched, kind, (struct sleeper){.key = 0, .lane = lane, .sleep = memo->sleep});
}

void agenda_new_head(struct sched *sched, uint32_t lane)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++)
        rouse(sched, lane, (enum plan_kind)k);
}

void agenda_sleep(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    struct agenda *agenda = &sched->agendas[kind];
    struct plan_memo *memo = memo_of(sched, lane, kind);
    struct sleeper sleeper = {.key = memo->retry_change, .lane = lane, .sleep = ++memo->sleep};
    memo->state = MEMO_ASLEEP;
    memo->is_dozing = false;
    make_room(sched, &agenda->by_change, kind);
    heap_push(&agenda->by_change, sleeper);
    if (memo->ripe_at != TIME_NEVER) {
        sleeper.key = (uint64_t)memo->ripe_at;
        push_by_time(sched, kind, sleeper);
    }
    if (memo->awaits_start) {
        MEM_GROW(agenda->expectant, agenda->expectant_capacity,
                 (size_t)agenda->expectant_count + 1);
        agenda->expectant[agenda->expectant_count++] = sleeper;
    }
}

void agenda_note(struct sched *sched, uint32_t lane)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        struct plan_memo *memo = memo_of(sched, lane, (enum plan_kind)k);
        if (memo->state != MEMO_ABSENT || !sched->agendas[k].is_used)
            continue;
        if (agenda_is_due(sched, memo))
            awaken(sched, lane, (enum plan_kind)k);
        else
            agenda_sleep(sched, lane, (enum plan_kind)k);
    }
}

static void end_sleep(struct sched *sched, const struct sleeper *sleeper, enum plan_kind kind)
{
    if (!is_current(sched, sleeper, kind))
        return;
    if (sched->pending.lanes[sleeper->lane].count == 0)
        memo_of(sched, sleeper->lane, kind)->state = MEMO_ABSENT;
    else
        awaken(sched, sleeper->lane, kind);
}

/* Does the first sleep no longer than that? */
static bool is_due(const struct sleeper_heap *heap, uint64_t key)
{
    return heap->count > 0 && heap->at[0].key <= key;
}

static void wake_until(struct sched *sched, struct sleeper_heap *heap, uint64_t key,
                       enum plan_kind kind)
{
    while (is_due(heap, key)) {
        struct sleeper first = heap->at[0];
        heap_pop(heap);
        end_sleep(sched, &first, kind);
    }
}

/* Those that fell asleep, or have no jobs, leave the list. */
static void sift_awake(struct sched *sched, enum plan_kind kind)
{
    struct agenda *agenda = &sched->agendas[kind];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < agenda->awake_count; i++) {
        uint32_t lane = agenda->awake[i];
        struct plan_memo *memo = memo_of(sched, lane, kind);
        if (memo->state == MEMO_AWAKE && sched->pending.lanes[lane].count > 0)
            agenda->awake[kept++] = lane;
        else if (memo->state == MEMO_AWAKE)
            memo->state = MEMO_ABSENT;
    }
    agenda->awake_count = kept;
}

/* Apart, so that it costs next to nothing where nobody is awake or due. */
static __attribute__((noinline)) void look_again(struct sched *sched, enum plan_kind kind)
{
    struct agenda *agenda = &sched->agendas[kind];
    if (agenda->awake_count > 0)
        sift_awake(sched, kind);
    if (is_due(&agenda->by_change, sched->changes))
        wake_until(sched, &agenda->by_change, sched->changes, kind);
    if (is_due(&agenda->by_time, (uint64_t)sched->now))
        wake_until(sched, &agenda->by_time, (uint64_t)sched->now, kind);
    if (agenda->starts_seen == sched->starts)
        return;
    agenda->starts_seen = sched->starts;
    for (uint32_t i = 0; i < agenda->expectant_count; i++)
        end_sleep(sched, &agenda->expectant[i], kind);
    agenda->expectant_count = 0;
}

bool agenda_wake(struct sched *sched, enum plan_kind kind)
{
    struct agenda *agenda = &sched->agendas[kind];
    if (agenda->expectant_count == 0)
        agenda->starts_seen = sched->starts;
    if (agenda->awake_count > 0 || is_due(&agenda->by_change, sched->changes) ||
        is_due(&agenda->by_time, (uint64_t)sched->now) || agenda->starts_seen != sched->starts)
        look_again(sched, kind);
    return agenda->awake_count > 0;
}

time_ns agenda_ripe_at(struct sched *sched, enum plan_kind kind)
{
    struct sleeper_heap *heap = &sched->agendas[kind].by_time;
    for (; heap->count > 0; heap_pop(heap)) {
        struct sleeper first = heap->at[0];
        if (!is_current(sched, &first, kind))
            continue;
        if (plan_may_ask(sched, first.lane, kind))
            return (time_ns)first.key;
        end_sleep(sched, &first, kind); /* its time does not matter now */
    }
    return TIME_NEVER;
}

/* All memos are void: nobody sleeps any more. */
static void wake_all(struct sched *sched)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        if (!sched->agendas[k].is_used)
            continue;
        sift_awake(sched, (enum plan_kind)k);
        for (uint32_t l = 0; l < sched->pending.lane_count; l++) {
            struct plan_memo *memo = memo_of(sched, l, (enum plan_kind)k);
            if (memo->state == MEMO_ASLEEP && sched->pending.lanes[l].count > 0)
                awaken(sched, l, (enum plan_kind)k);
            else if (memo->state == MEMO_ASLEEP)
                memo->state = MEMO_ABSENT;
        }
    }
}

void sched_void_memos(struct sched *sched)
{
    for (uint32_t l = 0; l < sched->pending.lane_count; l++)
        for (int k = 0; k < PLAN_KINDS_MAX; k++) {
            sched->pending.memos[l][k].failed = 0;
            sched->pending.memos[l][k].retry_change = 0;
            sched->pending.memos[l][k].nobody_for = JOB_NONE;
            sched->pending.memos[l][k].awaits_worth = false;
        }
    wake_all(sched);
}

void agenda_release(struct sched *sched)
{
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        struct agenda *agenda = &sched->agendas[k];
        mem_free(agenda->awake);
        mem_free(agenda->by_change.at);
        mem_free(agenda->by_time.at);
        mem_free(agenda->expectant);
    }
}

/* The capacity says when those that sleep no more are cleared out. */
static void archive_heap(struct archive *archive, struct sleeper_heap *heap)
{
    uint64_t capacity = heap->capacity;
    ARCHIVE(archive, capacity);
    ARCHIVE_ARRAY(archive, heap->at, heap->capacity, heap->count);
    archive_expect(archive, heap->count <= capacity);
    if (archive->is_broken || heap->capacity == capacity)
        return;
    heap->at = mem_resize(heap->at, capacity, sizeof *heap->at);
    heap->capacity = capacity;
}

void agenda_archive(struct archive *archive, struct sched *sched)
{
    ARCHIVE_KNOWS(struct agenda, 112);
    ARCHIVE_KNOWS(struct sleeper, 8 + 2 * 4);
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        struct agenda *agenda = &sched->agendas[k];
        ARCHIVE_ARRAY(archive, agenda->awake, agenda->awake_capacity, agenda->awake_count);
        archive_heap(archive, &agenda->by_change);
        archive_heap(archive, &agenda->by_time);
        ARCHIVE_ARRAY(archive, agenda->expectant, agenda->expectant_capacity,
                      agenda->expectant_count);
        ARCHIVE(archive, agenda->starts_seen);
    }
}

bool plan_may_ask(const struct sched *sched, uint32_t lane_id, enum plan_kind kind)
{
    const struct lane *lane = &sched->pending.lanes[lane_id];
    const struct shape *shape = &sched->shapes.shapes[lane->shape];
    bool is_forbidden = lane->quota_block != QUEUE_NONE;
    if (!is_forbidden && shape->closed == SHAPE_PROMISED)
        return false; /* there is room, but a forecast is in front */
    if (lane->count == 0 || !pending_is_closed(&sched->pending, lane_id))
        return false;
    if (kind == PLAN_CONSOLIDATE &&
        (!shape->is_preemptible || is_forbidden || !moves_for(sched, shape)))
        return false;
    if (kind == PLAN_RECLAIM && sched->policy.quota->may_reclaim == NULL)
        return false;
    return !sched->pending.is_strict || pending_first(&sched->pending, lane->line) == lane_id;
}

bool moves_for(const struct sched *sched, const struct shape *ask)
{
    const struct defrag_config *config = &sched->policy.defrag_config;
    return sched->policy.defrag->moves && config->moves_per_plan != 0 &&
           ask->charge[QUEUE_SUM_GPU] >= config->gang_milli_min;
}
