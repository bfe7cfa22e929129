/* policies/drain/drain_state.h -- the state of drains.
 *
 * Private to the room. */
#ifndef POLICIES_DRAIN_DRAIN_STATE_H
#define POLICIES_DRAIN_DRAIN_STATE_H

#include "policies/sched.h"

struct drain_node { /* a node that a drain may choose */
    time_ns end;    /* the latest planned end of its jobs; TIME_NEVER: unknown */
    node_id node;
    uint32_t used;    /* GPUs that are not wholly free */
    uint32_t members; /* of the gang that it can hold when it is empty */
};

/* The present drain, if any, and what is kept of earlier ones.  Its nodes: policies/state/kept_nodes.h. */
struct drain {
    time_ns since;                /* when it began */
    uint32_t resting_class_queue; /* the class queue whose drain was given up last... */
    time_ns rests_until;          /* ...and when it may have another */
    uint64_t retry_change;        /* no drain begins before this state change: the last attempt failed */
    uint64_t tried_change;        /* the head did not fit at this state change */
    uint64_t move_change;         /* no job is moved off before this state change */
    uint64_t begun, filled;       /* count of drains; of drains on which the gang started */
    uint32_t *class_queues;       /* scratch: class queues that may have a drain */
    size_t class_queue_capacity;
    struct drain_node *choices; /* scratch */
    size_t choice_capacity;
    time_ns *ends; /* scratch, by node; NULL: not needed yet */
};

#endif
