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

/* <0 if queue a, with the head of class queue `of_a` in it or below, goes before its sibling b. */
int queue_selection_compare(struct queue_tree *tree, const struct pending *pending, queue_id a, uint32_t of_a,
                            queue_id b, uint32_t of_b);

/* The given class queue whose head goes first; CLASS_QUEUE_NONE: none is given.  O(class queues * depth of the tree).
 */
uint32_t queue_selection_best(struct queue_tree *tree, const struct pending *pending, const uint32_t class_queues[],
                              uint32_t count, struct queue_selection_scratch *scratch);

/* A queue selection that is repeated in a trial while jobs start.  The caller fills `entries` (one for each class
 * queue) and opens it.  Then it reports each entry whose job, or whose queue's charge, has changed.
 * Cost: O(class queues * depth) to open, then O(siblings) per level for each change.  In a deep tree whose quota policy
 * looks above the queues that compete, each change costs as much as to open. */
struct queue_selection_entry {
    uint32_t class_queue, slot; /* slot: the next job of the class queue */
    bool is_out;                /* no job of it takes part any more */
    uint32_t next;              /* scratch: the next entry of its leaf queue */
};

struct queue_selection_node { /* one for each queue */
    bool is_marked;
    uint32_t first_entry, best; /* indices of entries; best: of the queue and all queues below */
    queue_id first_child, next_sibling;
};

struct queue_selection_field { /* reused; {0} is empty */
    struct queue_selection_entry *entries;
    size_t entry_capacity;
    uint32_t entry_count;
    struct queue_selection_node *nodes; /* by queue_id */
    size_t node_capacity;
    uint64_t work; /* entries and queues compared so far */
};

#define QUEUE_SELECTION_NONE UINT32_MAX

void queue_selection_field_open(struct queue_selection_field *field, struct queue_tree *tree,
                                const struct pending *pending);
/* The entry that goes next; QUEUE_SELECTION_NONE: none. */
uint32_t queue_selection_field_next(const struct queue_selection_field *field);
void queue_selection_field_changed(struct queue_selection_field *field, struct queue_tree *tree,
                                   const struct pending *pending, uint32_t entry);
/* Entries were set is_out, and nothing else has changed.  O(queues that take part), and O(siblings) at each queue whose
 * best entry is out. */
void queue_selection_field_left(struct queue_selection_field *field, struct queue_tree *tree,
                                const struct pending *pending);
void queue_selection_field_close(struct queue_selection_field *field, struct queue_tree *tree,
                                 const struct pending *pending);
void queue_selection_field_release(struct queue_selection_field *field);

/* `delta` more jobs wait in this leaf queue. */
void queue_selection_waiting(struct queue_tree *tree, queue_id queue, int32_t delta);

#endif
