/* policies/jobs/fragmentation.h -- free GPU that is of no use for the jobs that usually come.
 *
 * Words.  Typical jobs are kinds of members, each with its share of all that come.  Of a node, what a typical member
 * cannot use is all that is free of its GPUs if no such member fits there, else what is free of those GPUs that have
 * less left than it asks of one; of GPUs with MIG instances all but the free instances of the profile it asks.
 * Fragmentation is the mean of that over the typical jobs, in milli-GPUs.
 *
 * Law: the fragmentation of a node is 0 at least, and at most what is free of its GPUs; that of a cluster is the sum
 * over its nodes, and the sum over the causes.
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
    uint8_t level;     /* from 1, the widest; 0: anywhere; policies/census/census.h alone looks at it */
};

struct typical_jobs {
    struct typical_job *jobs;
    size_t capacity;
    uint32_t count;
};

/* Why free GPU is of no use to a member; the first that applies. */
enum fragment_cause {
    FRAGMENT_NO_GPU,    /* it asks none */
    FRAGMENT_TYPE,      /* another GPU model */
    FRAGMENT_HOST,      /* CPUs or memory of the node are short */
    FRAGMENT_GPU_COUNT, /* the node has too few that are wholly free */
    FRAGMENT_SHARE,     /* the GPU has less left than it asks of one */
    FRAGMENT_GEOMETRY,  /* MIG: no free instance of the profile; not a GPU without instances */
    FRAGMENT_TOPOLOGY,  /* the domain has no room for all that must be together */
    FRAGMENT_CAUSE_COUNT
};

/* What is free of a node, to be changed at will. */
struct idle_view {
    const struct cluster *cluster;
    const struct node_type *type;
    uint32_t cpu_milli, memory_mib;
    uint32_t mig_milli;                         /* of all GPUs with MIG instances */
    uint32_t mig_open_milli[MIG_PROFILE_COUNT]; /* of their free instances of the profile */
    uint8_t mig_reach[NODE_GPUS_MAX]
                     [MIG_PROFILE_COUNT]; /* free slices of theirs that such instances have or could have */
    uint16_t gpu_milli[NODE_GPUS_MAX];    /* by GPU of the node; of one with MIG instances 0 */
};

/* What one typical member cannot use, in milli: `geometry` for want of a MIG instance, or a GPU without; the rest for
 * the cause. */
struct useless {
    uint32_t milli, geometry;
    enum fragment_cause cause;
};

struct idle_view idle_view_of(const struct ledger *ledger, node_id node);
uint32_t idle_view_milli(const struct idle_view *view); /* all that is free of its GPUs */
struct useless useless_for(const struct idle_view *view, const struct request *request,
                           uint32_t idle); /* idle: idle_view_milli */
double fragmentation_of(const struct idle_view *view, const struct typical_jobs *typical);

#endif
