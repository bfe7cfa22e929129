/* topologies/collective.c -- times of collectives, from constants that were measured.
 *
 * Sources, short: NCCL: NVIDIA/nccl src/graph/tuning.cc and topo.h.  ml-engineering: stas00/ml-engineering,
 * network/README.md, tables of 8 x H200 and of B200.  CoreWeave: coreweave/nccl-tests README, 64 x H100 and GB200.
 */
#include "topologies/collective.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

const char *const collective_kind_names[COLLECTIVE_KIND_COUNT + 1] = {"all-reduce", "all-gather",     "reduce-scatter",
                                                                      "all-to-all", "point-to-point", NULL};
const char *const collective_algorithm_names[COLLECTIVE_ALGORITHM_COUNT + 1] = {"none", "direct",    "ring", "tree",
                                                                                "NVLS", "NVLS tree", NULL};

#define RING_BASE_S         14e-6   /* NCCL, base latency of a ring, protocol LL128 */
#define RING_STEP_NVLINK_S  1.9e-6  /* NCCL, a ring's step over NVLink, LL128 */
#define RING_STEP_NETWORK_S 4.0e-6  /* NCCL, a ring's step over the network, LL128 */
#define TREE_BASE_S         8.4e-6  /* NCCL, base latency of a tree, protocol Simple */
#define TREE_STEP_NVLINK_S  4.0e-6  /* NCCL, a tree's step over NVLink, Simple */
#define TREE_STEP_NETWORK_S 14e-6   /* NCCL, a tree's step over the network, Simple */
#define TREE_OF_RING        0.92    /* of a ring's bandwidth; NCCL, but recalled, not checked there */
#define NVLS_BASE_S         35e-6   /* ml-engineering, 8 x H200, 32 KiB to 1 MiB: 39 to 46 us less the bytes' share */
#define NVLS_TREE_STEP_S    20.9e-6 /* NCCL, NVLS tree, a step over the network */
#define RAMP_S              2.83e-9 /* fit: ml-engineering, 8 x H200, 16 MiB to 1 GiB; CoreWeave, GB200, 72 GPUs */
#define RAMP_BYTES_MAX      0x1p29  /* CoreWeave, GB200: the start-up is the same from 512 MiB to 8 GiB */
#define NVLS_TREE_OF_NVLS   0.84    /* NVIDIA/nccl#1221: 2 nodes of 8 x H100: 430 GB/s, NVLS alone would give 510 */
#define NETWORK_RATIO       0.966   /* CoreWeave, 64 x H100, 8 GiB: 386 GB/s of 8 NICs of 50; NVIDIA/nccl: 46 to 48 */
#define POINT_BASE_S        5e-6    /* assumed: about a step over the network */
#define POINT_NETWORK_RATIO 0.9     /* assumed: 45 of 50 GB/s, somewhat below a ring's 48.3 */
#define POINT_RING_RATIO    1.016   /* NCCL: 18 links of 20.6 GB/s, 370, where a ring has 364 */
#define PCIE_BUS_RATIO      0.76    /* assumed: NCCL counts 12 of 15.75 GB/s of PCIe 3.0 x16 (recalled) */

#define PCIE_RING_BYTES_PER_S (PCIE_BUS_RATIO * (double)LINKS_PCIE_BYTES_PER_S)

/* The ring and NVLS rates are those of large buffers. */
static const struct collective_system systems[] = {
    {
        .name = "h100",
        .gpu_model = "h100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .ring_bytes_per_s = 364e9, /* ml-engineering, 8 x H200, NVLS off: 361 to 368 */
        .nvls_bytes_per_s = 310e9, /* ml-engineering, 8 x H200: 482 at 16 GiB, 414 to 473 by 5 to 8 GPUs */
        .domain_network_bytes_per_s_max = 386e9, /* CoreWeave, 64 x H100: the most that was seen over several nodes */
        .nic_bytes_per_s = 50e9,                 /* DGX H100: a ConnectX-7 of 400 Gb/s for each GPU */
    },
    {
        .name = "h200",
        .gpu_model = "h200-141gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .ring_bytes_per_s = 364e9,               /* as h100: the same NVLink 4 */
        .nvls_bytes_per_s = 310e9,               /* as h100 */
        .domain_network_bytes_per_s_max = 386e9, /* as h100 */
        .nic_bytes_per_s = 50e9,                 /* DGX H200: 400 Gb/s for each GPU */
    },
    {
        .name = "b200",
        .gpu_model = "b200-180gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .ring_bytes_per_s = 728e9,               /* not measured: twice that of h100, as NVLink 5 is to NVLink 4 */
        .nvls_bytes_per_s = 547e9,               /* ml-engineering, one node of B200: 846 */
        .domain_network_bytes_per_s_max = 728e9, /* not measured: the ring in a node */
        .nic_bytes_per_s = 50e9,                 /* DGX B200: 400 Gb/s for each GPU */
    },
    {
        .name = "nvl72",
        .gpu_model = "b200-180gb",
        .node_gpus = 4,
        .domain_gpus = 72,
        .has_nvlink = true,
        .ring_bytes_per_s = 728e9,               /* as b200 */
        .nvls_bytes_per_s = 547e9,               /* as b200 */
        .nvls_bus_bytes_per_s_max = 859e9,       /* CoreWeave, GB200 NVL72, 72 GPUs, from 512 MiB to 8 GiB */
        .domain_network_bytes_per_s_max = 859e9, /* as in one rack; CoreWeave, 2 racks: 810 at 16 GiB */
        .nic_bytes_per_s = 50e9,                 /* GB200 NVL72: 400 Gb/s for each GPU */
    },
    {
        .name = "a100",
        .gpu_model = "a100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .ring_bytes_per_s = 243e9,               /* not measured: that of h100 as NVLink 3 is to NVLink 4, 300 to 450 */
        .domain_network_bytes_per_s_max = 243e9, /* not measured: the ring in a node */
        .nic_bytes_per_s = 25e9,                 /* DGX A100: a ConnectX-6 of 200 Gb/s for each GPU */
    },
    {
        .name = "h100-pcie",
        .gpu_model = "h100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .ring_bytes_per_s = PCIE_RING_BYTES_PER_S,
        .domain_network_bytes_per_s_max = PCIE_RING_BYTES_PER_S,
        .nic_bytes_per_s = 50e9, /* assumed: one of 400 Gb/s for each GPU */
    },
};

