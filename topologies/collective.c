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
#define TREE_BASE_S         8.4e-6  /* NCCL, base latency of a tree, protocol Simple */
#define TREE_STEP_NVLINK_S  4.0e-6  /* NCCL, a tree's step over NVLink, Simple */
#define TREE_STEP_NETWORK_S 14e-6   /* NCCL, a tree's step over InfiniBand, Simple */
#define TREE_RATIO          0.92    /* NCCL: of the links' rate; NVIDIA/nccl#1801, 3 domains: 0.96 to 0.98 */
#define NVLS_BASE_S         35e-6   /* ml-engineering, 8 x H200, 32 KiB to 1 MiB: 39 to 46 us less the bytes' share */
#define NVLS_TREE_STEP_S    20.9e-6 /* NCCL, NVLS tree, a step over InfiniBand, up or down */
#define RAMP_S              2.83e-9 /* fit: ml-engineering, 8 x H200, 16 MiB to 1 GiB; CoreWeave, GB200, 72 GPUs */
#define RAMP_BYTES_MAX      0x1p29  /* CoreWeave, GB200: the start-up is the same from 512 MiB to 8 GiB */
#define NVLS_TREE_RATIO     0.94    /* fit: CoreWeave, 2 domains: 441 GB/s of 8 x H100, 690 of 8 x B200, 810 of NVL72 */
#define POINT_BASE_S        5e-6    /* assumed: about a step over the network */
#define POINT_NETWORK_RATIO 0.9     /* assumed: InfiniBand, 45 of 50 GB/s, somewhat below a ring's 48.3 */
#define POINT_RING_RATIO    1.016   /* NCCL: 18 links of 20.6 GB/s, 370, where a ring has 364 */
#define PCIE_BUS_RATIO      0.76    /* assumed: NCCL counts 12 of 15.75 GB/s of PCIe 3.0 x16 (recalled) */

/* Channels that the library opens, each of which leaves a domain by one NIC. */
#define CHANNELS_HOPPER    16 /* NVIDIA/nccl#1649: as many SMs by default; on Ampere taken to be the same */
#define CHANNELS_BLACKWELL 32 /* NCCL src/transport/nvls.cc: in several domains with SM100 */

#define PCIE_RING_BYTES_PER_S (PCIE_BUS_RATIO * (double)LINKS_PCIE_BYTES_PER_S)

