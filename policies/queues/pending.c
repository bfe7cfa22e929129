#include "policies/queues/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ARITY = 4 };

void pending_init(struct pending *pending, const struct job_table *jobs, struct request_class_table *request_classes,
                  uint32_t rank_count, bool is_strict)
{
    *pending = (struct pending){
        .jobs = jobs, .request_classes = request_classes, .rank_count = rank_count, .is_strict = is_strict};
}

void pending_keep_sorted(struct pending *pending)
{
    assert(pending->job_count == 0);
    pending->is_sorted = true;
}

void pending_release(struct pending *pending)
{
    for (uint32_t i = 0; i < pending->class_queue_count; i++)
        mem_free(pending->class_queues[i].heap);
    for (uint32_t i = 0; i < pending->leaf_queue_count; i++) {
        mem_free(pending->leaf_queues[i].class_queues);
        mem_free(pending->leaf_queues[i].borrowers);
    }
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        mem_free(pending->by_class[c]);
    mem_free(pending->class_queues);
    mem_free(pending->memos);
    mem_free(pending->changed);
    mem_free(pending->busy);
    mem_free(pending->leaf_queues);
    id_marks_release(&pending->blocked);
    id_marks_release(&pending->brief);
    *pending = (struct pending){0};
}

void pending_lines(struct pending *pending, uint32_t count)
{
    if (count > pending->leaf_queue_capacity)
        MEM_GROW(pending->leaf_queues, pending->leaf_queue_capacity, count);
    pending->leaf_queue_count = count;
}

static uint32_t add_class_queue(struct pending *pending, queue_id leaf_queue_id, uint32_t request_class_id,
                                queue_id limited_by)
{
    MEM_GROW(pending->class_queues, pending->class_queue_capacity, pending->class_queue_count + 1);
    MEM_GROW(pending->memos, pending->memo_capacity, pending->class_queue_count + 1);
    uint32_t id = pending->class_queue_count++;
    struct leaf_queue *leaf_queue = &pending->leaf_queues[leaf_queue_id];
    struct request_class *request_class = &pending->request_classes->at[request_class_id];
    pending->class_queues[id] = (struct class_queue){.leaf_queue = leaf_queue_id,
                                                     .request_class = request_class_id,
                                                     .class = request_class->class,
                                                     .leaf_queue_position = leaf_queue->class_queue_count,
                                                     .limited_by = limited_by,
                                                     .quota_block = QUEUE_NONE};
    for (int k = 0; k < PLAN_KINDS_MAX; k++)
        pending->memos[id][k] = (struct plan_memo){.no_victim_for = JOB_NONE, .eligible_at = TIME_NEVER};
    MEM_GROW(leaf_queue->class_queues, leaf_queue->capacity, leaf_queue->class_queue_count + 1);
    leaf_queue->class_queues[leaf_queue->class_queue_count++] =
        (struct leaf_class_queue){id, request_class_id, ASKER_COUNT};
    MEM_GROW(request_class->class_queues, request_class->class_queue_capacity, request_class->class_queue_count + 1);
    request_class->class_queues[request_class->class_queue_count++] = id;
    pending->job_class_request_classes[request_class->class] |= request_class_bit(request_class_id);
    return id;
}

uint32_t pending_class_queue(struct pending *pending, queue_id leaf_queue_id, uint32_t request_class_id,
                             queue_id limited_by)
{
    const struct leaf_queue *leaf_queue = &pending->leaf_queues[leaf_queue_id];
    const struct request_class *request_class = &pending->request_classes->at[request_class_id];
    if (leaf_queue->class_queue_count <= request_class->class_queue_count) { /* search the shorter list */
        for (uint32_t i = 0; i < leaf_queue->class_queue_count; i++)
            if (leaf_queue->class_queues[i].request_class == request_class_id &&
                pending->class_queues[leaf_queue->class_queues[i].class_queue].limited_by == limited_by)
                return leaf_queue->class_queues[i].class_queue;
    } else {
        for (uint32_t i = 0; i < request_class->class_queue_count; i++)
            if (pending->class_queues[request_class->class_queues[i]].leaf_queue == leaf_queue_id &&
                pending->class_queues[request_class->class_queues[i]].limited_by == limited_by)
                return request_class->class_queues[i];
    }
    return add_class_queue(pending, leaf_queue_id, request_class_id, limited_by);
}

