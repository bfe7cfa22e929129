#include "policies/queues/queues.h"

#include <assert.h>
#include <string.h>

#include "policies/quota/quota.h"
#include "policies/util/archive.h"

void queue_tree_release(struct queue_tree *tree)
{
    mem_free(tree->queues);
    mem_free(tree->waits);
    mem_free(tree->scratch);
    mem_free(tree->shares_before);
    mem_free(tree->own);
    mem_free(tree->by_age);
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

bool queue_tree_looks_above(const struct queue_tree *tree)
{
    return tree->quota->looks_above && tree->is_deep;
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
    if (queue->parent == QUEUE_NONE)
        return;
    struct queue_state *parent = &tree->queues[queue->parent];
    queue->depth = parent->depth + 1;
    tree->is_deep |= queue->depth >= DEPTH_DEEP;
    queue_id *link = &parent->first_child;
    while (*link != QUEUE_NONE)
        link = &tree->queues[*link].next_sibling;
    *link = id;
}

static void order_by_age(struct queue_tree *tree)
{
    for (queue_id q = 0; q < tree->count; q++) {
        uint32_t at = q; /* most queues come in the order of their age, so insertion is cheap */
        for (; at > 0 && queue_tree_compare_age(tree, tree->by_age[at - 1], q) > 0; at--)
            tree->by_age[at] = tree->by_age[at - 1];
        tree->by_age[at] = q;
    }
}

/* Make room for `count` queues; new entries are zero. */
static void make_room(struct queue_tree *tree, uint32_t count)
{
    MEM_GROW(tree->queues, tree->queue_capacity, count);
    MEM_GROW(tree->waits, tree->waits_capacity, count);
    MEM_GROW(tree->by_age, tree->by_age_capacity, count);
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

void queue_tree_update(struct queue_tree *tree, const struct queue_table *table)
{
    tree->table = table;
    make_room(tree, table->count);
    for (queue_id q = tree->count; q < table->count; q++)
        link_queue(tree, q);
    tree->count = table->count;
    order_by_age(tree);
    tree->version++;
    queue_tree_all_stale(tree);
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

static void archive_queue(struct archive *archive, struct queue_state *queue)
{
    ARCHIVE_KNOWS(struct queue_state, 88);
    ARCHIVE_KNOWS(struct queue_winner, 16);
    ARCHIVE(archive, queue->parent);
    ARCHIVE(archive, queue->first_child);
    ARCHIVE(archive, queue->next_sibling);
    ARCHIVE(archive, queue->depth);
    ARCHIVE(archive, queue->demand);
    ARCHIVE(archive, queue->share);
    ARCHIVE(archive, queue->is_share_stale);
    ARCHIVE(archive, queue->has_closed_class_queues);
    ARCHIVE(archive, queue->has_winner);
    ARCHIVE(archive, queue->winner.key);
    ARCHIVE(archive, queue->winner.class_queue);
    ARCHIVE(archive, queue->winner.is_selected_from);
}

static bool is_known(const struct queue_tree *tree, queue_id queue)
{
    return queue < tree->count || queue == QUEUE_NONE;
}

/* Do the links lead to each queue once, from its parent, which stands before it?  The links of waiting queues are
 * tested in both directions, so they can have no circle.  O(queues). */
static bool has_sound_links(const struct queue_tree *tree)
{
    uint32_t children = 0;
    for (queue_id q = 0; q < tree->count; q++) {
        const struct queue_state *queue = &tree->queues[q];
        const queue_id parent = tree->table->queues[q].parent;
        const struct queue_waits *waits = &tree->waits[q];
        if (queue->parent != parent || queue->depth != (q == QUEUE_ROOT ? 0 : tree->queues[parent].depth + 1) ||
            !is_known(tree, queue->first_child) || !is_known(tree, queue->next_sibling) ||
            tree->by_age[q] >= tree->count || !is_known(tree, waits->first) || !is_known(tree, waits->next) ||
            !is_known(tree, waits->previous))
            return false;
    }
    for (queue_id q = 0; q < tree->count; q++)
        for (queue_id c = tree->queues[q].first_child; c != QUEUE_NONE; c = tree->queues[c].next_sibling)
            if (tree->queues[c].parent != q || ++children >= tree->count)
                return false;
    return children + 1 == tree->count;
}

void queue_tree_archive(struct archive *archive, struct queue_tree *tree)
{
    uint32_t count = tree->count;
    ARCHIVE_KNOWS(struct queue_tree, 176);
    ARCHIVE_KNOWS(struct queue_waits, 2 * 8 + 4 * 4);
    ARCHIVE(archive, count);
    archive_expect(archive, count <= tree->table->count);
    if (archive->is_broken)
        return;
    if (archive_is_reading(archive))
        make_room(tree, count);
    tree->count = count;
    for (queue_id q = 0; q < count; q++) {
        archive_queue(archive, &tree->queues[q]);
        tree->is_deep |= tree->queues[q].depth >= DEPTH_DEEP;
        tree->closing_count += archive_is_reading(archive) && tree->queues[q].has_closed_class_queues;
        ARCHIVE(archive, tree->waits[q]);
        ARCHIVE(archive, tree->by_age[q]);
        if (tree->quota->archive != NULL)
            tree->quota->archive(archive, queue_tree_own(tree, q));
    }
    if (archive_is_reading(archive))
        archive_expect(archive, has_sound_links(tree));
    ARCHIVE(archive, tree->capacity);
    ARCHIVE(archive, tree->version);
    ARCHIVE(archive, tree->now);
}
