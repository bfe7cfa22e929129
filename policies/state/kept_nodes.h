/* policies/state/kept_nodes.h -- nodes that are kept from all jobs but the head of one class queue, until they are
 * empty.
 *
 * Only the drain (policies/drain/drain.h) chooses and writes them.  Others read how many GPUs are free there. */
#ifndef POLICIES_STATE_KEPT_NODES_H
#define POLICIES_STATE_KEPT_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "topologies/cluster.h"

struct sched;

struct kept_nodes {
    node_id *nodes; /* in the order in which they were chosen */
    size_t capacity;
    uint32_t count;       /* 0: none is kept */
    uint32_t class_queue; /* the class queue whose head they are kept for */
};

/* Add the time since the last call for the free GPUs of kept nodes.  O(kept nodes). */
void kept_nodes_count_time(struct sched *sched, time_ns now);
/* Free GPUs of the kept nodes.  O(GPUs of kept nodes). */
int64_t kept_nodes_free_milli(const struct sched *sched);

#endif
