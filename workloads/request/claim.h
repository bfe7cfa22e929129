/* workloads/request/claim.h -- a structured claim: a number of GPUs of a class, with conditions on all of them
 * together.
 *
 *   {"class": "h100-full", "count": 4, "min_memory_gb": 80, "match": "nvlink"}
 *
 * The members that a claim becomes, by its class and its match:
 *
 *   whole GPUs, no match, or "node"   one member of `count` GPUs, on one node
 *   "nvlink", an island holds them    one member of `count` GPUs, in one island of a node
 *   "nvlink", wider                   a slice of `count` members of one GPU, in one domain of the level "nvlink"
 *   another level                     a slice of `count` members of one GPU, in one domain of that level
 *   MIG instances, no match           `count` members of one instance, on any nodes
 *   MIG instances, "node" or a level  a slice of `count` members of one instance, in one domain of that level
 *   shares, or memory                 `count` members of one piece, on any nodes; match is refused
 *
 * Laws
 *  - The GPUs of a claim start together: a minimum counts claims.
 *  - CPUs and memory are those of the whole claim, and are split evenly over its members, rounded up.
 *  - "nvlink" is exact: a model is left out if some of its nodes have no NVLink.
 *
 * It does not: offer alternatives in an order ("first available"), or keep several shares of GPUs on one node (a
 * topology of the job does).
 * Source of the idea: ResourceClaim and matchAttribute of Kubernetes (Dynamic Resource Allocation,
 * resource.k8s.io/v1).
 */
#ifndef WORKLOADS_REQUEST_CLAIM_H
#define WORKLOADS_REQUEST_CLAIM_H

#include "base/json.h"
#include "workloads/request/ask.h"

struct claim {
    struct text class; /* the name of a GPU class; empty: whole GPUs */
    int64_t count;     /* 1..ASK_GPUS_MAX */
    struct text model; /* "A|B"; empty: any */
    struct gpu_conditions conditions;
    struct text match; /* "nvlink", "node", or a level of the cluster; empty: no constraint */
};

/* Equal claims: `count` of them, of which `min_count` (0: all) must run; CPUs and memory are per claim. */
struct claims {
    struct claim claim;
    int64_t count, min_count;
    int64_t cpu_milli, memory_mib;
};

/* Turn them into a group of members.  cluster NULL: what depends on it is left out, and a claim is one member.  Returns
 * NULL, or why that is not possible; then nothing has changed. */
const char *claims_group(const struct claims *claims, const struct cluster *cluster, struct job_group *group);

/* Read the object.  Fails through the sticky error; the texts are borrowed from the document. */
struct claim claim_read(const struct json_value *value);

#endif