int pending_compare(const struct pending *pending, uint32_t a, uint32_t b)
{
    const struct sched_job *x = &pending->jobs->jobs[a], *y = &pending->jobs->jobs[b];
    for (uint32_t r = 0; r < pending->rank_count; r++)
        if (x->rank[r] != y->rank[r])
            return x->rank[r] < y->rank[r] ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool goes_before(const struct pending *pending, struct class_queue_entry a, struct class_queue_entry b)
{
    if (a.rank != b.rank)
        return a.rank < b.rank;
    return pending_compare(pending, a.slot, b.slot) < 0;
}

/* Returns the new position of the entry. */
static uint32_t sift_up(const struct pending *pending, struct class_queue *class_queue, uint32_t at)
{
    struct class_queue_entry entry = class_queue->heap[at];
    while (at > 0) {
        uint32_t up = (at - 1) / ARITY;
        if (!goes_before(pending, entry, class_queue->heap[up]))
            break;
        class_queue->heap[at] = class_queue->heap[up];
        at = up;
    }
    class_queue->heap[at] = entry;
    return at;
}

static void sift_down(const struct pending *pending, struct class_queue *class_queue, uint32_t at)
{
    struct class_queue_entry entry = class_queue->heap[at];
    while (true) {
        uint32_t first = at * ARITY + 1, best = at;
        struct class_queue_entry best_entry = entry;
        for (uint32_t child = first; child < first + ARITY && child < class_queue->count; child++)
            if (goes_before(pending, class_queue->heap[child], best_entry)) {
                best = child;
                best_entry = class_queue->heap[child];
            }
        if (best == at)
            break;
        class_queue->heap[at] = best_entry;
        at = best;
    }
    class_queue->heap[at] = entry;
}

static void set_busy(struct pending *pending, uint32_t class_queue_id)
{
    struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    const uint8_t class = class_queue->class;
    if (pending->busy_count == pending->busy_capacity)
        MEM_GROW(pending->busy, pending->busy_capacity, (size_t)pending->busy_count + 1);
    class_queue->busy_position = pending->busy_count;
    pending->busy[pending->busy_count++] = class_queue_id;
    if (pending->by_class_count[class] == pending->by_class_capacity[class])
        MEM_GROW(pending->by_class[class], pending->by_class_capacity[class],
                 (size_t)pending->by_class_count[class] + 1);
    class_queue->class_position = pending->by_class_count[class];
    pending->by_class[class][pending->by_class_count[class]++] = class_queue_id;
}

static void set_idle(struct pending *pending, uint32_t class_queue_id)
{
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    const uint8_t class = class_queue->class;
    uint32_t last = pending->busy[--pending->busy_count];
    pending->busy[class_queue->busy_position] = last;
    pending->class_queues[last].busy_position = class_queue->busy_position;
    last = pending->by_class[class][--pending->by_class_count[class]];
    pending->by_class[class][class_queue->class_position] = last;
    pending->class_queues[last].class_position = class_queue->class_position;
}

static enum asker asks_as(const struct class_queue *class_queue)
{
    if (class_queue->count == 0 || class_queue->quota_block != QUEUE_NONE)
        return ASKER_COUNT;
    return class_queue->is_over_quota ? ASKER_OVER_QUOTA : ASKER_IN_QUOTA;
}

/* Update the counts of the leaf queue if the class queue has begun or ceased to ask, or asks as another asker. */
static void recount(struct pending *pending, struct class_queue *class_queue)
{
    struct leaf_queue *leaf_queue = &pending->leaf_queues[class_queue->leaf_queue];
    struct leaf_class_queue *entry = &leaf_queue->class_queues[class_queue->leaf_queue_position];
    const enum asker before = (enum asker)entry->asks_as, now = asks_as(class_queue);
    const uint32_t bit = class_queue->request_class % REQUEST_CLASS_SET_BITS;
    if (now == before)
        return;
    entry->asks_as = now;
    if (before != ASKER_COUNT && --leaf_queue->asking[before][bit] == 0)
        leaf_queue->asked[before] &= ~request_class_bit(class_queue->request_class);
    if (now != ASKER_COUNT && leaf_queue->asking[now][bit]++ == 0)
        leaf_queue->asked[now] |= request_class_bit(class_queue->request_class);
    if (leaf_queue->is_changed)
        return;
    leaf_queue->is_changed = true;
    if (pending->changed_count == pending->changed_capacity)
        MEM_GROW(pending->changed, pending->changed_capacity, (size_t)pending->changed_count + 1);
    pending->changed[pending->changed_count++] = class_queue->leaf_queue;
}

/* The reading that the class queue would have without an offset. */
static void read_clock(const struct pending *pending, const struct class_queue *class_queue, time_ns now,
                       time_ns reading[HAND_COUNT])
{
    const struct wait_clock *clock = &pending->request_classes->at[class_queue->request_class].clock;
    if (class_queue->quota_block != QUEUE_NONE) {
        for (int hand = 0; hand < HAND_COUNT; hand++)
            reading[hand] = 0;
        reading[HAND_LIMIT] = now;
        return;
    }
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] = clock->ns[hand];
    if (clock->hand != HAND_NONE)
        reading[clock->hand] += now - clock->since;
    if (class_queue->is_over_quota)
        reading[HAND_HEADROOM] += reading[HAND_LIMIT];
    reading[HAND_LIMIT] = 0;
}

