/* topologies/gang_fabric.c -- the links of the fabric that jobs share; see topologies/gang_place.h.
 *
 * Numbers: first the NICs, by pool (only pools with fewer NICs of a rail than GPUs on it), node and rail; then the
 * uplinks of leaves by unit and rail; then those of spines by unit. */
#include <assert.h>
#include <stddef.h>

#include "topologies/gang_place.h"

static uint32_t rail_gpus(const struct cluster *cluster, const struct node_pool *pool, uint32_t rail)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < cluster->types[pool->type].gpu_count; g++)
        count += pool->gpu_rail[g] == rail;
    return count;
}

static bool is_narrow(const struct cluster *cluster, const struct node_pool *pool, uint32_t rail)
{
    return links_rail_nics(cluster, pool, rail) < rail_gpus(cluster, pool, rail);
}

static uint32_t nic_links(const struct cluster *cluster, const struct node_pool *pool)
{
    for (uint32_t r = 0; r < cluster->fabric.rails; r++)
        if (is_narrow(cluster, pool, r))
            return pool->node_count * cluster->fabric.rails;
    return 0;
}

static bool has_leaf_links(const struct cluster *cluster)
{
    return cluster->fabric.leaf_oversubscription > 1;
}

static bool has_spine_links(const struct cluster *cluster)
{
    return cluster->fabric.spine_oversubscription > 1 && cluster->fabric.cores > 0;
}

/* Where the numbers of each kind begin. */
struct numbering {
    uint32_t leaf, spine, end;
};

static struct numbering numbering_of(const struct cluster *cluster)
{
    const struct fabric *fabric = &cluster->fabric;
    struct numbering at = {0};
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        at.leaf += nic_links(cluster, &cluster->pools[p]);
    at.spine = at.leaf + (has_leaf_links(cluster) ? fabric->unit_count * fabric->rails : 0);
    at.end = at.spine + (has_spine_links(cluster) ? fabric->unit_count : 0);
    return at;
}

uint32_t fabric_link_count(const struct cluster *cluster)
{
    return numbering_of(cluster).end;
}

/* ---- rates ---- */

static double nics_bytes_per_s(const struct cluster *cluster, uint32_t link)
{
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const uint32_t own = nic_links(cluster, &cluster->pools[p]);
        if (link < own)
            return cluster->fabric.rail_bytes_per_s *
                   links_rail_nics(cluster, &cluster->pools[p], link % cluster->fabric.rails);
        link -= own;
    }
    assert(false);
    return 0;
}

/* NICs of the rail, or of all (rail: UINT32_MAX), on the node of the unit that has most. */
static uint32_t unit_nics(const struct cluster *cluster, uint32_t unit, uint32_t rail)
{
    uint32_t most = 1;
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        if (pool->node_count == 0 || cluster->nodes[pool->first].unit > unit ||
            cluster->nodes[pool->first + pool->node_count - 1].unit < unit)
            continue;
        const uint32_t nics = rail == UINT32_MAX ? pool->nic_count : links_rail_nics(cluster, pool, rail);
        most = nics > most ? nics : most;
    }
    return most;
}

/* Of a unit that has all its nodes. */
static double uplinks_bytes_per_s(const struct cluster *cluster, uint32_t unit, uint32_t rail)
{
    const struct fabric *fabric = &cluster->fabric;
    return fabric->nodes_per_unit * fabric->rail_bytes_per_s * unit_nics(cluster, unit, rail) /
           fabric->leaf_oversubscription;
}

static double link_bytes_per_s(const struct cluster *cluster, const struct numbering *at, uint32_t link)
{
    const uint32_t rails = cluster->fabric.rails;
    assert(link < at->end);
    if (link < at->leaf)
        return nics_bytes_per_s(cluster, link);
    if (link < at->spine)
        return uplinks_bytes_per_s(cluster, (link - at->leaf) / rails, (link - at->leaf) % rails);
    return uplinks_bytes_per_s(cluster, link - at->spine, UINT32_MAX) / cluster->fabric.spine_oversubscription;
}

double fabric_link_bytes_per_s(const struct cluster *cluster, uint32_t link)
{
    const struct numbering at = numbering_of(cluster);
    return link_bytes_per_s(cluster, &at, link);
}

/* ---- what a job uses ---- */

/* Links are either listed, or the least share of one is kept. */
struct sink {
    const struct cluster *cluster;
    struct numbering at;
    struct fabric_use *uses; /* NULL: not listed */
    uint32_t count;
    double share_least;
};