const struct collective_system *collective_system_table(uint32_t *count)
{
    *count = sizeof systems / sizeof *systems;
    return systems;
}

const struct collective_system *collective_system_find(struct text name)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (text_is(name, systems[i].name))
            return &systems[i];
    return NULL;
}

/* ---- places ---- */

struct collective_place collective_place_even(const struct collective_system *system, uint32_t domains, uint32_t gpus,
                                              double network_bytes_per_s)
{
    assert(domains >= 1 && gpus >= 1 && network_bytes_per_s > 0);
    return (struct collective_place){.system = system,
                                     .gpu_count = domains * gpus,
                                     .domain_count = domains,
                                     .domain_gpus_least = gpus,
                                     .network_bytes_per_s = network_bytes_per_s,
                                     .is_pcie = !system->has_nvlink,
                                     .has_nvls = true};
}

struct collective_place collective_place_packed(const struct collective_system *system, uint32_t gpus,
                                                uint32_t domain_gpus_max, double network_bytes_per_s)
{
    assert(gpus >= 1 && domain_gpus_max >= 1);
    const uint32_t domains = (gpus - 1) / domain_gpus_max + 1;
    struct collective_place place = collective_place_even(system, domains, gpus / domains, network_bytes_per_s);
    place.gpu_count = gpus;
    return place;
}

double collective_network_bytes_per_s(double nic_bytes_per_s, enum link_tier tier, double leaf_oversubscription,
                                      double spine_oversubscription)
{
    assert(leaf_oversubscription >= 1 && spine_oversubscription >= 1);
    if (tier == LINK_SPINE || tier == LINK_CORE)
        nic_bytes_per_s /= leaf_oversubscription;
    return tier == LINK_CORE ? nic_bytes_per_s / spine_oversubscription : nic_bytes_per_s;
}

/* ---- bandwidth ---- */

/* Inside a domain, of one GPU in a ring. */
static double local_bytes_per_s(const struct collective_place *place)
{
    return place->is_pcie ? fmin(PCIE_RING_BYTES_PER_S, place->system->ring_bytes_per_s)
                          : place->system->ring_bytes_per_s;
}

/* Of all NICs that the members of the smallest domain have. */
static double nics_bytes_per_s(const struct collective_place *place)
{
    return place->domain_gpus_least * place->network_bytes_per_s * NETWORK_RATIO;
}

static double ring_bytes_per_s(const struct collective_place *place)
{
    if (place->domain_count == 1)
        return local_bytes_per_s(place);
    const double most = place->is_pcie ? local_bytes_per_s(place) : place->system->domain_network_bytes_per_s_max;
    return fmin(nics_bytes_per_s(place), most);
}

