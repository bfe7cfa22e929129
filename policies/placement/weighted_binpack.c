/* weighted_binpack.  Takes the node that is fullest once the member is placed: the mean, weighted by
 * "placement_weights", of the used part of each resource that the member asks.  On the node it takes the GPU with the
 * least left.  Unlike binpack it looks at CPU and memory; resources that the member does not ask do not count.  Works
 * if one resource is scarce and has a high weight; a resource of weight 0 may run out unnoticed.
 * Source: Volcano's binpack plug-in (github.com/volcano-sh/volcano, pkg/scheduler/plugins/binpack/binpack.go): sum of
 * weight * (used + requested) / allocatable over the resources requested, by the sum of their weights.  Departures: the
 * part of each resource is cut to whole millionths; ties go to the lowest node; MIG instances and GPU memory count as
 * shares.
 * Cost: one score for each state of a node (policies/placement/by_node.h). */
#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"

enum { SCORE_MAX = 1000000, GPU_BITS = 11 };

struct mean {
    int64_t sum, weight;
};

static void add(struct mean *mean, int64_t weight, int64_t asked, int64_t free, int64_t capacity)
{
    if (asked == 0 || capacity == 0)
        return;
    mean->sum += weight * SCORE_MAX * (capacity - free + asked) / capacity;
    mean->weight += weight;
}

static int64_t score(const struct spot *spot)
{
    const struct ledger *ledger = spot->ledger;
    const struct node_type *type = cluster_node_type(ledger->cluster, spot->node);
    const struct node_cell *cell = &ledger->nodes[spot->node];
    const struct placement_weights weights =
        ledger->placement != NULL ? ledger->placement->weights : placement_config_default().weights;
    struct mean mean = {0, 0};
    add(&mean, weights.gpu, placement_asked_milli(spot), placement_free_milli(spot),
        (int64_t)type->gpu_count * GPU_MILLI);
    add(&mean, weights.cpu, spot->request->cpu_milli, cell->cpu_free, type->cpu_milli);
    add(&mean, weights.memory, spot->request->memory_mib, cell->memory_free, type->memory_mib);
    const int64_t fullness = mean.weight == 0 ? 0 : mean.sum / mean.weight;
    return (fullness << GPU_BITS) - spot->gpu_left;
}

const struct placement_policy placement_weighted_binpack = {
    .name = "weighted_binpack",
    .version = 1,
    .summary = "the node fullest in what is asked, resources weighed by placement_weights (Volcano); "
               "what is weighed 0 may run out unseen",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
};
