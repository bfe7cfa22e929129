/* policies/fragmentation.h -- free GPU that is of no use for the jobs that usually come.
 *
 * Words.  Typical jobs are kinds of members, each with its share of all that come.  Of a node, what a typical member cannot use
 * is all that is free of its GPUs if no such member fits there, else what is free of those GPUs that have less left than
 * it asks of one.  Fragmentation is the mean of that over the typical jobs, in milli-GPUs.
 *
 * Law: the fragmentation of a node is 0 at least, and at most what is free of its GPUs; that of a cluster is the sum over its
 * nodes.
 *
 *   struct idle_view view = idle_view_of(ledger, node);
 *   double milli = fragmentation_of(&view, ledger->typical);
 *
 * Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent"
 * (USENIX ATC 2023), section 3.
 * Cost: O(typical jobs * GPUs of the node). */
#ifndef POLICIES_FRAGMENTATION_H
#define POLICIES_FRAGMENTATION_H

#include "policies/ledger.h"

struct typical_job {
    struct request request;
    double share; /* of all, 0..1; they sum to 1 */
};

struct typical_jobs {
    struct typical_job *jobs;
    size_t capacity;
    uint32_t count;
};

/* What is free of a node, to be changed at will. */
struct idle_view {
    const struct cluster *cluster;
    const struct node_type *type;
    uint32_t cpu_milli, memory_mib;
    uint16_t gpu_milli[NODE_GPUS_MAX]; /* by GPU of the node; of one with MIG instances 0 */
};

struct idle_view idle_view_of(const struct ledger *ledger, node_id node);
double fragmentation_of(const struct idle_view *view, const struct typical_jobs *typical);

#endif
