/* least-allocated.  Spreads as kube-scheduler does by default: it takes the node with the largest free part of CPU and
 * memory once the member is placed.  least_allocated_gpus counts GPUs as a third resource.
 * Works for services that share nodes.  It leaves few whole nodes free, so gangs starve.  If the cluster file names no
 * CPUs and no memory, all nodes are equal and the first with room is taken.
 * Source: Kubernetes, NodeResourcesFit with LeastAllocated (pkg/scheduler/framework/plugins/noderesources/
 * least_allocated.go): mean over resources of (capacity - requested) * 100 / capacity, each cut to an integer, weights
 * 1; default resources cpu and memory.  Departures: the other score plugins are left out; ties go to the lowest
 * node, there to a random one; amounts a member does not ask count as 0, there as 100 m CPU and 200 MB.
 * Cost: O(nodes with room that are not of the highest score) a member; if these are many, one score for each state of a
 * node (policies/placement/by_node.h). */
#include "policies/placement/placements.h"

enum { SCORE_MAX = 100 };

static int64_t free_part(int64_t free, int64_t asked, int64_t capacity)
{
    return capacity == 0 ? 0 : (free - asked) * SCORE_MAX / capacity;
}

/* The score of a node with these free amounts of CPU and memory. */
static int64_t host_sum(const struct spot *spot, int64_t cpu_free, int64_t memory_free)
{
    const struct node_type *type = &spot->ledger->cluster->types[spot->type];
    return free_part(cpu_free, spot->request->cpu_milli, type->cpu_milli) +
           free_part(memory_free, spot->request->memory_mib, type->memory_mib);
}

static int64_t gpu_part(const struct spot *spot, int64_t gpu_free)
{
    const struct node_type *type = &spot->ledger->cluster->types[spot->type];
    return free_part(gpu_free, placement_asked_milli(spot), (int64_t)type->gpu_count * GPU_MILLI);
}

static int64_t score(const struct spot *spot)
{
    const struct node_cell *cell = &spot->ledger->nodes[spot->node];
    return host_sum(spot, cell->cpu_free, cell->memory_free) / 2;
}

static int64_t bound(const struct spot *spot)
{
    const struct node_type *type = &spot->ledger->cluster->types[spot->type];
    return host_sum(spot, type->cpu_milli, type->memory_mib) / 2;
}

static int64_t score_with_gpus(const struct spot *spot)
{
    const struct ledger *ledger = spot->ledger;
    const struct node_cell *cell = &ledger->nodes[spot->node];
    return (host_sum(spot, cell->cpu_free, cell->memory_free) + gpu_part(spot, placement_free_milli(spot))) / 3;
}

/* If no GPU of the type is used in part, the free GPU space of a node is that of its free GPUs. */
static int64_t bound_with_gpus(const struct spot *spot)
{
    const struct ledger *ledger = spot->ledger;
    const struct node_type *type = &ledger->cluster->types[spot->type];
    const bool is_whole = spot->node_free >= 0 && (type->layout_mask | type->recut_mask) == 0 &&
                          node_index_is_whole(ledger->index, spot->type);
    const int64_t gpus = is_whole ? spot->node_free : (int64_t)type->gpu_count;
    return (host_sum(spot, type->cpu_milli, type->memory_mib) + gpu_part(spot, gpus * GPU_MILLI)) / 3;
}

const struct placement_policy placement_least_allocated = {
    .name = "least_allocated",
    .version = 1,
    .summary = "the node with the most CPU and memory free (kube-scheduler); services share nodes "
               "evenly, but gangs starve as whole nodes vanish",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
    .bound = bound,
};

const struct placement_policy placement_least_allocated_gpus = {
    .name = "least_allocated_gpus",
    .version = 1,
    .summary = "least_allocated that counts GPUs beside CPU and memory; spreads GPU jobs, so that gangs "
               "starve",
    .score = score_with_gpus,
    .looks_at_nodes = true,
    .is_local = true,
    .bound = bound_with_gpus,
};