/* The ring and NVLS rates are those of large buffers. */
static const struct collective_system systems[] = {
    {
        .name = "h100",
        .gpu_model = "h100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .links = LINKS_NVLINK4_NODE,
        .ring_bytes_per_s = 364e9,    /* ml-engineering, 8 x H200, NVLS off: 361 to 368 */
        .nvls_bytes_per_s = 310e9,    /* ml-engineering, 8 x H200: 482 at 16 GiB, 414 to 473 by 5 to 8 GPUs */
        .through_bytes_per_s = 386e9, /* CoreWeave, 64 x H100: the most that was seen over several nodes */
        .channels = CHANNELS_HOPPER,
        .nic_bytes_per_s = 50e9, /* DGX H100: a ConnectX-7 of 400 Gb/s for each GPU */
        .transport = transports,
    },
    {
        .name = "h200",
        .gpu_model = "h200-141gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .links = LINKS_NVLINK4_NODE,
        .ring_bytes_per_s = 364e9,    /* as h100: the same NVLink 4 */
        .nvls_bytes_per_s = 310e9,    /* as h100 */
        .through_bytes_per_s = 386e9, /* as h100 */
        .channels = CHANNELS_HOPPER,
        .nic_bytes_per_s = 50e9, /* DGX H200: 400 Gb/s for each GPU */
        .transport = transports,
    },
    {
        .name = "b200",
        .gpu_model = "b200-180gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .links = LINKS_NVLINK5_NODE,
        .ring_bytes_per_s = 728e9,    /* not measured: twice that of h100, as NVLink 5 is to NVLink 4 */
        .nvls_bytes_per_s = 547e9,    /* ml-engineering, one node of B200: 846 */
        .through_bytes_per_s = 728e9, /* not measured: the ring in a node */
        .channels = CHANNELS_BLACKWELL,
        .nic_bytes_per_s = 50e9, /* DGX B200: 400 Gb/s for each GPU */
        .transport = transports,
    },
    {
        .name = "nvl72",
        .gpu_model = "b200-180gb",
        .node_gpus = 4,
        .domain_gpus = 72,
        .has_nvlink = true,
        .links = LINKS_NVLINK5_RACK,
        .ring_bytes_per_s = 728e9,         /* as b200 */
        .nvls_bytes_per_s = 547e9,         /* as b200 */
        .nvls_bus_bytes_per_s_max = 859e9, /* CoreWeave, GB200 NVL72, 72 GPUs, from 512 MiB to 8 GiB */
        .through_bytes_per_s = 728e9,      /* not measured: the ring in a rack */
        .channels = CHANNELS_BLACKWELL,
        .nic_bytes_per_s = 50e9, /* GB200 NVL72: 400 Gb/s for each GPU */
        .transport = transports,
    },
    {
        .name = "a100",
        .gpu_model = "a100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .has_nvlink = true,
        .links = LINKS_NVLINK3_NODE,
        .ring_bytes_per_s = 243e9,    /* not measured: that of h100 as NVLink 3 is to NVLink 4, 300 to 450 */
        .through_bytes_per_s = 243e9, /* not measured: the ring in a node */
        .channels = CHANNELS_HOPPER,
        .nic_bytes_per_s = 25e9, /* DGX A100: a ConnectX-6 of 200 Gb/s for each GPU */
        .transport = transports,
    },
    {
        .name = "h100-pcie",
        .gpu_model = "h100-80gb",
        .node_gpus = 8,
        .domain_gpus = 8,
        .ring_bytes_per_s = PCIE_RING_BYTES_PER_S,
        .through_bytes_per_s = PCIE_RING_BYTES_PER_S,
        .channels = CHANNELS_HOPPER,
        .nic_bytes_per_s = 50e9, /* assumed: one of 400 Gb/s for each GPU */
        .transport = transports,
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

struct collective_system collective_system_over(const struct collective_system *system,
                                                const struct transport *transport)
{
    struct collective_system over = *system;
    over.transport = transport;
    over.nic_bytes_per_s = transport->nic_bytes_per_s;
    return over;
}

struct collective_system collective_system_scaled(const struct collective_system *system, double nvlink_ratio)
{
    struct collective_system scaled = *system;
    scaled.ring_bytes_per_s *= nvlink_ratio;
    scaled.nvls_bytes_per_s *= nvlink_ratio;
    scaled.nvls_bus_bytes_per_s_max *= nvlink_ratio;
    scaled.through_bytes_per_s *= nvlink_ratio;
    return scaled;
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

/* Of one GPU inside a domain, in a ring or a chain that goes on over the network. */
static double through_bytes_per_s(const struct collective_place *place)
{
    return place->is_pcie ? local_bytes_per_s(place) : place->system->through_bytes_per_s;
}

/* Of the NICs by which the channels leave the smallest domain. */
static double nics_bytes_per_s(const struct collective_place *place)
{
    const double nic = fmax(place->system->nic_bytes_per_s, place->network_bytes_per_s);
    return fmin(place->domain_gpus_least * place->network_bytes_per_s, place->system->channels * nic) *
           place->system->transport->rate_ratio;
}

static double ring_bytes_per_s(const struct collective_place *place)
{
    return place->domain_count == 1 ? local_bytes_per_s(place)
                                    : fmin(nics_bytes_per_s(place), through_bytes_per_s(place));
}

/* How often a byte of a buffer crosses a link of a ring. */
double collective_bus_factor(enum collective_kind kind, uint32_t gpu_count)
{
    const double n = gpu_count;
    if (kind == COLLECTIVE_POINT_TO_POINT)
        return n > 1;
    return (kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

/* How often a byte of a buffer leaves the domain that sends most in a pair of trees, each of which has half of the
 * bytes: a domain with one neighbour in a tree sends its half once, one with three neighbours three times, and no
 * domain has three in both. */
static double tree_factor(uint32_t domain_count)
{
    return domain_count == 2 ? 1 : domain_count == 3 ? 1.5 : 2;
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
    return start + RING_STEP_NVLINK_S * (steps - far_steps) + place->system->transport->step_s * far_steps +
           collective_bus_factor(kind, place->gpu_count) * bytes / ring_bytes_per_s(place);
}

/* How much longer a step over the network takes than over InfiniBand, whatever the protocol. */
static double later_s(const struct collective_place *place)
{
    return place->system->transport->step_s - transports[0].step_s;
}

static double tree_height(uint32_t domain_count)
{
    return 31 - __builtin_clz(domain_count); /* log2, cut */
}

/* A chain in each domain, through which all bytes go up and down, and two trees of the domains. */
static double tree_s(const struct collective_place *place, double bytes)
{
    const double chain = ceil((double)place->gpu_count / place->domain_count) - 1;
    const double far = tree_factor(place->domain_count) / nics_bytes_per_s(place);
    const double near = chain > 0 ? 2 / through_bytes_per_s(place) : 0;
    const double step_s = TREE_STEP_NETWORK_S + later_s(place);
    return TREE_BASE_S + 2 * (chain * TREE_STEP_NVLINK_S + tree_height(place->domain_count) * step_s) +
           bytes * fmax(far, near) / TREE_RATIO;
}

/* Bytes of a buffer per second that NVLS adds and hands back among this many GPUs, where each of them sends `shares` of
 * its own part of the bytes besides. */
static double nvls_bytes_per_s(const struct collective_system *system, uint32_t gpu_count, double shares)
{
    const double rate = system->nvls_bytes_per_s / (1 + shares / gpu_count);
    const double most = system->nvls_bus_bytes_per_s_max / collective_bus_factor(COLLECTIVE_ALL_REDUCE, gpu_count);
    return most > 0 ? fmin(rate, most) : rate;
}

static double nvls_s(const struct collective_place *place, double bytes)
{
    return NVLS_BASE_S + ramp_s(place->gpu_count, bytes) + bytes / nvls_bytes_per_s(place->system, place->gpu_count, 1);
}

/* NVLS in each domain; each GPU has a tree of the domains for its own part of the bytes. */
static double nvls_tree_s(const struct collective_place *place, double bytes)
{
    const double near = 1 / nvls_bytes_per_s(place->system, place->domain_gpus_least, 2);
    const double far = tree_factor(place->domain_count) / nics_bytes_per_s(place);
    return NVLS_BASE_S + 2 * tree_height(place->domain_count) * (NVLS_TREE_STEP_S + later_s(place)) +
           ramp_s(place->domain_gpus_least, bytes) + bytes * fmax(near, far) / NVLS_TREE_RATIO;
}

static double all_to_all_s(const struct collective_place *place, double bytes)
{
    const double n = place->gpu_count, most = ceil(n / place->domain_count);
    const struct transport *transport = place->system->transport;
    const double far_s =
        (n - place->domain_gpus_least) / n * bytes / (place->network_bytes_per_s * transport->rate_ratio);
    const double near_s = (most - 1) / n * bytes / local_bytes_per_s(place);
    const bool is_far = place->domain_count > 1;
    return RING_BASE_S + (is_far ? transport->step_s : RING_STEP_NVLINK_S) + fmax(is_far ? far_s : 0, near_s);
}

static double point_to_point_s(const struct collective_place *place, double bytes)
{
    if (place->domain_count == 1)
        return POINT_BASE_S + bytes / (POINT_RING_RATIO * local_bytes_per_s(place));
    const double ratio = POINT_NETWORK_RATIO * (place->system->transport->rate_ratio / transports[0].rate_ratio);
    return POINT_BASE_S + later_s(place) + bytes / (ratio * place->network_bytes_per_s);
}

static bool can_nvls(const struct collective_place *place)
{
    return place->has_nvls && !place->is_pcie && place->system->nvls_bytes_per_s > 0 &&
           place->domain_gpus_least >= COLLECTIVE_NVLS_GPUS_MIN;
}

double collective_algorithm_s(enum collective_kind kind, const struct collective_place *place, double bytes,
                              enum collective_algorithm algorithm)
{
    const bool is_far = place->domain_count > 1, is_sum = kind == COLLECTIVE_ALL_REDUCE;
    const bool is_direct = kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_POINT_TO_POINT;
    assert(bytes >= 0 && place->network_bytes_per_s > 0 && place->domain_count >= 1);
    assert(place->domain_count <= place->gpu_count);
    if (place->gpu_count == 1)
        return algorithm == COLLECTIVE_NOTHING ? 0 : INFINITY;
    if (algorithm == COLLECTIVE_DIRECT && is_direct)
        return kind == COLLECTIVE_ALL_TO_ALL ? all_to_all_s(place, bytes) : point_to_point_s(place, bytes);
    if (algorithm == COLLECTIVE_RING && !is_direct)
        return ring_s(kind, place, bytes);
    if (algorithm == COLLECTIVE_TREE && is_sum && is_far)
        return tree_s(place, bytes);
    if (algorithm == COLLECTIVE_NVLS && is_sum && !is_far && can_nvls(place))
        return nvls_s(place, bytes);
    if (algorithm == COLLECTIVE_NVLS_TREE && is_sum && is_far && can_nvls(place))
        return nvls_tree_s(place, bytes);
    return INFINITY;
}

struct collective_time collective_time(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    struct collective_time best = {INFINITY, COLLECTIVE_NOTHING};
    for (int a = 0; a < COLLECTIVE_ALGORITHM_COUNT; a++) {
        const double s = collective_algorithm_s(kind, place, bytes, (enum collective_algorithm)a);
        if (s < best.s)
            best = (struct collective_time){s, (enum collective_algorithm)a};
    }
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
    return time.s > 0 ? collective_bus_factor(kind, place->gpu_count) * bytes / time.s / 1e9 : 0;
}
