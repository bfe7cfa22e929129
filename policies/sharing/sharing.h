/* policies/sharing/sharing.h -- the seam "on what kind of piece": what a member asks becomes what it gets.
 *
 * Kinds of pieces: whole GPUs; a MIG instance; a share of a GPU that others use beside it, under MPS (they run at the
 * same time) or under time-slicing (they take turns), or a share of which nothing more is said.
 *
 *   {"sharing": {"policy": "trust", "clients_max": 48, "trust": "top", "isolation": "container"}}
 *
 * Trust and isolation are no kinds.  A trust domain is a team: the job's queue, its parent or the queue below the
 * root. Isolation says what stands between two domains, and with that who may share: `process`, anybody but for MPS,
 * whose clients share one server and its faults and so are always of one domain; `container` and `vm`, nobody of
 * another domain on the same GPU, but for MIG, where the hardware keeps them apart; `node`, nobody of another domain
 * on the same node.
 *
 * Laws
 *  - A policy is pure: it sees the declaration, the cluster and its own parameters, never what really happens: what
 *    would have done (job_truth.h) is not known to it.
 *  - What it makes of a request stands in the job's request class, so that placement, charges and explanations follow.
 *    The world that checks pieces maps the same way (sharing_map).
 *  - The ledger keeps what each GPU and node is shared for (policies/ledger/ledger_share.c): pieces of one kind and one
 *    domain, no more clients than the cap.
 *
 * A policy is one const struct; add it to sharings.h and policies/config/registry.c.
 *
 * It does not: say what sharing costs in speed (topologies/gpu_demand.h), or change anything while a job runs.
 */
#ifndef POLICIES_SHARING_H
#define POLICIES_SHARING_H

#include "topologies/queue_table.h"
#include "workloads/job.h"

enum trust_depth { TRUST_QUEUE, TRUST_PARENT, TRUST_TOP };
enum isolation { ISOLATION_PROCESS, ISOLATION_CONTAINER, ISOLATION_VM, ISOLATION_NODE };

struct sharing_config {
    uint16_t clients_max[SHARE_KIND_COUNT]; /* of one GPU, by enum share_kind; 0: no cap */
    uint8_t trust;                          /* enum trust_depth */
    uint8_t isolation;                      /* enum isolation */
    bool refuses_gangs;                     /* of training, on pieces of GPUs: there is no NVLink between those */
    bool awaits_shared;                     /* a share waits for a shared GPU rather than open another */
};

/* What a policy sees beside the request. */
struct sharing_view {
    const struct cluster *cluster;
    const struct sharing_config *config;
    enum job_class class;
    bool has_members; /* more than one: its members work together */
    bool recuts;      /* GPUs are cut on demand (policies/geometry/geometry.h) */
};

struct sharing_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    /* Change what one member asks into what it gets; pure.  Called once per group of a job.  NULL: as asked. */
    void (*map)(const struct sharing_view *view, struct request *request);
    struct sharing_config defaults; /* clients_max not 0: it makes such shares */
};

extern const struct sharing_policy *const sharing_policies[]; /* NULL-terminated */

/* All that the mapping depends on; borrowed. */
struct sharing {
    const struct sharing_policy *policy;
    const struct sharing_config *config;
    const struct cluster *cluster;
    const struct queue_table *queues;
    bool recuts;
};

/* Does it change anything? */
static inline bool sharing_is_used(const struct sharing_policy *policy, const struct sharing_config *config)
{
    return policy->map != NULL || config->isolation != ISOLATION_PROCESS;
}

/* The groups of the job as they are to be placed, into `groups` (job->group_count of them).  O(groups). */
void sharing_map(const struct sharing *sharing, const struct job *job, struct job_group *groups);

/* The trust domain of the queue. */
queue_id sharing_domain(const struct queue_table *queues, queue_id queue, enum trust_depth depth);

#endif
