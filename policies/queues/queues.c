#include "policies/queues/queues.h"

#include <assert.h>
#include <string.h>

#include "policies/quota/quota.h"

void queue_tree_release(struct queue_tree *tree)
{
    mem_free(tree->queues);
    mem_free(tree->waits);
    mem_free(tree->scratch);
    mem_free(tree->shares_before);
    mem_free(tree->own);
    mem_free(tree->by_age);
    mem_free(tree->last_child);
    *tree = (struct queue_tree){0};
}

void queue_tree_all_stale(struct queue_tree *tree)
{
    for (uint32_t q = 0; q < tree->count; q++) {
        tree->queues[q].has_winner = false;
        for (int r = 0; r < RESOURCE_COUNT; r++)
            tree->queues[q].is_share_stale[r] = true;
    }
}

void *queue_tree_own(const struct queue_tree *tree, queue_id queue)
{
    return tree->own + (size_t)queue * tree->quota->state_size;
}

int queue_tree_compare_age(const struct queue_tree *tree, queue_id a, queue_id b)
{
    time_ns created_a = tree->table->queues[a].created, created_b = tree->table->queues[b].created;
    if (created_a != created_b)
        return created_a < created_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

void queue_tree_touch(struct queue_tree *tree, queue_id queue)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent)
        tree->queues[q].has_winner = false;
}

/* May a change in one queue change the result of a comparison between other queues? */
static bool queue_tree_looks_above(const struct queue_tree *tree)
{
    return tree->quota->lending.looks_above && tree->is_deep;
}

void queue_tree_touch_standing(struct queue_tree *tree, queue_id queue)
{
    const struct queue_state *state = &tree->queues[queue];
    if (tree->quota->is_flat)
        return;
    queue_tree_touch(tree, state->first_child == QUEUE_NONE ? state->parent : queue);
    for (queue_id q = 0; q < tree->count && queue_tree_looks_above(tree); q++)
        tree->queues[q].has_winner = false;
}

enum { DEPTH_DEEP = 4 }; /* the depth of a queue with two queues between it and the top of its tree */

static void link_queue(struct queue_tree *tree, queue_id id)
{
    struct queue_state *queue = &tree->queues[id];
    *queue = (struct queue_state){
        .parent = tree->table->queues[id].parent, .first_child = QUEUE_NONE, .next_sibling = QUEUE_NONE};
    tree->waits[id] = (struct queue_waits){.first = QUEUE_NONE, .next = QUEUE_NONE};
    tree->last_child[id] = QUEUE_NONE;
    if (queue->parent == QUEUE_NONE)
        return;
    struct queue_state *parent = &tree->queues[queue->parent];
    queue->depth = parent->depth + 1;
    tree->is_deep |= queue->depth >= DEPTH_DEEP;
    const queue_id last = tree->last_child[queue->parent];
    if (last == QUEUE_NONE)
        parent->first_child = id;
    else
        tree->queues[last].next_sibling = id;
    tree->last_child[queue->parent] = id;
}

/* Merge two neighbouring runs of queues that are in order, from `first` and from `middle`, into `out`. */
static void merge_by_age(const struct queue_tree *tree, const queue_id *first, const queue_id *middle,
                         const queue_id *end, queue_id *out)
{
    const queue_id *a = first, *b = middle;
    while (a < middle || b < end) {
        const bool takes_first = b == end || (a < middle && queue_tree_compare_age(tree, *a, *b) <= 0);
        *out++ = takes_first ? *a++ : *b++;
    }
}

/* Order the `count` queues at `queues`, with as much room for a copy.  O(count), if they are in order, else
 * O(count log count). */
static void sort_by_age(const struct queue_tree *tree, queue_id *queues, queue_id *copy, uint32_t count)
{
    const uint32_t half = count / 2;
    if (count < 2)
        return;
    sort_by_age(tree, queues, copy, half);
    sort_by_age(tree, queues + half, copy + half, count - half);
    if (queue_tree_compare_age(tree, queues[half - 1], queues[half]) <= 0)
        return;
    merge_by_age(tree, queues, queues + half, queues + count, copy);
    memcpy(queues, copy, count * sizeof *queues);
}

