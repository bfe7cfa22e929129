/* binpack.  As KAI-Scheduler packs: the node with the least GPU left, what is being released counted as left.
 * A share of a GPU goes to a node with a fitting GPU that is shared already, then to the node with the least left, then
 * to the GPU that is used most; a whole GPU is broken only if there is none.  Members without GPUs prefer nodes
 * without GPUs, then the node with the least CPU left.
 * It is not best_fit: that one counts wholly free GPUs only (a node with two free and one half used equals a node with
 * two free), and takes the fullest GPU of all for a share, whatever its node.
 * Source: KAI-Scheduler, plugins nodeplacement (binpack, 9 * (1 - (free - min) / (max - min)) over fitting nodes: the
 * same order), gpusharingorder (band 1000 above it), gpupack, resourcetype (band 10).  Departures: no other bands, ties
 * to the lowest node; a MIG instance counts as a share.
 * Works as best_fit does, and keeps shares together; leaves slivers when requests are odd.
 * Cost: O(nodes with as few free GPUs as the best) a member; where these are many, and of members without GPUs, a score
 * once for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum {
    LEFT_BITS = 11,         /* milli of a GPU */
    NODE_BITS = 15,         /* milli of a node's GPUs */
    CPU_ONLY_NODE_BITS = 33 /* above the milli-CPUs of a node */
};

static bool is_share(const struct spot *spot)
{
    return spot->milli != 0;
}

/* node_left: milli of the node's GPUs that nobody holds or will hold. */
static int64_t gpu_score(const struct spot *spot, int64_t node_left)
{
    int64_t is_shared = is_share(spot) && spot->gpu_left < GPU_MILLI;
    return (is_shared << (LEFT_BITS + NODE_BITS)) - (node_left << LEFT_BITS) - spot->gpu_left;
}

static bool asks_gpu(const struct spot *spot)
{
    return spot->gpus != 0 || is_share(spot);
}

static int64_t cpu_score(const struct spot *spot, int64_t cpu_left)
{
    int64_t has_none = spot->ledger->cluster->types[spot->type].gpu_count == 0;
    return (has_none << CPU_ONLY_NODE_BITS) - cpu_left;
}

static int64_t score(const struct spot *spot)
{
    const struct ledger *ledger = spot->ledger;
    const struct node_cell *cell = &ledger->nodes[spot->node];
    if (!asks_gpu(spot))
        return cpu_score(spot, (int64_t)cell->cpu_free + cell->cpu_coming);
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[spot->node].first_gpu];
    int64_t left = 0;
    for (uint32_t i = 0; i < ledger->cluster->types[spot->type].gpu_count; i++)
        left += gpus[i].free + gpus[i].coming;
    return gpu_score(spot, left);
}

/* At least the free whole GPUs, or the GPU itself, are left of the node. */
static int64_t bound(const struct spot *spot)
{
    if (!asks_gpu(spot))
        return cpu_score(spot, 0);
    return gpu_score(spot, spot->node_free >= 0 ? (int64_t)spot->node_free * GPU_MILLI : spot->gpu_left);
}

const struct placement_policy placement_binpack = {
    .name = "binpack",
    .version = 1,
    .summary = "the node with the least GPU left, shares where GPUs are shared already (KAI); keeps "
               "whole nodes free, leaves slivers when requests are odd",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
    .bound = bound,
};
