/* policies/contest.h -- which lane goes next: a contest of siblings at every level of the queue tree.
 *
 * Law: the same as comparing all waiting queues anew, level by level.  Winners are cached, for each of the last
 * few sets of closed shapes, and held again only where something else changed.  A job waiting in an inner queue goes
 * before those of the queues below it.
 * Cost: O(siblings) per stale level.
 */
#ifndef POLICIES_CONTEST_H
#define POLICIES_CONTEST_H

#include "policies/pending.h"
#include "policies/queues.h"

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

/* `delta` more jobs wait in the line of this queue. */
void contest_waiting(struct queue_tree *tree, queue_id queue, int32_t delta);

#endif
