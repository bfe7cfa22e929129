/* gpu_clustering.  Members that ask for equal numbers of GPUs go to the same nodes: shares to nodes with shares, pairs
 * to nodes with pairs.  Nodes with only such members come first, then mixed ones, then idle ones, and nodes with only
 * other members last.  Within each of these bands, the node with the least GPU left comes first.
 * Members of odd sizes are then on fewer nodes.  In a cluster with many sizes most nodes become mixed soon.
 * Source: the GPU clustering of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), after
 * Gandiva (Xiao et al., OSDI 2018): bands of 25 in a score of 100.
 * Departure: what runs on a node is read from its GPUs, so all shares count as alike, whatever their size.  For a
 * member without GPUs all nodes are equal, and it takes the lowest.
 * Cost: one score for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { BANDS_LEAST = 25, GPU_BITS = 11, KIND_SHARE = 0 };

struct kinds {
    bool has_same, has_other;
};

/* How many GPUs of the node belong to the owner of this one. */
static uint32_t gpus_with(const struct ledger *ledger, gpu_id first, uint32_t count, gpu_id gpu)
{
    uint32_t gpus = 0;
    for (uint32_t g = 0; g < count; g++)
        gpus += ledger->owner[first + g] == ledger->owner[gpu];
    return gpus;
}

static struct kinds kinds_on(const struct spot *spot, uint32_t kind)
{
    const struct ledger *ledger = spot->ledger;
    const gpu_id first = ledger->cluster->nodes[spot->node].first_gpu;
    const uint32_t count = cluster_node_gpus(ledger->cluster, spot->node);
    struct kinds kinds = {false, false};
    for (gpu_id g = first; g < first + count; g++) {
        if (ledger->gpus[g].free == GPU_MILLI)
            continue;
        const uint32_t own = ledger->owner[g] == OWNER_NONE ? KIND_SHARE : gpus_with(ledger, first, count, g);
        kinds.has_same |= own == kind;
        kinds.has_other |= own != kind;
    }
    return kinds;
}

static int64_t score(const struct spot *spot)
{
    if (spot->milli == 0 && spot->gpus == 0)
        return 0;
    const struct kinds kinds = kinds_on(spot, spot->milli != 0 ? KIND_SHARE : (uint32_t)spot->gpus);
    const int64_t band = kinds.has_same && !kinds.has_other ? 3 : kinds.has_same ? 2 : !kinds.has_other ? 1 : 0;
    const int64_t most = placement_largest_node(spot->ledger->cluster).gpu_milli;
    const int64_t full = most == 0 ? 0 : BANDS_LEAST * (most - placement_free_milli(spot)) / most;
    return (band * (BANDS_LEAST + 1) + full) * (1 << GPU_BITS) - spot->gpu_left;
}

const struct placement_policy placement_gpu_clustering = {
    .name = "gpu_clustering",
    .version = 2,
    .summary = "members that ask GPUs alike on the same nodes; odd sizes spoil fewer nodes, until "
               "most are mixed",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
};
