/* policies/drain/drain.h -- nodes that are kept from everybody until they are empty, for a gang that waits.
 *
 * Part of the scheduler's inside.  In a cycle, first drain_review, at the end drain_seek; whatever the world says of a node,
 * drain_node_changed before the ledger knows.
 *
 * Laws: a node is kept (ledger->is_kept) exactly while it stands in `nodes`; it is up; and there are no more of them than the
 * policy allows.
 */
#ifndef POLICIES_DRAIN_DRAIN_H
#define POLICIES_DRAIN_DRAIN_H

#include "policies/sched.h"

struct archive;
struct sched;

struct drain_node { /* that a drain might choose */
    time_ns end;    /* when the last job on it will have ended, by its plan; TIME_NEVER */
    node_id node;
    uint32_t used;    /* GPUs that are not wholly free */
    uint32_t members; /* of the gang that it holds when it is empty */
};

/* The drain under way, and those before; the nodes that it keeps: policies/state/kept_nodes.h. */
struct drain {
    time_ns since;          /* when it began */
    uint32_t resting_lane;  /* the last that was given up... */
    time_ns rests_until;    /* ...and is not drained for before that */
    uint64_t retry_change;  /* no choice before so many state changes: the last came to nothing */
    uint64_t tried_change;  /* as of then the head did not fit */
    uint64_t move_change;   /* nobody is moved off before so many state changes */
    uint64_t begun, filled; /* drains; those that their gang started on */
    struct drain_node *choices; /* scratch */
    size_t choice_capacity;
    time_ns *ends; /* scratch, by node; NULL: not needed yet */
};

/* At the beginning of a cycle: give the drain up, or start its gang if it fits now. */
void drain_review(struct sched *sched);
/* At the end of one: begin a drain if somebody is to have one; move jobs off the nodes. */
void drain_seek(struct sched *sched);
/* When a cycle is wanted for it though nothing is told. */
time_ns drain_wake(const struct sched *sched);
/* The world says what the node is: it is kept no more unless it is up. */
void drain_node_changed(struct sched *sched, node_id node, enum node_state state);
void drain_init(struct sched *sched);
void drain_release(struct sched *sched);
void drain_archive(struct archive *archive, struct sched *sched);

#endif
