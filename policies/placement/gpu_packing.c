/* gpu_packing.  A share goes to a GPU that is shared already, the fullest first by tenths of a GPU.  If there is none,
 * it goes where whole GPUs go: to a node in use, the one with the fewest free GPUs first, and to an idle node last, the
 * one with the fewest GPUs first.  Keeps idle nodes idle.  It looks only at GPUs, so CPUs may run out beside them.
 * Source: the GPU packing of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), after what
 * clusters do in production: three bands of a score, ties to the lowest node.
 * Cost: one score for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { BAND = 1 << 12, STEP = GPU_MILLI / 10 };

static int64_t score(const struct spot *spot)
{
    const struct node_type *type = cluster_node_type(spot->ledger->cluster, spot->node);
    const int64_t free = spot->ledger->index->free_count[spot->node];
    if (spot->milli == 0 && spot->gpus == 0)
        return 0; /* it looks only at GPUs */
    if (spot->milli != 0 && spot->gpu_left < GPU_MILLI)
        return 2 * BAND - spot->gpu_left / STEP;
    if (free == type->gpu_count)
        return -(int64_t)type->gpu_count;
    return BAND - free;
}

const struct placement_policy placement_gpu_packing = {
    .name = "gpu_packing",
    .version = 1,
    .summary = "shares on shared GPUs, then nodes in use, idle nodes last; keeps idle nodes idle, "
               "looks at no CPUs",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
};
