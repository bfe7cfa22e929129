/* policies/queues/queue_selection.h -- which lane goes next: a contest of siblings at every level of the queue tree.
 *
 * Law: the same as comparing all waiting queues anew, level by level.  Winners are cached, for each of the last
 * few sets of closed shapes, and held again only where something else changed.  A job waiting in an inner queue goes
 * before those of the queues below it.
 * Cost: O(siblings) per stale level.
 */
#ifndef POLICIES_QUEUES_QUEUE_SELECTION_H
#define POLICIES_QUEUES_QUEUE_SELECTION_H

#include "policies/queues/pending.h"
#include "policies/queues/queues.h"

/* The lane whose head should be tried next, or LANE_NONE. */
uint32_t contest_next(struct queue_tree *tree, struct pending *pending);

struct contest_mark { /* of a queue with one of the lanes given, or above it */
    bool is_marked;
    uint32_t best; /* of its own line */
    queue_id first_child, next_sibling;
};

struct contest_scratch { /* reused; {0} is empty */
    struct contest_mark *marks;
    size_t capacity;
};

void contest_release(struct contest_scratch *scratch);

/* The lane, of those given, whose head goes first; LANE_NONE if none is given.  O(lanes * depth of the tree). */
uint32_t contest_best(struct queue_tree *tree, const struct pending *pending,
                      const uint32_t lanes[], uint32_t count, struct contest_scratch *scratch);

/* The same contest held again and again while jobs go out of it in a trial.  The caller fills `entries` (one for each
 * lane) and opens; then whenever the job of an entry, or what its queue is charged, has changed, it says so.
 * Cost: O(lanes * depth) to open; then O(siblings) per level for each change, or as to open where the quota policy
 * looks above those that compete in a deep tree. */
struct contest_entry {
    uint32_t lane, slot; /* slot: the job of the lane that would go next */
    bool is_out;         /* none would */
    uint32_t next;       /* scratch: the next of its line */
};

struct contest_node { /* of a queue */
    bool is_marked;
    uint32_t first_entry, best; /* entries; best: of the queue and all below */
    queue_id first_child, next_sibling;
};

struct contest_field { /* reused; {0} is empty */
    struct contest_entry *entries;
    size_t entry_capacity;
    uint32_t entry_count;
    struct contest_node *nodes; /* by queue_id */
    size_t node_capacity;
    uint64_t work; /* entries and queues compared so far */
};

#define CONTEST_NONE UINT32_MAX

void contest_field_open(struct contest_field *field, struct queue_tree *tree,
                        const struct pending *pending);
/* The entry that goes next; CONTEST_NONE: none. */
uint32_t contest_field_next(const struct contest_field *field);
void contest_field_changed(struct contest_field *field, struct queue_tree *tree,
                           const struct pending *pending, uint32_t entry);
/* Entries were put out; nothing else has changed since.  O(queues that take part), and O(siblings) where the best left. */
void contest_field_left(struct contest_field *field, struct queue_tree *tree,
                        const struct pending *pending);
void contest_field_close(struct contest_field *field, struct queue_tree *tree,
                         const struct pending *pending);
void contest_field_release(struct contest_field *field);

/* `delta` more jobs wait in the line of this queue. */
void contest_waiting(struct queue_tree *tree, queue_id queue, int32_t delta);

#endif