/* Order the queues from `first` on, and them among the others, which are in order.  What comes in the order of its age
 * costs no more than itself. */
static void order_by_age(struct queue_tree *tree, queue_id first)
{
    queue_id *by_age = tree->by_age, *copy = (queue_id *)tree->scratch;
    for (queue_id q = first; q < tree->count; q++)
        by_age[q] = q;
    sort_by_age(tree, by_age + first, copy, tree->count - first);
    if (first == 0 || first == tree->count || queue_tree_compare_age(tree, by_age[first - 1], by_age[first]) <= 0)
        return;
    merge_by_age(tree, by_age, by_age + first, by_age + tree->count, copy);
    memcpy(by_age, copy, tree->count * sizeof *by_age);
}

/* Make room for `count` queues; new entries are zero. */
static void make_room(struct queue_tree *tree, uint32_t count)
{
    MEM_GROW(tree->queues, tree->queue_capacity, count);
    MEM_GROW(tree->waits, tree->waits_capacity, count);
    MEM_GROW(tree->by_age, tree->by_age_capacity, count);
    MEM_GROW(tree->last_child, tree->last_child_capacity, count);
    if (tree->scratch_capacity < tree->queue_capacity) {
        tree->scratch = mem_resize(tree->scratch, tree->queue_capacity, QUEUE_SCRATCH_BYTES);
        tree->shares_before = mem_resize(tree->shares_before, tree->queue_capacity, sizeof(int64_t));
        tree->scratch_capacity = tree->queue_capacity;
    }
    size_t own_bytes = tree->queue_capacity * tree->quota->state_size;
    if (tree->own_capacity < own_bytes) {
        tree->own = mem_resize(tree->own, own_bytes, 1);
        memset(tree->own + tree->own_capacity, 0, own_bytes - tree->own_capacity);
        tree->own_capacity = own_bytes;
    }
}

/* Link the queues that are new; returns how many there were. */
static uint32_t link_new(struct queue_tree *tree, const struct queue_table *table)
{
    const uint32_t before = tree->count;
    tree->table = table;
    make_room(tree, table->count);
    for (queue_id q = before; q < table->count; q++)
        link_queue(tree, q);
    tree->count = table->count;
    return before;
}

static bool is_limited(const struct queue_tree *tree, queue_id queue)
{
    bool is_limited = false;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        is_limited |= queue_tree_spec(tree, queue)->limit[r] != QUOTA_UNLIMITED;
    return is_limited;
}

/* Do the queues from `first` on, or those before them, have a limit? */
static void find_limits(struct queue_tree *tree, queue_id first)
{
    tree->has_limits &= first > 0;
    for (queue_id q = first; q < tree->count && !tree->has_limits; q++)
        tree->has_limits = is_limited(tree, q);
}

queue_id queue_tree_limited_by(const struct queue_tree *tree, queue_id leaf)
{
    queue_id q = leaf;
    while (tree->has_limits && q != QUEUE_ROOT && !is_limited(tree, q))
        q = tree->queues[q].parent;
    return tree->has_limits ? q : QUEUE_ROOT;
}

queue_id queue_tree_limit_forbids(const struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; tree->has_limits && q != QUEUE_ROOT; q = tree->queues[q].parent)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            const int64_t limit = queue_tree_spec(tree, q)->limit[r];
            if (ask[r] > 0 && limit != QUOTA_UNLIMITED && queue_tree_charged(tree, q, r) + ask[r] > limit)
                return q;
        }
    return QUEUE_NONE;
}

queue_id queue_tree_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    const queue_id by = queue_tree_limit_forbids(tree, leaf, ask);
    return by != QUEUE_NONE || tree->quota->forbids == NULL ? by : tree->quota->forbids(tree, leaf, ask);
}

void queue_tree_update(struct queue_tree *tree, const struct queue_table *table)
{
    link_new(tree, table);
    find_limits(tree, 0);
    order_by_age(tree, 0);
    tree->version++;
    queue_tree_all_stale(tree);
}

