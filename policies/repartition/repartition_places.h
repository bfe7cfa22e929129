/* policies/repartition/repartition_places.h -- finds the best place in the cluster to cut a GPU.
 *
 * policies/repartition/repartitions.c uses it.  A wish is an instance of a profile, or a number of whole GPUs.  Each
 * wish that was ever searched has a tree over the nodes: a leaf is the offer of one node, and an inner entry is the
 * best of the two below it.
 *
 * Laws: a search finds what a look at each node would find: the place with the best score, among equals the lowest
 * node, GPU and start.  A tree follows the ledger's changes, also in trials.
 * Cost: O(log nodes) for each changed node, O(log nodes) for a search.  Known failure: nodes that offer the best places
 * but have no CPU or memory left are tried one by one.
 */
#ifndef POLICIES_REPARTITION_REPARTITION_PLACES_H
#define POLICIES_REPARTITION_REPARTITION_PLACES_H

#include "policies/sched.h"
#include "workloads/job.h"

struct sched;
struct repartition_places; /* all trees; NULL: no search yet */

struct repartition_spot {
    int64_t score; /* of struct geometry_policy; of whole GPUs: minus those lacking */
    gpu_id gpu;    /* for whole GPUs: the first of the node */
    uint32_t start;
    uint16_t gpu_mask; /* for whole GPUs: GPUs of the node that can be made whole; at least as many as lack */
};

/* How many instances of the requested profile are free, on nodes that take new work and that the request allows.
 * O(nodes) if the request names nodes or there are taints. */
uint32_t repartition_places_instances(struct sched *sched, const struct request *request);

/* Find the best place to make one more instance for the request, or the whole GPUs that a node lacks.  A place with a
 * free instance of the profile does not count.  False: there is none.  If a GPU that rests is on a node with CPU and
 * memory for the request, rested_at of the book is lowered to the end of its rest. */
bool repartition_places_best(struct sched *sched, const struct request *request, struct repartition_spot *spot);

/* NULL: every tree agrees with the ledger.  O(nodes) for each tree. */
const char *repartition_places_check(const struct sched *sched);

void repartition_places_free(struct repartition_places *places);

#endif