void pending_clock(const struct pending *pending, uint32_t class_queue_id, time_ns now, time_ns reading[HAND_COUNT])
{
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    read_clock(pending, class_queue, now, reading);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] += class_queue->offset[hand];
}

const time_ns *pending_clock_now(struct pending *pending, uint32_t class_queue_id, time_ns scratch[HAND_COUNT])
{
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    struct wait_clock *clock = &pending->request_classes->at[class_queue->request_class].clock;
    wait_clock_set(clock, (enum clock_hand)clock->hand, pending->request_classes->now);
    if (!class_queue->is_offset && clock->ns[HAND_LIMIT] == 0)
        return clock->ns; /* it has the reading of its request class */
    pending_clock(pending, class_queue_id, pending->request_classes->now, scratch);
    return scratch;
}

enum clock_hand pending_hand(const struct pending *pending, uint32_t class_queue_id)
{
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    const uint8_t hand = pending->request_classes->at[class_queue->request_class].clock.hand;
    if (class_queue->quota_block != QUEUE_NONE)
        return HAND_LIMIT;
    return hand != HAND_LIMIT ? (enum clock_hand)hand : class_queue->is_over_quota ? HAND_HEADROOM : HAND_NONE;
}

/* A limit closes or reopens the class queue; the offset keeps its clock continuous. */
static void turn(struct pending *pending, struct class_queue *class_queue, queue_id quota_block)
{
    const time_ns now = pending->request_classes->now;
    time_ns before[HAND_COUNT], after[HAND_COUNT];
    if (class_queue->count > 0)
        read_clock(pending, class_queue, now, before);
    class_queue->quota_block = quota_block;
    class_queue->is_offset = true;
    if (class_queue->count == 0)
        return; /* no job has read the clock */
    read_clock(pending, class_queue, now, after);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        class_queue->offset[hand] += before[hand] - after[hand];
}

/* As above, when the head becomes over quota or in quota: then only the reading of HAND_HEADROOM changes. */
static void turn_asker(struct pending *pending, struct class_queue *class_queue, bool is_over_quota)
{
    const struct wait_clock *clock = &pending->request_classes->at[class_queue->request_class].clock;
    if (class_queue->is_over_quota == is_over_quota)
        return;
    if (class_queue->quota_block == QUEUE_NONE) {
        time_ns owners = clock->ns[HAND_LIMIT];
        if (clock->hand == HAND_LIMIT)
            owners += pending->request_classes->now - clock->since;
        class_queue->offset[HAND_HEADROOM] += is_over_quota ? -owners : owners;
    }
    class_queue->is_offset = true;
    class_queue->is_over_quota = is_over_quota;
}

void pending_set_over_quota(struct pending *pending, uint32_t class_queue_id, bool is_over_quota)
{
    struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    turn_asker(pending, class_queue, is_over_quota);
    recount(pending, class_queue);
}

static void set_brief(struct pending *pending, uint32_t class_queue, bool is_brief)
{
    pending->class_queues[class_queue].is_brief = is_brief;
    id_marks_set(&pending->brief, class_queue, is_brief);
}

void pending_block(struct pending *pending, uint32_t class_queue_id, queue_id queue)
{
    struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    if ((class_queue->quota_block == QUEUE_NONE) == (queue == QUEUE_NONE))
        class_queue->quota_block = queue;
    else
        turn(pending, class_queue, queue);
    set_brief(pending, class_queue_id, false);
    id_marks_set(&pending->blocked, class_queue_id, queue != QUEUE_NONE);
    recount(pending, class_queue);
}

void pending_block_briefly(struct pending *pending, uint32_t class_queue, queue_id queue)
{
    pending_block(pending, class_queue, queue);
    set_brief(pending, class_queue, true);
}

