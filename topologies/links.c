/* The narrowest link of a gang; see topologies/links.h. */
#include "topologies/links.h"

#include <stdlib.h>

#include "topologies/cluster_build.h"

const char *const link_tier_names[] = {
    [LINK_NONE] = "",       [LINK_NVLINK] = "nvlink", [LINK_PCIE] = "pcie",     [LINK_LEAF] = "leaf",
    [LINK_SPINE] = "spine", [LINK_CORE] = "core",     [LINK_TIER_COUNT] = NULL,
};

static int compare_places(const void *a, const void *b)
{
    const struct link_place *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

uint32_t links_merge(struct link_place *places, uint32_t count)
{
    uint32_t kept = 0;
    if (count > 1)
        qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        if (places[i].gpu_mask == 0)
            continue;
        if (kept > 0 && places[kept - 1].node == places[i].node)
            places[kept - 1].gpu_mask |= places[i].gpu_mask;
        else
            places[kept++] = places[i];
    }
    return kept;
}

static const struct node_pool *pool_of(const struct cluster *cluster, node_id node)
{
    return &cluster->pools[cluster->nodes[node].pool];
}

bool links_is_one_island(const struct cluster *cluster, const struct link_place *place)
{
    const struct node_pool *pool = pool_of(cluster, place->node);
    const uint8_t island = pool->gpu_island[__builtin_ctz(place->gpu_mask)];
    for (uint32_t rest = place->gpu_mask; rest != 0; rest &= rest - 1)
        if (pool->gpu_island[__builtin_ctz(rest)] != island)
            return false;
    return island != NVLINK_NONE;
}

static bool is_one_domain(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!links_is_one_island(cluster, &places[i]) ||
            cluster->nodes[places[i].node].nvlink != cluster->nodes[places[0].node].nvlink)
            return false;
    return true;
}

static int64_t nvlink_rate(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    double least = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double own = cluster->models[cluster_node_type(cluster, places[i].node)->model].nvlink_bytes_per_s;
        least = i == 0 || own < least ? own : least;
    }
    return (int64_t)least;
}

uint32_t links_rail_nics(const struct cluster *cluster, const struct node_pool *pool, uint32_t rail)
{
    return pool->nic_count / cluster->fabric.rails + (rail < pool->nic_count % cluster->fabric.rails);
}

uint32_t links_rails(const struct cluster *cluster, const struct link_place *place)
{
    const struct node_pool *pool = pool_of(cluster, place->node);
    uint32_t rails = 0;
    for (uint32_t rest = place->gpu_mask; rest != 0; rest &= rest - 1)
        rails |= 1u << pool->gpu_rail[__builtin_ctz(rest)];
    return rails;
}

double links_nic_bytes_per_s(const struct cluster *cluster, const struct link_place *place)
{
    const struct fabric *fabric = &cluster->fabric;
    const struct node_pool *pool = pool_of(cluster, place->node);
    double least = fabric->rail_bytes_per_s;
    uint32_t users[NODE_GPUS_MAX] = {0};
    for (uint32_t rest = place->gpu_mask; rest != 0; rest &= rest - 1)
        users[pool->gpu_rail[__builtin_ctz(rest)]]++;
    for (uint32_t r = 0; r < NODE_GPUS_MAX; r++) {
        const uint32_t nics = links_rail_nics(cluster, pool, r);
        if (users[r] > nics && fabric->rail_bytes_per_s * nics / users[r] < least)
            least = fabric->rail_bytes_per_s * nics / users[r];
    }
    return least;
}

static struct link link_between_nodes(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    const struct fabric *fabric = &cluster->fabric;
    struct link link = {.tier = LINK_LEAF, .is_aligned = true};
    bool is_one_unit = true;
    double rate = LINKS_PCIE_BYTES_PER_S;
    for (uint32_t i = 0; i < count; i++) {
        const double own = links_nic_bytes_per_s(cluster, &places[i]);
        rate = own < rate ? own : rate;
        link.is_aligned &= links_rails(cluster, &places[i]) == links_rails(cluster, &places[0]);
        is_one_unit &= cluster->nodes[places[i].node].unit == cluster->nodes[places[0].node].unit;
    }
    if (!is_one_unit)
        link.tier = fabric->cores > 0 ? LINK_CORE : LINK_SPINE;
    else if (!link.is_aligned && fabric->spines > 0)
        link.tier = LINK_SPINE;
    if (link.tier != LINK_LEAF)
        rate /= fabric->leaf_oversubscription;
    if (link.tier == LINK_CORE)
        rate /= fabric->spine_oversubscription;
    link.bytes_per_s = (int64_t)rate;
    return link;
}

struct link links_narrowest(const struct cluster *cluster, struct link_place *places, uint32_t count)
{
    count = links_merge(places, count);
    if (count == 0 || (count == 1 && (places[0].gpu_mask & (places[0].gpu_mask - 1)) == 0))
        return (struct link){.tier = LINK_NONE, .is_aligned = true};
    if (is_one_domain(cluster, places, count))
        return (struct link){
            .tier = LINK_NVLINK, .is_aligned = true, .bytes_per_s = nvlink_rate(cluster, places, count)};
    if (count == 1)
        return (struct link){.tier = LINK_PCIE, .is_aligned = true, .bytes_per_s = LINKS_PCIE_BYTES_PER_S};
    return link_between_nodes(cluster, places, count);
}
