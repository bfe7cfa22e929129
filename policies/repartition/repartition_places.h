/* policies/repartition/repartition_places.h -- where a GPU is best cut anew, of all nodes.
 *
 * Part of what policies/repartition/repartitions.c keeps.  A tree over the nodes for each kind of wish that was ever
 * looked for, an instance of a profile or so many whole GPUs: what a node offers is a leaf, what the best of many
 * offer stands above them.
 *
 * Laws: what is found is what a look at each node would find: the best by score, of equals the lowest node, GPU and
 * start.  A tree follows the ledger's changes, trials included; it holds nothing that the ledger does not, and is not
 * saved.
 * Cost: O(log nodes) for each node that changed, O(log nodes) to find.  Known failure: nodes that offer the best
 * places but have no CPU or memory left are looked at one by one.
 */
#ifndef POLICIES_REPARTITION_REPARTITION_PLACES_H
#define POLICIES_REPARTITION_REPARTITION_PLACES_H

#include "policies/sched.h"
#include "workloads/job.h"

struct sched;
struct repartition_places; /* what is kept of all trees; NULL: nobody ever looked */

struct repartition_spot {
    int64_t score; /* of struct geometry_policy; of whole GPUs: minus those lacking */
    gpu_id gpu;    /* of whole GPUs: the first of the node */
    uint32_t start;
    uint16_t gpu_mask; /* whole GPUs: those of the node that may be whole again; at least those lacking */
};

/* Free instances of the profile asked, on nodes that take new work and its members.  O(nodes) if it says which nodes.
 */
uint32_t repartition_places_instances(struct sched *sched, const struct request *request);

/* Where one more instance for the request, or the last of its whole GPUs, is best made: not where a free one of its
 * profile is already.  False: nowhere.  A GPU that is left alone for now, where the request finds CPU and memory,
 * lowers repartitions.rested_at. */
bool repartition_places_best(struct sched *sched, const struct request *request, struct repartition_spot *spot);

/* NULL: every tree says what its nodes offer.  O(nodes) for each tree. */
const char *repartition_places_check(const struct sched *sched);

void repartition_places_free(struct repartition_places *places);

#endif