static void use(struct sink *sink, uint32_t link, uint32_t senders)
{
    if (sink->uses != NULL)
        sink->uses[sink->count] = (struct fabric_use){link, senders};
    else {
        const double share = link_bytes_per_s(sink->cluster, &sink->at, link) / senders;
        sink->share_least = share < sink->share_least ? share : sink->share_least;
    }
    sink->count++;
}

static void count_rails(const struct cluster *cluster, const struct link_place *place, uint32_t *senders)
{
    const struct node_pool *pool = &cluster->pools[cluster->nodes[place->node].pool];
    for (uint32_t rest = place->gpu_mask; rest != 0; rest &= rest - 1)
        senders[pool->gpu_rail[__builtin_ctz(rest)]]++;
}

static void use_nics(struct sink *sink, const struct link_place *places, uint32_t count)
{
    const struct cluster *cluster = sink->cluster;
    uint32_t first = 0, p = 0; /* the pool of the place, and its first link */
    for (uint32_t i = 0; i < count; i++) {
        for (; p < cluster->nodes[places[i].node].pool; p++)
            first += nic_links(cluster, &cluster->pools[p]);
        const struct node_pool *pool = &cluster->pools[p];
        uint32_t senders[NODE_GPUS_MAX] = {0};
        count_rails(cluster, &places[i], senders);
        for (uint32_t r = 0; r < cluster->fabric.rails && r < NODE_GPUS_MAX; r++)
            if (senders[r] > 0 && is_narrow(cluster, pool, r))
                use(sink, first + (places[i].node - pool->first) * cluster->fabric.rails + r, senders[r]);
    }
}

static uint32_t unit_at(const struct cluster *cluster, const struct link_place *place)
{
    return cluster->nodes[place->node].unit;
}

static void use_leaves(struct sink *sink, const struct link_place *places, uint32_t count, uint32_t first)
{
    const uint32_t rails = sink->cluster->fabric.rails;
    for (uint32_t i = 0; i < count;) {
        const uint32_t unit = unit_at(sink->cluster, &places[i]);
        uint32_t senders[NODE_GPUS_MAX] = {0};
        for (; i < count && unit_at(sink->cluster, &places[i]) == unit; i++)
            count_rails(sink->cluster, &places[i], senders);
        for (uint32_t r = 0; r < rails && r < NODE_GPUS_MAX; r++)
            if (senders[r] > 0)
                use(sink, first + unit * rails + r, senders[r]);
    }
}

static void use_spines(struct sink *sink, const struct link_place *places, uint32_t count, uint32_t first)
{
    for (uint32_t i = 0; i < count;) {
        const uint32_t unit = unit_at(sink->cluster, &places[i]);
        uint32_t senders = 0;
        for (; i < count && unit_at(sink->cluster, &places[i]) == unit; i++)
            senders += (uint32_t)__builtin_popcount(places[i].gpu_mask);
        use(sink, first + unit, senders);
    }
}

static bool is_aligned(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (links_rails(cluster, &places[i]) != links_rails(cluster, &places[0]))
            return false;
    return true;
}

static void use_links(struct sink *sink, const struct link_place *places, uint32_t count)
{
    const struct cluster *cluster = sink->cluster;
    if (count == 0 || cluster->nodes[places[0].node].nvlink == cluster->nodes[places[count - 1].node].nvlink)
        return;
    const struct numbering at = sink->at = numbering_of(cluster);
    const bool is_one_unit = unit_at(cluster, &places[0]) == unit_at(cluster, &places[count - 1]);
    if (at.leaf > 0)
        use_nics(sink, places, count);
    if (has_leaf_links(cluster) &&
        (!is_one_unit || (cluster->fabric.spines > 0 && !is_aligned(cluster, places, count))))
        use_leaves(sink, places, count, at.leaf);
    if (has_spine_links(cluster) && !is_one_unit)
        use_spines(sink, places, count, at.spine);
}

uint32_t fabric_uses_max(const struct cluster *cluster, uint32_t place_count)
{
    const struct numbering at = numbering_of(cluster);
    const uint32_t rails = cluster->fabric.rails;
    return place_count *
           ((at.leaf > 0 ? rails : 0) + (has_leaf_links(cluster) ? rails : 0) + (has_spine_links(cluster) ? 1 : 0));
}

uint32_t fabric_uses_of(const struct cluster *cluster, const struct link_place *places, uint32_t count,
                        struct fabric_use *uses)
{
    struct sink sink = {.cluster = cluster, .uses = uses};
    use_links(&sink, places, count);
    return sink.count;
}

double fabric_bytes_per_s_alone(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    struct sink sink = {.cluster = cluster, .share_least = cluster->fabric.rail_bytes_per_s};
    use_links(&sink, places, count);
    return sink.share_least;
}
