/* gather.  Places jobs that can never be evicted beside such jobs: on the fullest shared GPU, else on the node with the
 * most GPUs that evictions cannot free, else on the fullest node.
 * Idea: evictions can free a whole node only if no such job is on it; inference replicas on many nodes would leave no
 * such node.  Meant for "placement_firm".  Without a preemption policy it does not know which jobs these are, and
 * places as best_fit by nodes.  Known failure: a shared GPU that becomes empty slowly keeps its node for as long.
 * Source: our own; the problem is that of anti-fragmentation by mobility in page allocators (M. Gorman, Linux 2.6.24).
 * Cost: O(nodes with room) a member; if these are many, one score for each state of a node
 * (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { SHARED_FIRST = 1000000, FIRM_WEIGHT = NODE_GPUS_MAX + 1 };

static int64_t whole_score(const struct spot *spot, int64_t non_preemptible_gpus)
{
    int64_t free = spot->node_free > 0 ? spot->node_free : 0;
    return non_preemptible_gpus * FIRM_WEIGHT + NODE_GPUS_MAX - free;
}

static int64_t score(const struct spot *spot)
{
    if (spot->gpu_left < GPU_MILLI)
        return SHARED_FIRST - spot->gpu_left;
    const struct ledger *ledger = spot->ledger;
    if (ledger->room == NULL)
        return whole_score(spot, 0);
    return whole_score(spot, (int64_t)cluster_node_gpus(ledger->cluster, spot->node) - ledger->room[spot->node]);
}

static int64_t bound(const struct spot *spot)
{
    if (spot->gpu_left < GPU_MILLI)
        return SHARED_FIRST - spot->gpu_left;
    if (spot->ledger->room == NULL)
        return whole_score(spot, 0);
    /* Free GPUs hold no such job. */
    int64_t gpus = spot->ledger->cluster->types[spot->type].gpu_count;
    return whole_score(spot, gpus - (spot->node_free > 0 ? spot->node_free : 0));
}

const struct placement_policy placement_gather = {
    .name = "gather",
    .version = 1,
    .summary = "beside jobs that are never evicted either, so that other nodes can be emptied; for "
               "placement_firm",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
    .bound = bound,
};
