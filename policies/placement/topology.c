/* topology.  Weighs two goals: tight packing (the fullest node with room) and clean units (a unit in use already, so
 * that empty units stay empty for gangs).
 *
 *   score = (1000 - w) * tight + w * broken,   w: "weight" of "topology", 0..1000, by default 500
 *   tight: thousandths of the node's GPUs in use, with the member; broken: 1000 if a GPU of the unit is in use, else 0
 *
 * At weight 0 it packs as weighted_binpack on GPUs alone; at 1000 it takes the lowest node of the first unit in use.
 * Members without GPUs take the lowest node.  Members placed before count, so the members of a job go to the same unit.
 * Works if gangs wait for whole units.  If no job asks for units, it breaks up whole nodes for nothing.
 * Source: the trade between packing and locality of HiveD (Zhao et al., OSDI 2020: cells are broken only if no broken
 * one will do) and of Slurm's topology/block (blocks in use first).  Departure: one level, one weight.
 * Cost: a look at each node that could win, and at the nodes of its unit until one is in use. */
#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"

enum { PER_MILLE = 1000 };

static bool is_used(const struct ledger *ledger, node_id node)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    for (uint32_t g = 0; g < type->gpu_count; g++)
        if (gpus[g].free != GPU_MILLI)
            return true;
    return false;
}

/* Is a GPU of the node's unit in use?  The nodes of a unit have consecutive numbers. */
static bool is_broken(const struct ledger *ledger, node_id node)
{
    const struct cluster *cluster = ledger->cluster;
    const uint32_t unit = cluster->nodes[node].unit;
    for (node_id n = node; n < cluster->node_count && cluster->nodes[n].unit == unit; n++)
        if (is_used(ledger, n))
            return true;
    for (node_id n = node; n > 0 && cluster->nodes[n - 1].unit == unit; n--)
        if (is_used(ledger, n - 1))
            return true;
    return false;
}

static int64_t weight_of(const struct spot *spot)
{
    const struct placement_config *config = spot->ledger->placement;
    return config != NULL ? config->topology.weight : placement_config_default().topology.weight;
}

static int64_t weigh(const struct spot *spot, int64_t free, int64_t broken)
{
    const int64_t gpus = spot->ledger->cluster->types[spot->type].gpu_count;
    const int64_t asked = placement_asked_milli(spot), weight = weight_of(spot);
    if (asked == 0 || gpus == 0)
        return 0;
    const int64_t tight = (gpus * GPU_MILLI - free + asked) / gpus; /* of GPU_MILLI, thousandths */
    return (PER_MILLE - weight) * tight + weight * broken;
}

static int64_t score(const struct spot *spot)
{
    const int64_t broken = weight_of(spot) > 0 && is_broken(spot->ledger, spot->node) ? PER_MILLE : 0;
    return weigh(spot, placement_free_milli(spot), broken);
}

/* The node has at least its free whole GPUs free, or what is left of the one GPU. */
static int64_t bound(const struct spot *spot)
{
    return weigh(spot, spot->node_free >= 0 ? (int64_t)spot->node_free * GPU_MILLI : spot->gpu_left, PER_MILLE);
}

const struct placement_policy placement_topology = {
    .name = "topology",
    .version = 1,
    .summary = "the fullest node in a unit that is in use already, weighed by topology.weight; keeps "
               "empty units for gangs, and breaks nodes to spare them where nobody asks units",
    .score = score,
    .looks_at_nodes = true,
    .bound = bound,
};
