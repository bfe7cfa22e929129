#include "policies/queues/selection_order.h"

#include <assert.h>

#include "policies/queues/queue_selection.h"

/* What a comparison reads. */
struct view {
    const struct selection_order *order;
    struct queue_tree *tree;
    const struct pending *pending;
};

typedef bool before_fn(const struct view *view, uint32_t a, uint32_t b);

static bool is_head_before(const struct view *view, uint32_t a, uint32_t b)
{
    return pending_compare(view->pending, pending_head(view->pending, a), pending_head(view->pending, b)) < 0;
}

static bool is_queue_before(const struct view *view, uint32_t a, uint32_t b)
{
    const struct selection_order_node *nodes = view->order->nodes;
    return queue_selection_compare(view->tree, view->pending, a, nodes[a].best, b, nodes[b].best) < 0;
}

static void sift_down(const struct view *view, uint32_t *heap, uint32_t count, uint32_t at, before_fn *is_before)
{
    const uint32_t moved = heap[at];
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && is_before(view, heap[child + 1], heap[child]);
        if (!is_before(view, heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void make_heap(const struct view *view, uint32_t *heap, uint32_t count, before_fn *is_before)
{
    for (uint32_t at = count / 2; at-- > 0;)
        sift_down(view, heap, count, at, is_before);
}

/* Let the queue and all queues above it take part. */
static void take_part(struct selection_order *order, const struct queue_tree *tree, queue_id queue)
{
    queue_id child = QUEUE_NONE;
    for (queue_id q = queue; q != QUEUE_NONE; child = q, q = tree->queues[q].parent) {
        struct selection_order_node *node = &order->nodes[q];
        const bool is_new = node->opened != order->opened;
        if (is_new)
            *node = (struct selection_order_node){
                .opened = order->opened, .first_child = QUEUE_NONE, .next_sibling = QUEUE_NONE};
        if (child != QUEUE_NONE) {
            order->nodes[child].next_sibling = node->first_child;
            node->first_child = child;
            node->child_count++;
        }
        if (!is_new)
            return;
    }
}

static void find_best(struct selection_order *order, struct selection_order_node *node)
{
    node->best = node->entry_count > 0   ? order->entries[node->first_entry] /* goes before those below it */
                 : node->child_count > 0 ? order->nodes[order->children[node->first_heir]].best
                                         : CLASS_QUEUE_NONE;
}

/* Give each queue from this one on its part of `entries` and `children`. */
static void lay_out(struct selection_order *order, queue_id queue)
{
    struct selection_order_node *node = &order->nodes[queue];
    node->first_entry = order->entry_count;
    node->first_heir = order->child_count;
    order->entry_count += node->entry_count;
    order->child_count += node->child_count;
    node->entry_count = 0; /* counted again as they come */
    for (queue_id c = node->first_child; c != QUEUE_NONE; c = order->nodes[c].next_sibling)
        lay_out(order, c);
}

static void order_below(const struct view *view, struct selection_order *order, queue_id queue)
{
    struct selection_order_node *node = &order->nodes[queue];
    uint32_t count = 0;
    for (queue_id c = node->first_child; c != QUEUE_NONE; c = order->nodes[c].next_sibling) {
        order_below(view, order, c);
        order->children[node->first_heir + count++] = c;
    }
    make_heap(view, &order->entries[node->first_entry], node->entry_count, is_head_before);
    make_heap(view, &order->children[node->first_heir], node->child_count, is_queue_before);
    find_best(order, node);
}

void selection_order_open(struct selection_order *order, struct queue_tree *tree, const struct pending *pending,
                          const uint32_t class_queues[], uint32_t count)
{
    const struct view view = {order, tree, pending};
    order->opened++;
    order->entry_count = order->child_count = 0;
    MEM_GROW(order->nodes, order->node_capacity, tree->count);
    MEM_GROW(order->entries, order->entry_capacity, (size_t)count + 1);
    MEM_GROW(order->children, order->child_capacity, tree->count);
    take_part(order, tree, QUEUE_ROOT);
    for (uint32_t i = 0; i < count; i++) {
        const queue_id leaf_queue = pending->class_queues[class_queues[i]].leaf_queue;
        if (order->nodes[leaf_queue].opened != order->opened)
            take_part(order, tree, leaf_queue);
        order->nodes[leaf_queue].entry_count++;
    }
    lay_out(order, QUEUE_ROOT);
    for (uint32_t i = 0; i < count; i++) {
        struct selection_order_node *node = &order->nodes[pending->class_queues[class_queues[i]].leaf_queue];
        order->entries[node->first_entry + node->entry_count++] = class_queues[i];
    }
    order_below(&view, order, QUEUE_ROOT);
}

/* Take the first out of the heap. */
static void drop_first(const struct view *view, uint32_t *heap, uint32_t *count, before_fn *is_before)
{
    heap[0] = heap[--*count];
    if (*count > 1)
        sift_down(view, heap, *count, 0, is_before);
}

uint32_t selection_order_take(struct selection_order *order, struct queue_tree *tree, const struct pending *pending)
{
    const struct view view = {order, tree, pending};
    if (order->opened == 0 || order->nodes[QUEUE_ROOT].best == CLASS_QUEUE_NONE)
        return CLASS_QUEUE_NONE;
    const uint32_t first = order->nodes[QUEUE_ROOT].best;
    queue_id q = pending->class_queues[first].leaf_queue;
    struct selection_order_node *node = &order->nodes[q];
    drop_first(&view, &order->entries[node->first_entry], &node->entry_count, is_head_before);
    find_best(order, node);
    while (q != QUEUE_ROOT) {
        const bool is_empty = node->best == CLASS_QUEUE_NONE;
        node = &order->nodes[tree->queues[q].parent];
        uint32_t *heap = &order->children[node->first_heir];
        assert(heap[0] == q);
        if (is_empty)
            drop_first(&view, heap, &node->child_count, is_queue_before);
        else
            sift_down(&view, heap, node->child_count, 0, is_queue_before);
        find_best(order, node);
        q = tree->queues[q].parent;
    }
    return first;
}

void selection_order_release(struct selection_order *order)
{
    mem_free(order->nodes);
    mem_free(order->entries);
    mem_free(order->children);
    *order = (struct selection_order){0};
}
