/* policies/queues/selection_order.h -- the class queues of a list, in the order in which the queue selection names
 * them.
 *
 *   selection_order_open(&order, tree, pending, class_queues, count);
 *   while ((class_queue = selection_order_take(&order, tree, pending)) != CLASS_QUEUE_NONE) ...
 *
 * Law: what is taken is what queue_selection_best would name among the class queues that are left
 * (policies/queues/queue_selection.h).  It holds while no head, no charge and no share changes: after such a change it
 * is opened again.
 * Each queue keeps two heaps: its own class queues by their heads, and the queues below it by their best class queue.
 * So to take one changes the top of one heap at each level.
 * Cost: O(class queues * depth) to open, then O(depth * log(siblings)) comparisons to take one.  It is scratch.
 */
#ifndef POLICIES_QUEUES_SELECTION_ORDER_H
#define POLICIES_QUEUES_SELECTION_ORDER_H

#include "policies/queues/pending.h"
#include "policies/queues/queues.h"

struct selection_order_node { /* a queue that has some of the class queues, itself or below */
    uint64_t opened;          /* its other fields are of this opening */
    queue_id first_child, next_sibling;
    uint32_t entry_count, child_count; /* left in its heaps */
    uint32_t first_entry, first_heir;  /* where its heaps begin, in `entries` and in `children` */
    uint32_t best;                     /* class queue; CLASS_QUEUE_NONE: none is left */
};

struct selection_order {                /* reused; {0} is empty */
    struct selection_order_node *nodes; /* by queue_id */
    size_t node_capacity;
    uint32_t *entries;  /* class queues */
    queue_id *children; /* queues */
    size_t entry_capacity, child_capacity;
    uint32_t entry_count, child_count;
    uint64_t opened;
};

/* class_queues: each has a head.  O(class queues * depth). */
void selection_order_open(struct selection_order *order, struct queue_tree *tree, const struct pending *pending,
                          const uint32_t class_queues[], uint32_t count);
/* The first class queue that is left, which is then left no more; CLASS_QUEUE_NONE: none is. */
uint32_t selection_order_take(struct selection_order *order, struct queue_tree *tree, const struct pending *pending);
void selection_order_release(struct selection_order *order);

#endif
