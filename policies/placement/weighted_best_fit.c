/* weighted_best_fit.  Takes the node with the least CPU and GPU left once the member is placed.  Both count as parts of
 * the cluster's largest node, with equal weight.  On the node it takes the GPU with the least left.  Unlike best_fit it
 * looks at CPUs, and at the free space of shared GPUs.
 * Works if CPUs are scarce beside GPUs.  Packs jobs close, and leaves small unusable shares if requests are of odd
 * sizes.
 * Source: the best fit of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023): 100 * (1 - left
 * of CPU / 2 - left of GPU / 2), cut to an integer; ties to the lowest node.  (There the score is normalised,
 * which does not change the order.)
 * Cost: one score for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { SCORE_MAX = 100, GPU_BITS = 11 };

static int64_t score(const struct spot *spot)
{
    const struct node_cell *cell = &spot->ledger->nodes[spot->node];
    const struct node_size most = placement_largest_node(spot->ledger->cluster);
    const int64_t cpu_left = (int64_t)cell->cpu_free - spot->request->cpu_milli;
    const int64_t gpu_left = placement_free_milli(spot) - placement_asked_milli(spot);
    /* SCORE_MAX * (1 - cpu_left / most / 2 - gpu_left / most / 2), exactly, cut */
    const int64_t whole = 2 * most.cpu_milli * most.gpu_milli;
    const int64_t left = cpu_left * most.gpu_milli + gpu_left * most.cpu_milli;
    const int64_t fit = whole == 0 ? 0 : SCORE_MAX * (whole - left) / whole;
    return (fit << GPU_BITS) - spot->gpu_left;
}

const struct placement_policy placement_weighted_best_fit = {
    .name = "weighted_best_fit",
    .version = 1,
    .summary = "the node with least CPU and GPU left, half and half; for clusters short of CPUs, "
               "leaves slivers when requests are odd",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
};
