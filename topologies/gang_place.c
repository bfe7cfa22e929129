/* topologies/gang_place.c -- where GPUs of a job stand, and the best place for as many. */
#include "topologies/gang_place.h"

#include <assert.h>

#include "topologies/cluster_build.h"
#include "topologies/divisor.h"

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t ratio_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static double lower(double a, double b)
{
    return a < b ? a : b;
}

/* ---- what connects the GPUs of a pool ---- */

static const struct node_type *type_of(const struct cluster *cluster, const struct node_pool *pool)
{
    return &cluster->types[pool->type];
}

static bool has_nvlink(const struct cluster *cluster, const struct node_pool *pool)
{
    const struct node_type *type = type_of(cluster, pool);
    return pool->gpu_island[0] != NVLINK_NONE && type->gpu_count > 0 &&
           cluster->models[type->model].nvlink_bytes_per_s > 0;
}

/* A row of that model, or of one with as fast an NVLink; with the same domain if there is one.  NULL: no row. */
static const struct collective_system *find_row(const struct gpu_model *model, uint32_t domain_gpus)
{
    const struct collective_system *best = NULL;
    uint32_t count, best_rank = 0;
    const struct collective_system *rows = collective_system_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t domain_rank = 2u * (rows[i].domain_gpus == domain_gpus);
        if (!rows[i].has_nvlink || 2 + domain_rank <= best_rank)
            continue; /* it cannot rank higher, whatever its model is */
        const struct gpu_model *own = gpu_model_find(text_of(rows[i].gpu_model));
        if (own == NULL)
            continue;
        const bool is_model = gpu_model_is(own, text_of(model->name));
        const bool is_as_fast = own->nvlink_bytes_per_s >= model->nvlink_bytes_per_s &&
                                own->nvlink_bytes_per_s <= model->nvlink_bytes_per_s;
        const uint32_t rank = is_model || is_as_fast ? 1 + domain_rank + is_model : 0;
        if (rank > best_rank) {
            best = &rows[i];
            best_rank = rank;
        }
    }
    return best;
}

/* The rates of h100, where NVLink is as much slower or faster.  NVLS came with NVLink 4. */
static struct collective_system scaled(const struct gpu_model *model)
{
    struct collective_system system = *collective_system_find(TEXT("h100"));
    const struct gpu_model *h100 = gpu_model_find(text_of(system.gpu_model));
    const double ratio = model->nvlink_bytes_per_s / h100->nvlink_bytes_per_s;
    system.name = system.gpu_model = model->name;
    system.links = LINKS_UNKNOWN;
    system.ring_bytes_per_s *= ratio;
    system.nvls_bytes_per_s = ratio >= 1 ? system.nvls_bytes_per_s * ratio : 0;
    system.through_bytes_per_s *= ratio;
    return system;
}

struct collective_system collective_system_of(const struct cluster *cluster, uint32_t pool)
{
    const struct node_pool *from = &cluster->pools[pool];
    const struct node_type *type = type_of(cluster, from);
    const struct gpu_model *model = &cluster->models[type->model];
    const uint32_t domain_gpus = type->gpu_count * from->nvlink_nodes;
    struct collective_system system;
    if (has_nvlink(cluster, from)) {
        const struct collective_system *row = find_row(model, domain_gpus);
        system = row != NULL ? *row : scaled(model);
    } else {
        system = *collective_system_find(TEXT("h100-pcie"));
        system.gpu_model = model->name;
    }
    system.node_gpus = type->gpu_count;
    system.domain_gpus = domain_gpus;
    system.nic_bytes_per_s = cluster->fabric.rail_bytes_per_s;
    system.transport = &cluster->transport;
    return collective_system_scaled(&system, cluster->fabric.nvlink_ratio);
}

/* ---- the place of given GPUs ---- */

static double link_bytes_per_s_least(const struct cluster *cluster, const struct link_place *places, uint32_t count)
{
    double least = LINKS_PCIE_BYTES_PER_S;
    for (uint32_t i = 0; i < count; i++)
        least = lower(least, links_nic_bytes_per_s(cluster, &places[i]));
    return least;
}

