/* policies/jobs/fragmentation.h -- measures the free GPU space that typical jobs cannot use.
 *
 * Words.  Typical jobs are kinds of members, each with its share of all members.  If a typical member fits on a node,
 * it cannot use the free space of those GPUs that have less left than it asks of one GPU; of GPUs with MIG instances it
 * cannot use anything but the free instances of its profile.  If it does not fit, it cannot use any of the free space.
 * Fragmentation is the mean of that space over the typical jobs, in milli-GPUs.
 *
 * Law: the fragmentation of a node is between 0 and the free milli of its GPUs.  That of a cluster is the sum over its
 * nodes, and also the sum over the causes.
 *
 *   struct idle_view view = idle_view_of(ledger, node);
 *   double milli = fragmentation_of(&view, ledger->typical);
 *
 * Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent"
 * (USENIX ATC 2023), section 3; MIG, which it does not treat, and topology (policies/census/census.h) are our own.
 * Cost: O(typical jobs * GPUs of the node). */
#ifndef POLICIES_JOBS_FRAGMENTATION_H
#define POLICIES_JOBS_FRAGMENTATION_H

#include "policies/ledger/ledger.h"

struct typical_job {
    struct request request;
    double share;      /* of all, 0..1; they sum to 1 */
    uint32_t together; /* members that one domain of the level must hold */
    uint8_t level;     /* from 1, the widest; 0: anywhere; only policies/census/census.h uses it */
};

struct typical_jobs {
    struct typical_job *jobs;
    size_t capacity;
    uint32_t count;
};

/* Why a member cannot use free GPU space; the first cause that applies. */
enum fragment_cause {
    FRAGMENT_NO_GPU,    /* it asks no GPU */
    FRAGMENT_TYPE,      /* another GPU model */
    FRAGMENT_HOST,      /* the node has too few free CPUs or too little memory */
    FRAGMENT_GPU_COUNT, /* the node has too few wholly free GPUs */
    FRAGMENT_SHARE,     /* the GPU has less left than it asks of one */
    FRAGMENT_GEOMETRY,  /* MIG: no free instance of the profile, or no GPU without instances */
    FRAGMENT_TOPOLOGY,  /* the domain has no room for all members that must be together */
    FRAGMENT_CAUSE_COUNT
};

/* A copy of the free amounts of a node, which the caller may change. */
struct idle_view {
    const struct cluster *cluster;
    const struct node_type *type;
    uint32_t cpu_milli, memory_mib;
    uint32_t mig_milli;                         /* free milli of all GPUs with MIG instances */
    uint32_t mig_open_milli[MIG_PROFILE_COUNT]; /* milli of their free instances, by profile */
    uint8_t mig_reach[NODE_GPUS_MAX]
                     [MIG_PROFILE_COUNT]; /* free slices of theirs that such instances have or could have */
    uint16_t gpu_milli[NODE_GPUS_MAX];    /* by GPU of the node; of one with MIG instances 0 */
};

/* The milli that one typical member cannot use.  geometry: for lack of a MIG instance of its profile, or of a GPU
 * without instances.  milli: for the other cause. */
struct useless {
    uint32_t milli, geometry;
    enum fragment_cause cause;
};

struct idle_view idle_view_of(const struct ledger *ledger, node_id node);
uint32_t idle_view_milli(const struct idle_view *view); /* free milli of its GPUs */
struct useless useless_for(const struct idle_view *view, const struct request *request,
                           uint32_t idle); /* idle: idle_view_milli */
double fragmentation_of(const struct idle_view *view, const struct typical_jobs *typical);

#endif