void queue_tree_add(struct queue_tree *tree, const struct queue_table *table)
{
    const bool looked_above = queue_tree_looks_above(tree);
    const uint32_t before = link_new(tree, table);
    find_limits(tree, before);
    order_by_age(tree, before);
    tree->version++;
    if (queue_tree_looks_above(tree) != looked_above)
        queue_tree_all_stale(tree);
    for (queue_id q = before; q < tree->count; q++) {
        const queue_id parent = tree->queues[q].parent;
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            tree->queues[q].is_share_stale[r] = true;
            if (parent != QUEUE_NONE)
                tree->queues[parent].is_share_stale[r] = true;
        }
        queue_tree_touch_standing(tree, q);
    }
}

void queue_tree_set_capacity(struct queue_tree *tree, const int64_t capacity[RESOURCE_COUNT])
{
    memcpy(tree->capacity, capacity, sizeof tree->capacity);
    tree->version++;
    queue_tree_all_stale(tree);
}

static int64_t share_now(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    return queue == QUEUE_ROOT ? tree->capacity[r] : tree->queues[queue].share[r];
}

bool queue_tree_is_asked(const struct queue_tree *tree)
{
    return !tree->quota->is_flat || tree->quota->forbids != NULL;
}

void queue_tree_demand(struct queue_tree *tree, queue_id queue, const int64_t ask[QUEUE_SUM_COUNT], int sign)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent)
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            tree->queues[q].demand[r] += sign * ask[r];
            assert(tree->queues[q].demand[r] >= 0);
            if (q != queue && ask[r] != 0)
                tree->queues[q].is_share_stale[r] = true;
        }
}

/* Divide among the children of `parent`.  A child whose share changed becomes stale. */
static void divide(struct queue_tree *tree, queue_id parent, enum resource r, int64_t total)
{
    int64_t *before = tree->shares_before;
    for (queue_id c = tree->queues[parent].first_child; c != QUEUE_NONE; c = tree->queues[c].next_sibling)
        before[c] = tree->queues[c].share[r];
    tree->quota->divide(tree, parent, r, total);
    for (queue_id c = tree->queues[parent].first_child; c != QUEUE_NONE; c = tree->queues[c].next_sibling)
        if (before[c] != tree->queues[c].share[r]) {
            tree->queues[c].is_share_stale[r] = true;
            queue_tree_touch(tree, c);
        }
    tree->queues[parent].is_share_stale[r] = false;
}

static int64_t share_divided(struct queue_tree *tree, queue_id queue, enum resource r)
{
    queue_id parent = tree->queues[queue].parent;
    if (parent == QUEUE_NONE)
        return tree->capacity[r];
    int64_t total = share_divided(tree, parent, r);
    if (tree->queues[parent].is_share_stale[r])
        divide(tree, parent, r, total);
    return tree->queues[queue].share[r];
}

static bool is_fresh(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    for (queue_id q = tree->queues[queue].parent; q != QUEUE_NONE; q = tree->queues[q].parent)
        if (tree->queues[q].is_share_stale[r])
            return false;
    return true;
}

/* As above, for all resources. */
static bool is_all_fresh(const struct queue_tree *tree, queue_id queue)
{
    bool is_stale = false;
    for (queue_id q = tree->queues[queue].parent; q != QUEUE_NONE; q = tree->queues[q].parent)
        for (int r = 0; r < RESOURCE_COUNT; r++)
            is_stale |= tree->queues[q].is_share_stale[r];
    return !is_stale;
}

int64_t queue_tree_share(struct queue_tree *tree, queue_id queue, enum resource r)
{
    return is_fresh(tree, queue, r) ? share_now(tree, queue, r) : share_divided(tree, queue, r);
}

void queue_tree_divide(struct queue_tree *tree, queue_id queue)
{
    if (tree->quota->divide == NULL || is_all_fresh(tree, queue))
        return;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        queue_tree_share(tree, queue, (enum resource)r);
}

void queue_tree_below_common(const struct queue_tree *tree, queue_id a, queue_id b, queue_id *below_a,
                             queue_id *below_b)
{
    const struct queue_state *queues = tree->queues;
    while (queues[a].depth > queues[b].depth)
        a = queues[a].parent;
    while (queues[b].depth > queues[a].depth)
        b = queues[b].parent;
    while (queues[a].parent != queues[b].parent) {
        a = queues[a].parent;
        b = queues[b].parent;
    }
    *below_a = a;
    *below_b = b;
}

/* ---- save and load ---- */
