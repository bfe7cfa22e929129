/* dot_product.  Takes the node whose vector of free CPUs and GPUs has the smallest dot product with the request: the
 * node is short already of what the member asks most, and nodes with much of it stay free.
 * Works a little better than random; the score mixes how full a node is with how balanced its free space is.
 * Source: Panigrahy et al., "Heuristics for Vector Bin Packing" (2011), in the form of the experiments in Weng et al.,
 * "Beware of Fragmentation" (USENIX ATC 2023): 100 * (1 - (v . w) / 2), v what is free and w what is asked, as parts
 * of the largest node; ties to the lowest node.  On the node, the GPU with the least left.
 * Cost: one score for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { SCORE_MAX = 100, GPU_BITS = 11, DIMENSIONS = 2 };

static int64_t score(const struct spot *spot)
{
    const struct node_cell *cell = &spot->ledger->nodes[spot->node];
    const struct node_size most = placement_largest_node(spot->ledger->cluster);
    const double cpu =
        (double)cell->cpu_free * spot->request->cpu_milli / ((double)most.cpu_milli * (double)most.cpu_milli);
    const double gpu = (double)placement_free_milli(spot) * (double)placement_asked_milli(spot) /
                       ((double)most.gpu_milli * (double)most.gpu_milli);
    const int64_t fit = (int64_t)(SCORE_MAX * (1 - (cpu + gpu) / DIMENSIONS));
    return fit * (1 << GPU_BITS) - spot->gpu_left;
}

const struct placement_policy placement_dot_product = {
    .name = "dot_product",
    .version = 1,
    .summary = "the node whose free CPUs and GPUs point least where the request does; spares nodes "
               "with much of what is asked, packs loosely",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
};