/* Count the domains; places of a domain follow each other. */
static void count_domains(const struct cluster *cluster, const struct link_place *places, uint32_t count,
                          struct gang_place *out)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t gpus = 0;
        const uint32_t domain = cluster->nodes[places[i].node].nvlink;
        for (; i < count && cluster->nodes[places[i].node].nvlink == domain; i++) {
            gpus += (uint32_t)__builtin_popcount(places[i].gpu_mask);
            out->is_pcie |= !links_is_one_island(cluster, &places[i]);
        }
        out->gpu_count += gpus;
        out->domain_gpus_least = out->domain_count == 0 ? gpus : lesser(out->domain_gpus_least, gpus);
        out->domain_gpus_gcd = common_divisor(gpus, out->domain_gpus_gcd);
        out->domain_count++;
    }
}

/* The slowest system of the pools, and the rate of the slowest GPU. */
static void find_system(const struct cluster *cluster, const struct link_place *places, uint32_t count,
                        struct gang_place *out)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t pool = cluster->nodes[places[i].node].pool;
        if (pool == last)
            continue;
        const struct collective_system system = collective_system_of(cluster, pool);
        const double tflops = cluster->models[cluster->types[cluster->pools[pool].type].model].bf16_tflops;
        if (last == UINT32_MAX || system.ring_bytes_per_s < out->system.ring_bytes_per_s)
            out->system = system;
        out->bf16_tflops = last == UINT32_MAX ? tflops : lower(tflops, out->bf16_tflops);
        last = pool;
    }
}

struct gang_place gang_place_of(const struct cluster *cluster, struct link_place *places, uint32_t *count)
{
    struct gang_place place = {.network_bytes_per_s = cluster->fabric.rail_bytes_per_s};
    *count = links_merge(places, *count);
    if (*count == 0)
        return place;
    find_system(cluster, places, *count, &place);
    count_domains(cluster, places, *count, &place);
    place.tier = links_narrowest(cluster, places, *count).tier;
    place.network_bytes_per_s =
        lower(link_bytes_per_s_least(cluster, places, *count), fabric_bytes_per_s_alone(cluster, places, *count));
    return place;
}

struct collective_place gang_place_all(const struct gang_place *place)
{
    assert(place->gpu_count > 0);
    return (struct collective_place){.system = &place->system,
                                     .gpu_count = place->gpu_count,
                                     .domain_count = place->domain_count,
                                     .domain_gpus_least = place->domain_gpus_least,
                                     .network_bytes_per_s = place->network_bytes_per_s,
                                     .is_pcie = place->is_pcie,
                                     .has_nvls = true};
}

/* ---- the best place ---- */

/* The most that each of `gpus` GPUs of a node, those of `mask`, can have of the NICs. */
static double nic_bytes_per_s_of(const struct cluster *cluster, const struct node_pool *pool, uint32_t mask,
                                 uint32_t gpus)
{
    uint32_t free[NODE_GPUS_MAX] = {0}, used[NODE_GPUS_MAX] = {0};
    double least = 1;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        free[pool->gpu_rail[__builtin_ctz(rest)]]++;
    for (; gpus > 0; gpus--) { /* take a GPU of the rail that then shares least */
        uint32_t best = 0;
        double best_share = -1;
        for (uint32_t r = 0; r < NODE_GPUS_MAX; r++) {
            const double share = (double)links_rail_nics(cluster, pool, r) / (used[r] + 1);
            if (used[r] < free[r] && share > best_share) {
                best = r;
                best_share = share;
            }
        }
        used[best]++;
        least = lower(least, best_share);
    }
    return lower(least * cluster->fabric.rail_bytes_per_s, LINKS_PCIE_BYTES_PER_S);
}

/* `gpus` GPUs of a node, in one island if it holds them. */
static double node_bytes_per_s(const struct cluster *cluster, const struct node_pool *pool, uint32_t gpus)
{
    const struct node_type *type = type_of(cluster, pool);
    const uint32_t all = (1u << type->gpu_count) - 1;
    if (gpus > type->island_gpus)
        return nic_bytes_per_s_of(cluster, pool, all, gpus);
    const uint32_t island = (1u << type->island_gpus) - 1;
    double most = 0;
    for (uint32_t first = 0; first < type->gpu_count; first += type->island_gpus) {
        const double own = nic_bytes_per_s_of(cluster, pool, island << first, gpus);
        most = own > most ? own : most;
    }
    return most;
}