/* The first index whose entry does not go before this one. */
static uint32_t place_of(const struct pending *pending, const struct class_queue *class_queue,
                         struct class_queue_entry entry)
{
    uint32_t low = 0, high = class_queue->count;
    if (high > 0 && goes_before(pending, class_queue->heap[high - 1], entry))
        return high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (goes_before(pending, class_queue->heap[middle], entry))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the index of the new entry; there is room for it. */
static uint32_t insert(const struct pending *pending, struct class_queue *class_queue, struct class_queue_entry entry)
{
    uint32_t at = class_queue->count;
    if (pending->is_sorted) {
        at = place_of(pending, class_queue, entry);
        memmove(&class_queue->heap[at + 1], &class_queue->heap[at],
                (class_queue->count - at) * sizeof *class_queue->heap);
    }
    class_queue->heap[at] = entry;
    class_queue->count++;
    return pending->is_sorted ? at : sift_up(pending, class_queue, at);
}

static int64_t gpus_asked(const struct pending *pending, const struct class_queue *class_queue)
{
    return pending->request_classes->at[class_queue->request_class].charge[QUEUE_SUM_GPU];
}

bool pending_add(struct pending *pending, uint32_t class_queue_id, uint32_t slot)
{
    struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    if (class_queue->count == 0)
        set_busy(pending, class_queue_id);
    if (class_queue->count == class_queue->capacity)
        MEM_GROW(class_queue->heap, class_queue->capacity, class_queue->count + 1);
    const struct class_queue_entry entry = {.rank = pending->jobs->jobs[slot].rank[0], .slot = slot};
    bool is_head = insert(pending, class_queue, entry) == 0;
    if (is_head)
        turn_asker(pending, class_queue, false);
    recount(pending, class_queue);
    pending->leaf_queues[class_queue->leaf_queue].job_count++;
    pending->class_jobs[class_queue->class]++;
    pending->job_count++;
    pending->gpu_milli += gpus_asked(pending, class_queue);
    return is_head;
}

static void remove_at(struct pending *pending, uint32_t class_queue_id, uint32_t at)
{
    struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    assert(at < class_queue->count);
    pending->leaf_queues[class_queue->leaf_queue].job_count--;
    pending->class_jobs[class_queue->class]--;
    pending->job_count--;
    pending->gpu_milli -= gpus_asked(pending, class_queue);
    if (at == 0)
        turn_asker(pending, class_queue, false);
    if (--class_queue->count == 0)
        set_idle(pending, class_queue_id);
    recount(pending, class_queue);
    if (at == class_queue->count)
        return;
    if (pending->is_sorted) {
        memmove(&class_queue->heap[at], &class_queue->heap[at + 1],
                (class_queue->count - at) * sizeof *class_queue->heap);
        return;
    }
    class_queue->heap[at] = class_queue->heap[class_queue->count];
    sift_down(pending, class_queue, at);
    sift_up(pending, class_queue, at);
}

void pending_remove_head(struct pending *pending, uint32_t class_queue)
{
    remove_at(pending, class_queue, 0);
}

uint32_t pending_index(const struct pending *pending, uint32_t class_queue_id, uint32_t slot)
{
    const struct class_queue *class_queue = &pending->class_queues[class_queue_id];
    if (pending->is_sorted) {
        const struct class_queue_entry entry = {.rank = pending->jobs->jobs[slot].rank[0], .slot = slot};
        const uint32_t at = place_of(pending, class_queue, entry);
        if (at < class_queue->count && class_queue->heap[at].slot == slot)
            return at;
    }
    for (uint32_t i = 0; i < class_queue->count; i++) /* also where its rank has just changed */
        if (class_queue->heap[i].slot == slot)
            return i;
    assert(false && "the job does not wait in this class queue");
    return class_queue->count;
}

void pending_remove(struct pending *pending, uint32_t class_queue, uint32_t slot)
{
    remove_at(pending, class_queue, pending_index(pending, class_queue, slot));
}

static int compare_entries(const void *a, const void *b, void *pending)
{
    const struct class_queue_entry *x = a, *y = b;
    return goes_before(pending, *x, *y) ? -1 : goes_before(pending, *y, *x);
}

/* Put all entries in order again, with their new ranks. */
static void order_entries(struct pending *pending, struct class_queue *class_queue)
{
    if (pending->is_sorted) {
        qsort_r(class_queue->heap, class_queue->count, sizeof *class_queue->heap, compare_entries, pending);
        return;
    }
    for (uint32_t i = class_queue->count / ARITY + 1; i-- > 0;)
        if (i < class_queue->count)
            sift_down(pending, class_queue, i);
}

void pending_reorder(struct pending *pending)
{
    for (uint32_t l = 0; l < pending->class_queue_count; l++) {
        struct class_queue *class_queue = &pending->class_queues[l];
        pending_set_over_quota(pending, l, false);
        for (uint32_t i = 0; i < class_queue->count; i++)
            class_queue->heap[i].rank = pending->jobs->jobs[class_queue->heap[i].slot].rank[0];
        if (class_queue->count > 1)
            order_entries(pending, class_queue);
    }
}

static uint32_t better(const struct pending *pending, uint32_t a, uint32_t b)
{
    return a == CLASS_QUEUE_NONE ||
                   goes_before(pending, pending->class_queues[b].heap[0], pending->class_queues[a].heap[0])
               ? b
               : a;
}

static uint32_t first_busy(const struct pending *pending, queue_id leaf_queue_id, bool only_open)
{
    uint32_t best = CLASS_QUEUE_NONE;
    for (uint32_t i = 0; i < pending->busy_count; i++) {
        uint32_t id = pending->busy[i];
        if (pending->class_queues[id].leaf_queue == leaf_queue_id && !(only_open && pending_is_closed(pending, id)))
            best = better(pending, best, id);
    }
    return best;
}

/* Searches the shorter list: the class queues that have jobs, or those of the leaf queue. */
static inline uint32_t first_class_queue(const struct pending *pending, queue_id leaf_queue_id, bool only_open)
{
    const struct leaf_queue *leaf_queue = &pending->leaf_queues[leaf_queue_id];
    uint32_t best = CLASS_QUEUE_NONE;
    if (leaf_queue->job_count == 0)
        return CLASS_QUEUE_NONE;
    if (leaf_queue->class_queue_count > pending->busy_count)
        return first_busy(pending, leaf_queue_id, only_open);
    for (uint32_t i = 0; i < leaf_queue->class_queue_count; i++) {
        const struct leaf_class_queue *entry = &leaf_queue->class_queues[i];
        bool may_go = entry->asks_as != ASKER_COUNT &&
                      (pending->request_classes->open[entry->asks_as] & request_class_bit(entry->request_class)) != 0;
        if (only_open ? may_go && !pending_is_closed(pending, entry->class_queue)
                      : pending->class_queues[entry->class_queue].count > 0)
            best = better(pending, best, entry->class_queue);
    }
    return best;
}

/* Do jobs of other class queues pass this one?  They do if a limit closed it.  In a strict line they also do if it is
 * closed to jobs that run already. */
static bool pending_is_out_of_line(const struct pending *pending, uint32_t class_queue)
{
    const struct class_queue *own = &pending->class_queues[class_queue];
    return pending_is_passed(own) || (pending->is_strict && pending_is_closed(pending, class_queue) &&
                                      request_class_is_surplus(&pending->request_classes->at[own->request_class]));
}

/* The first of all class queues is nearly always the first in the line. */
static uint32_t first_in_line(const struct pending *pending, queue_id leaf_queue)
{
    uint32_t best = first_class_queue(pending, leaf_queue, false);
    if (best == CLASS_QUEUE_NONE || !pending_is_out_of_line(pending, best))
        return best;
    best = CLASS_QUEUE_NONE;
    for (uint32_t b = 0; b < pending->busy_count; b++)
        if (pending->class_queues[pending->busy[b]].leaf_queue == leaf_queue &&
            !pending_is_out_of_line(pending, pending->busy[b]))
            best = better(pending, best, pending->busy[b]);
    return best;
}

uint32_t pending_first(const struct pending *pending, queue_id leaf_queue)
{
    return first_in_line(pending, leaf_queue);
}

uint32_t pending_next(const struct pending *pending, queue_id leaf_queue)
{
    if (!pending_may_go(pending, pending->leaf_queues[leaf_queue].asked))
        return CLASS_QUEUE_NONE;
    if (!pending->is_strict)
        return first_class_queue(pending, leaf_queue, true);
    uint32_t best = first_in_line(pending, leaf_queue);
    return best != CLASS_QUEUE_NONE && pending_is_closed(pending, best) ? CLASS_QUEUE_NONE : best;
}

uint32_t pending_next_of_class(const struct pending *pending, uint8_t class)
{
    uint32_t best = CLASS_QUEUE_NONE;
    if (pending->class_jobs[class] == 0 ||
        (pending->job_class_request_classes[class] & pending->request_classes->open[ASKER_IN_QUOTA]) == 0)
        return CLASS_QUEUE_NONE;
    for (uint32_t i = 0; i < pending->by_class_count[class]; i++) {
        uint32_t id = pending->by_class[class][i];
        if (!pending_is_closed(pending, id))
            best = better(pending, best, id);
    }
    return best;
}
