#include "policies/queues.h"

#include <assert.h>

#include "policies/quota/quota.h"

void queue_tree_release(struct queue_tree *tree)
{
    mem_free(tree->queues);
    mem_free(tree->scratch);
    *tree = (struct queue_tree){0};
}

static void mark_all_stale(struct queue_tree *tree)
{
    for (uint32_t q = 0; q < tree->count; q++)
        tree->queues[q].is_share_stale = tree->queues[q].is_winner_stale = true;
}

void queue_tree_touch(struct queue_tree *tree, queue_id queue)
{
    for (queue_id q = queue; q != QUEUE_NONE && !tree->queues[q].is_winner_stale;
         q = tree->queues[q].parent)
        tree->queues[q].is_winner_stale = true;
}

static void link_queue(struct queue_tree *tree, queue_id id)
{
    struct queue_state *queue = &tree->queues[id];
    *queue = (struct queue_state){.parent = tree->table->queues[id].parent,
                                  .first_child = QUEUE_NONE,
                                  .next_sibling = QUEUE_NONE,
                                  .is_winner_stale = true,
                                  .winner = UINT32_MAX};
    if (queue->parent == QUEUE_NONE)
        return;
    struct queue_state *parent = &tree->queues[queue->parent];
    queue->depth = parent->depth + 1;
    queue_id *link = &parent->first_child;
    while (*link != QUEUE_NONE)
        link = &tree->queues[*link].next_sibling;
    *link = id;
}

void queue_tree_update(struct queue_tree *tree, const struct queue_table *table)
{
    tree->table = table;
    MEM_GROW(tree->queues, tree->capacity, table->count);
    for (queue_id q = tree->count; q < table->count; q++)
        link_queue(tree, q);
    tree->count = table->count;
    if (tree->scratch_capacity < tree->capacity) {
        tree->scratch = mem_resize(tree->scratch, tree->capacity, 3 * sizeof(int64_t));
        tree->scratch_capacity = tree->capacity;
    }
    mark_all_stale(tree);
}

void queue_tree_set_capacity(struct queue_tree *tree, int64_t gpu_milli)
{
    tree->capacity_milli = gpu_milli;
    mark_all_stale(tree);
}

void queue_tree_demand(struct queue_tree *tree, queue_id queue, int64_t delta)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent) {
        tree->queues[q].demand_milli += delta;
        assert(tree->queues[q].demand_milli >= 0);
        if (tree->queues[q].parent != QUEUE_NONE)
            tree->queues[tree->queues[q].parent].is_share_stale = true;
    }
}

static void share_moved(struct queue_tree *tree, queue_id queue)
{
    tree->queues[queue].is_share_stale = true;
    queue_tree_touch(tree, queue);
}

/* Divide among the children of `parent`; a child whose share moved must divide again itself. */
static void divide(struct queue_tree *tree, queue_id parent, int64_t total)
{
    for (queue_id c = tree->queues[parent].first_child; c != QUEUE_NONE;
         c = tree->queues[c].next_sibling)
        ((int64_t *)tree->scratch)[c] = tree->queues[c].share_milli;
    tree->quota->divide(tree, parent, total);
    for (queue_id c = tree->queues[parent].first_child; c != QUEUE_NONE;
         c = tree->queues[c].next_sibling)
        if (((int64_t *)tree->scratch)[c] != tree->queues[c].share_milli)
            share_moved(tree, c);
    tree->queues[parent].is_share_stale = false;
    tree->division_count++;
}

int64_t queue_tree_share(struct queue_tree *tree, queue_id queue)
{
    queue_id parent = tree->queues[queue].parent;
    if (parent == QUEUE_NONE)
        return tree->capacity_milli;
    int64_t total = queue_tree_share(tree, parent);
    if (tree->queues[parent].is_share_stale)
        divide(tree, parent, total);
    return tree->queues[queue].share_milli;
}

void queue_tree_below_common(const struct queue_tree *tree, queue_id a, queue_id b,
                             queue_id *below_a, queue_id *below_b)
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