/* How often a byte of a buffer crosses a link of a ring. */
static double bus_factor(enum collective_kind kind, uint32_t gpu_count)
{
    const double n = gpu_count;
    if (kind == COLLECTIVE_POINT_TO_POINT)
        return n > 1;
    return (kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

/* ---- algorithms ---- */

/* Pieces that fill the pipeline of a domain: with the best size of them it takes sqrt(members x bytes). */
static double ramp_s(uint32_t gpu_count, double bytes)
{
    return RAMP_S * sqrt(gpu_count * fmin(bytes, RAMP_BYTES_MAX));
}

/* Beyond a domain the start-up is not seen in what was measured. */
static double ring_s(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    const double rounds = kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    const double steps = rounds * (place->gpu_count - 1.0), far_steps = rounds * (place->domain_count - 1.0);
    const double start = RING_BASE_S + (place->domain_count == 1 ? ramp_s(place->gpu_count, bytes) : 0);
    return start + RING_STEP_NVLINK_S * (steps - far_steps) + RING_STEP_NETWORK_S * far_steps +
           bus_factor(kind, place->gpu_count) * bytes / ring_bytes_per_s(place);
}

/* A chain in each domain, and a tree of the domains; up and down. */
static double tree_s(const struct collective_place *place, double bytes)
{
    const double chain = ceil((double)place->gpu_count / place->domain_count) - 1;
    const double height = 31 - __builtin_clz(place->domain_count); /* log2, cut */
    return TREE_BASE_S + 2 * (chain * TREE_STEP_NVLINK_S + height * TREE_STEP_NETWORK_S) +
           2 * bytes / (TREE_OF_RING * ring_bytes_per_s(place));
}

/* Bytes of a buffer per second that NVLS adds and hands back among this many GPUs. */
static double nvls_bytes_per_s(const struct collective_system *system, uint32_t gpu_count)
{
    const double rate = system->nvls_bytes_per_s / (1 + 1.0 / gpu_count);
    const double most = system->nvls_bus_bytes_per_s_max / bus_factor(COLLECTIVE_ALL_REDUCE, gpu_count);
    return most > 0 ? fmin(rate, most) : rate;
}

static double nvls_s(const struct collective_place *place, double bytes)
{
    return NVLS_BASE_S + ramp_s(place->gpu_count, bytes) + bytes / nvls_bytes_per_s(place->system, place->gpu_count);
}

/* Two domains swap their sums: each sends S once. */
static double nvls_tree_s(const struct collective_place *place, double bytes)
{
    const double local = NVLS_TREE_OF_NVLS * nvls_bytes_per_s(place->system, place->domain_gpus_least);
    return NVLS_BASE_S + NVLS_TREE_STEP_S + ramp_s(place->domain_gpus_least, bytes) +
           bytes / fmin(local, nics_bytes_per_s(place));
}

static double all_to_all_s(const struct collective_place *place, double bytes)
{
    const double n = place->gpu_count, most = ceil(n / place->domain_count);
    const double far_s = (n - place->domain_gpus_least) / n * bytes / (place->network_bytes_per_s * NETWORK_RATIO);
    const double near_s = (most - 1) / n * bytes / local_bytes_per_s(place);
    const bool is_far = place->domain_count > 1;
    return RING_BASE_S + (is_far ? RING_STEP_NETWORK_S : RING_STEP_NVLINK_S) + fmax(is_far ? far_s : 0, near_s);
}

static double point_to_point_s(const struct collective_place *place, double bytes)
{
    const double rate = place->domain_count > 1 ? POINT_NETWORK_RATIO * place->network_bytes_per_s
                                                : POINT_RING_RATIO * local_bytes_per_s(place);
    return POINT_BASE_S + bytes / rate;
}

static void take_faster(struct collective_time *best, double s, enum collective_algorithm algorithm)
{
    if (s < best->s)
        *best = (struct collective_time){s, algorithm};
}

static bool can_nvls(const struct collective_place *place)
{
    return place->has_nvls && !place->is_pcie && place->system->nvls_bytes_per_s > 0 &&
           place->domain_gpus_least >= COLLECTIVE_NVLS_GPUS_MIN;
}

struct collective_time collective_time(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    assert(bytes >= 0 && place->network_bytes_per_s > 0 && place->domain_count >= 1);
    assert(place->domain_count <= place->gpu_count);
    if (place->gpu_count == 1)
        return (struct collective_time){0, COLLECTIVE_NOTHING};
    if (kind == COLLECTIVE_ALL_TO_ALL)
        return (struct collective_time){all_to_all_s(place, bytes), COLLECTIVE_DIRECT};
    if (kind == COLLECTIVE_POINT_TO_POINT)
        return (struct collective_time){point_to_point_s(place, bytes), COLLECTIVE_DIRECT};
    struct collective_time best = {ring_s(kind, place, bytes), COLLECTIVE_RING};
    if (kind != COLLECTIVE_ALL_REDUCE)
        return best;
    if (place->domain_count > 1)
        take_faster(&best, tree_s(place, bytes), COLLECTIVE_TREE);
    if (place->domain_count == 1 && can_nvls(place))
        take_faster(&best, nvls_s(place, bytes), COLLECTIVE_NVLS);
    if (place->domain_count == 2 && can_nvls(place))
        take_faster(&best, nvls_tree_s(place, bytes), COLLECTIVE_NVLS_TREE);
    return best;
}

double collective_group_s(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    const double s = collective_time(kind, place, bytes).s;
    if (place->domain_count == 1 || place->gpu_count > place->system->domain_gpus)
        return s;
    struct collective_place near = *place;
    near.domain_count = 1;
    near.domain_gpus_least = place->gpu_count;
    return fmax(s, collective_time(kind, &near, bytes).s);
}

double collective_bus_gb_per_s(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    const struct collective_time time = collective_time(kind, place, bytes);
    return time.s > 0 ? bus_factor(kind, place->gpu_count) * bytes / time.s / 1e9 : 0;
}
