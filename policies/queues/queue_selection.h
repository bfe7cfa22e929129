/* policies/queues/queue_selection.h -- which class queue goes next: a queue selection of siblings at every level of
 * the queue tree.
 *
 * Law: the same as comparing all waiting queues anew, level by level.  Winners are cached, for each of the last few
 * sets of closed request classes, and held again only where something else changed.  A job waiting in an inner queue
 * goes before those of the queues below it.
 * Cost: O(siblings) per stale level.
 */
#ifndef POLICIES_QUEUES_QUEUE_SELECTION_H
#define POLICIES_QUEUES_QUEUE_SELECTION_H

#include "policies/queues/pending.h"
#include "policies/queues/queues.h"

/* The class queue whose head should be tried next, or CLASS_QUEUE_NONE. */
uint32_t queue_selection_next(struct queue_tree *tree, struct pending *pending);

struct queue_selection_mark { /* of a queue with one of the class queues given, or above it */
    bool is_marked;
    uint32_t best; /* of its own line */
    queue_id first_child, next_sibling;
};

struct queue_selection_scratch { /* reused; {0} is empty */
    struct queue_selection_mark *marks;
    size_t capacity;
};

void queue_selection_release(struct queue_selection_scratch *scratch);

/* The class queue, of those given, whose head goes first; CLASS_QUEUE_NONE if none is given.  O(class queues * depth
 * of the tree). */
uint32_t queue_selection_best(struct queue_tree *tree, const struct pending *pending, const uint32_t class_queues[],
                              uint32_t count, struct queue_selection_scratch *scratch);

/* The same queue selection held again and again while jobs go out of it in a trial.  The caller fills `entries` (one
 * for each class queue) and opens; then whenever the job of an entry, or what its queue is charged, has changed, it
 * says so.
 * Cost: O(class queues * depth) to open; then O(siblings) per level for each change, or as to open where the quota
 * policy looks above those that compete in a deep tree. */
struct queue_selection_entry {
    uint32_t class_queue, slot; /* slot: the job of the class queue that would go next */
    bool is_out;                /* none would */
    uint32_t next;              /* scratch: the next of its line */
};

struct queue_selection_node { /* of a queue */
    bool is_marked;
    uint32_t first_entry, best; /* entries; best: of the queue and all below */
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

#define CONTEST_NONE UINT32_MAX

void queue_selection_field_open(struct queue_selection_field *field, struct queue_tree *tree,
                                const struct pending *pending);
/* The entry that goes next; CONTEST_NONE: none. */
uint32_t queue_selection_field_next(const struct queue_selection_field *field);
void queue_selection_field_changed(struct queue_selection_field *field, struct queue_tree *tree,
                                   const struct pending *pending, uint32_t entry);
/* Entries were put out; nothing else has changed since.  O(queues that take part), and O(siblings) where the best
 * left. */
void queue_selection_field_left(struct queue_selection_field *field, struct queue_tree *tree,
                                const struct pending *pending);
void queue_selection_field_close(struct queue_selection_field *field, struct queue_tree *tree,
                                 const struct pending *pending);
void queue_selection_field_release(struct queue_selection_field *field);

/* `delta` more jobs wait in the line of this queue. */
void queue_selection_waiting(struct queue_tree *tree, queue_id queue, int32_t delta);

#endif