/* The units that a pool has nodes in, or all pools of its type if it is too small. */
struct unit_room {
    uint32_t count;
    uint32_t nodes;      /* of a unit that has all its nodes */
    uint32_t last_nodes; /* of the unit that has the fewest */
};

static struct unit_room units_of(const struct cluster *cluster, const struct node_pool *pool, uint32_t node_count)
{
    const struct fabric *fabric = &cluster->fabric;
    uint32_t units = 0, nodes = 0;
    for (uint32_t i = 0; i < cluster->pool_count; i++) {
        const struct node_pool *other = &cluster->pools[i];
        if (other->node_count == 0 || (node_count <= pool->node_count ? other != pool : other->type != pool->type))
            continue;
        units += cluster->nodes[other->first + other->node_count - 1].unit - cluster->nodes[other->first].unit + 1;
        nodes += other->node_count;
    }
    const uint32_t each = lesser(fabric->nodes_per_unit, nodes), full = nodes / each;
    const bool is_regular = ratio_up(nodes, each) == units; /* all full but the last */
    return (struct unit_room){units, each, is_regular && nodes > full * each ? nodes - full * each : each};
}

struct room {
    const struct cluster *cluster;
    const struct node_pool *pool;
    uint32_t member_gpus, node_members, members;
    struct unit_room units;
};

static struct room room_of(const struct cluster *cluster, uint32_t pool, uint32_t gpu_count, uint32_t member_gpus)
{
    const struct node_pool *from = &cluster->pools[pool];
    const uint32_t node_gpus = type_of(cluster, from)->gpu_count;
    assert(gpu_count > 0 && member_gpus > 0 && member_gpus <= node_gpus);
    struct room room = {.cluster = cluster,
                        .pool = from,
                        .member_gpus = member_gpus,
                        .node_members = node_gpus / member_gpus,
                        .members = ratio_up(gpu_count, member_gpus)};
    room.units = units_of(cluster, from, ratio_up(room.members, room.node_members));
    return room;
}

/* Units that `domains` domains are in at most.  A domain may be in several. */
static uint32_t units_reached(const struct room *room, uint32_t domains)
{
    const uint32_t nodes = room->pool->nvlink_nodes, each = room->cluster->fabric.nodes_per_unit;
    const uint64_t span = each % nodes == 0 ? 1 : 1 + ratio_up(nodes - 1, each);
    return domains * span < room->units.count ? (uint32_t)(domains * span) : room->units.count;
}

/* Could one unit hold `domains` domains with all members? */
static bool fits_unit(const struct room *room, uint32_t domains)
{
    const uint32_t nodes = room->pool->nvlink_nodes, each = room->units.nodes;
    const bool is_regular = room->cluster->fabric.nodes_per_unit % nodes == 0;
    const uint32_t most = is_regular ? ratio_up(each, nodes) : ratio_up(each - 1, nodes) + 1;
    return domains <= most && room->members <= each * room->node_members;
}

/* Members of the job in the unit that has most of them, spread evenly. */
static uint32_t unit_members(const struct room *room, uint32_t domains)
{
    const uint32_t units = units_reached(room, domains), last = room->units.last_nodes * room->node_members;
    const uint32_t even = ratio_up(room->members, units);
    return units < room->units.count || units == 1 || even <= last ? even : ratio_up(room->members - last, units - 1);
}

static uint32_t rail_count(const struct room *room)
{
    const uint32_t all = (1u << type_of(room->cluster, room->pool)->gpu_count) - 1;
    uint32_t rails = 0;
    for (uint32_t rest = all; rest != 0; rest &= rest - 1)
        rails |= 1u << room->pool->gpu_rail[__builtin_ctz(rest)];
    return (uint32_t)__builtin_popcount(rails);
}

