/* gpu_clustering.  Members that ask GPUs alike go to the same nodes: shares to nodes of shares, pairs to nodes of
 * pairs; to nodes where nothing else is first, then to mixed ones, then to idle ones, to nodes of others last; in each
 * of these bands to the node with least GPU left.
 * Odd sizes spoil fewer nodes; in a mixed cluster most nodes are mixed before long.
 * Source: the GPU clustering of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), after
 * Gandiva (Xiao et al., OSDI 2018): bands of 25 in a score of 100.
 * Departure: the GPUs of a node tell what runs there, so that all shares are alike, whatever their size.  A member
 * that asks no GPU is of no kind: all nodes are alike for it, and it takes the lowest.
 * Cost: a score once for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { BANDS_LEAST = 25, GPU_BITS = 11, KIND_SHARE = 0 };

struct kinds {
    bool has_same, has_other;
};

/* The number of GPUs of the node that belong to the job that has this one. */
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
