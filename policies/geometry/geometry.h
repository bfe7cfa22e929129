/* policies/geometry/geometry.h -- the seam "how are GPUs cut": MIG instances made for those who find none.
 *
 * A cluster file says which GPUs are partitioned, how, and which of them may be cut anew (recut_mask of a node type:
 * topologies/cluster.h).  A member takes an instance that is there if there is one; if there is none, a policy that
 * repartitions has one made: on a partitioned GPU, in the place of instances that are free, or on a whole free one,
 * which is partitioned for it.  A member of whole GPUs that finds none gets partitioned ones back that are all free.
 *
 *   {"geometry": {"policy": "on_demand", "rest_s": 3600, "needs": "gpu"}}
 *
 * Laws: what is in use is never cut.  What is made for a job is claimed for it until the world has made it
 * (DECISION_REPARTITION, sched_gpu_changed).  Budgets count steps.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_GEOMETRY_H
#define POLICIES_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "topologies/mig.h"

/* What must be free so that a GPU is cut: the instances that go; all of the GPU; all GPUs of its node. */
enum recut_needs { RECUT_INSTANCES, RECUT_GPU, RECUT_NODE };

struct geometry_config {
    time_ns rest;  /* for this time after a GPU was cut it is not cut again */
    uint8_t needs; /* enum recut_needs */
};

/* Where an instance could be made. */
struct cut_place {
    enum mig_profile_id profile;
    uint32_t start;
    uint8_t busy;       /* slices in use on the GPU */
    bool is_whole;      /* it is to be partitioned first */
    uint32_t destroyed; /* free instances in its way */
};

struct geometry_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    /* Higher is better, ties go to the lowest node, GPU and start; pure.  NULL: GPUs stay as they are. */
    int64_t (*score)(const struct cut_place *place);
    struct geometry_config defaults;
};

extern const struct geometry_policy *const geometry_policies[]; /* NULL-terminated */

#endif