/* Of one GPU over the uplinks of its unit, where the unit with most members has that many. */
static double uplink_bytes_per_s(const struct room *room, uint32_t members)
{
    const struct fabric *fabric = &room->cluster->fabric;
    const uint32_t gpus = members * room->member_gpus, rails = rail_count(room);
    const uint32_t nics = ratio_up(room->pool->nic_count, fabric->rails);
    const double rail = fabric->nodes_per_unit * fabric->rail_bytes_per_s * nics / fabric->leaf_oversubscription;
    const double leaf = rail / ratio_up(gpus, rails);
    if (fabric->cores == 0 || fabric->spine_oversubscription <= 1)
        return fabric->leaf_oversubscription > 1 ? leaf : fabric->rail_bytes_per_s;
    const double unit = rail / nics * room->pool->nic_count / fabric->spine_oversubscription;
    return lower(fabric->leaf_oversubscription > 1 ? leaf : fabric->rail_bytes_per_s, unit / gpus);
}

/* Complete a place whose domains are told; domain_members: in the domain that has most. */
static struct gang_place complete(const struct room *room, uint32_t domain_members, struct gang_place place)
{
    const struct fabric *fabric = &room->cluster->fabric;
    const struct node_type *type = type_of(room->cluster, room->pool);
    const uint32_t node_gpus = ratio_up(domain_members, room->pool->nvlink_nodes) * room->member_gpus;
    place.system = collective_system_of(room->cluster, (uint32_t)(room->pool - room->cluster->pools));
    place.bf16_tflops = room->cluster->models[type->model].bf16_tflops;
    place.is_pcie = !has_nvlink(room->cluster, room->pool) || node_gpus > type->island_gpus;
    place.network_bytes_per_s = node_bytes_per_s(room->cluster, room->pool, node_gpus);
    if (place.domain_count == 1)
        place.tier = place.gpu_count == 1 ? LINK_NONE : place.is_pcie ? LINK_PCIE : LINK_NVLINK;
    else if (fits_unit(room, place.domain_count))
        place.tier = LINK_LEAF;
    else {
        place.tier = fabric->cores > 0 ? LINK_CORE : LINK_SPINE;
        place.network_bytes_per_s =
            lower(place.network_bytes_per_s, uplink_bytes_per_s(room, unit_members(room, place.domain_count)));
    }
    return place;
}

uint32_t gang_place_domain_gpus(const struct cluster *cluster, uint32_t pool, uint32_t member_gpus)
{
    const struct node_pool *from = &cluster->pools[pool];
    return type_of(cluster, from)->gpu_count / member_gpus * member_gpus * from->nvlink_nodes;
}

struct gang_place gang_place_even(const struct cluster *cluster, uint32_t pool, uint32_t gpu_count,
                                  uint32_t member_gpus, uint32_t group_gpus, uint32_t domain_groups)
{
    assert(group_gpus > 0 && group_gpus % member_gpus == 0 && domain_groups > 0);
    const struct room room = room_of(cluster, pool, gpu_count, member_gpus);
    const uint32_t groups = ratio_up(gpu_count, group_gpus), domains = ratio_up(groups, domain_groups);
    const uint32_t low = groups / domains * group_gpus, high = ratio_up(groups, domains) * group_gpus;
    struct gang_place place = {.gpu_count = gpu_count, .domain_count = domains};
    place.domain_gpus_least = lesser(low, gpu_count / domains);
    place.domain_gpus_gcd = domains == 1 ? gpu_count : common_divisor(gpu_count, common_divisor(low, high));
    return complete(&room, ratio_up(lesser(high, gpu_count), member_gpus), place);
}

struct gang_place gang_place_best(const struct cluster *cluster, uint32_t pool, uint32_t gpu_count,
                                  uint32_t member_gpus, bool fills)
{
    const uint32_t most = gang_place_domain_gpus(cluster, pool, member_gpus);
    if (!fills || gpu_count <= most)
        return gang_place_even(cluster, pool, gpu_count, member_gpus, member_gpus, most / member_gpus);
    const struct room room = room_of(cluster, pool, gpu_count, member_gpus);
    struct gang_place place = {.gpu_count = gpu_count, .domain_count = ratio_up(gpu_count, most)};
    place.domain_gpus_least = gpu_count - (place.domain_count - 1) * most;
    place.domain_gpus_gcd = common_divisor(most, place.domain_gpus_least);
    return complete(&room, most / member_gpus, place);
}
