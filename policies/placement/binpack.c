/* binpack.  Packs as KAI-Scheduler does: the node with the least GPU left; space that is coming counts as left.
 * A share of a GPU goes first to GPUs that are shared already; among these to the node with the least left, then to the
 * GPU with the least left.  A whole GPU is used for a share only if no shared one fits.  Members without GPUs prefer
 * nodes without GPUs, then the node with the least CPU left.
 * best_fit differs: it counts wholly free GPUs only (a node with two free and one half used equals a node with two
 * free), and takes the fullest GPU of the cluster for a share, whatever its node.
 * Source: KAI-Scheduler, plugins nodeplacement (binpack, 9 * (1 - (free - min) / (max - min)) over fitting nodes: the
 * same order), gpusharingorder (band 1000 above it), gpupack, resourcetype (band 10).  Departures: no other bands, ties
 * to the lowest node; a MIG instance counts as a share.
 * Works as best_fit does, and keeps shares together; leaves small unusable shares if requests are of odd sizes.
 * Cost: O(nodes with as few free GPUs as the best) a member.  If these are many, or the member has no GPUs: one score
 * for each state of a node (policies/placement/by_node.h). */
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

/* node_left: milli of the node's GPUs that are free or coming. */
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

/* The node has at least its free whole GPUs left, or what is left of the GPU itself. */
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
