/* policies/drain/drain_state.h -- the drain under way, and those before.
 *
 * Private to the room. */
#ifndef POLICIES_DRAIN_DRAIN_STATE_H
#define POLICIES_DRAIN_DRAIN_STATE_H

#include "policies/sched.h"

struct drain_node { /* that a drain might choose */
    time_ns end;    /* when the last job on it will have ended, by its plan; TIME_NEVER */
    node_id node;
    uint32_t used;    /* GPUs that are not wholly free */
    uint32_t members; /* of the gang that it holds when it is empty */
};

/* The drain under way, and those before; the nodes that it keeps: policies/state/kept_nodes.h. */
struct drain {
    time_ns since;                /* when it began */
    uint32_t resting_class_queue; /* the last that was given up... */
    time_ns rests_until;          /* ...and is not drained for before that */
    uint64_t retry_change;        /* no choice before so many state changes: the last came to nothing */
    uint64_t tried_change;        /* as of then the head did not fit */
    uint64_t move_change;         /* nobody is moved off before so many state changes */
    uint64_t begun, filled;       /* drains; those that their gang started on */
    uint32_t *class_queues;       /* scratch: that may have one */
    size_t class_queue_capacity;
    struct drain_node *choices; /* scratch */
    size_t choice_capacity;
    time_ns *ends; /* scratch, by node; NULL: not needed yet */
};

#endif
