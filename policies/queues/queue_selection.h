/* policies/queues/queue_selection.h -- finds the class queue to try next: siblings are compared at every level of the
 * queue tree.
 *
 * Law: the result is that of a comparison of all queues with waiting jobs, level by level.  A queue keeps its last
 * winner; it is found again if the set of closed request classes or something else changed.  A job in an inner queue
 * goes before those of the queues below it.
 * Cost: O(siblings) per stale level.
 */
#ifndef POLICIES_QUEUES_QUEUE_SELECTION_H
#define POLICIES_QUEUES_QUEUE_SELECTION_H

#include "policies/queues/pending.h"
#include "policies/queues/queues.h"

/* The class queue whose head should be tried next, or CLASS_QUEUE_NONE. */
uint32_t queue_selection_next(struct queue_tree *tree, struct pending *pending);

struct queue_selection_mark { /* of a queue that has one of the given class queues, here or below */
    bool is_marked;
    uint32_t best; /* the best class queue of the queue itself */
    queue_id first_child, next_sibling;
};

struct queue_selection_scratch { /* reused; {0} is empty */
    struct queue_selection_mark *marks;
    size_t capacity;
};

void queue_selection_release(struct queue_selection_scratch *scratch);

/* The given class queue whose head goes first; CLASS_QUEUE_NONE: none is given.  O(class queues * depth of the tree).
 */
uint32_t queue_selection_best(struct queue_tree *tree, const struct pending *pending, const uint32_t class_queues[],
                              uint32_t count, struct queue_selection_scratch *scratch);

/* `delta` more jobs wait in this leaf queue. */
void queue_selection_waiting(struct queue_tree *tree, queue_id queue, int32_t delta);

#endif
