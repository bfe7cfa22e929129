/* topologies/nccl_tuning.c -- NCCL's tuning model, from its constants.
 *
 * Source of each number without another: NVIDIA/nccl 2.28, src/graph/tuning.cc, tables of microseconds and of GB/s; the
 * names of the tables stand beside. */
#include "topologies/nccl_tuning.h"

#include <math.h>

const char *const nccl_protocol_names[NCCL_PROTOCOL_COUNT + 1] = {"LL", "LL128", "Simple", NULL};

enum { AMPERE, HOPPER, BLACKWELL, CHIP_COUNT };
enum { ONE, TWO, MORE, SCALE_COUNT }; /* domains */
enum { SIZES = 24 };                  /* of 64 bytes, doubled each time */

#define NIC_RATIO     0.96 /* src/graph/search.cc, speeds that are tried: 48 of 50 GB/s */
#define GB            1e9
#define US            1e-6
#define NET_POST_US   1.0 /* getNetOverhead, Intel; Simple posts three times */
#define PLATEAU       1.4 /* ncclTopoGetAlgoTime: latency of an all-reduce by a ring over several domains, Simple */
#define PLATEAU_BYTES 64  /* bytes of each channel and GPU from which PLATEAU applies */

/* baseLatencies */
static const double tree_base_us[NCCL_PROTOCOL_COUNT] = {6.8, 14.0, 8.4};
static const double ring_base_us[NCCL_PROTOCOL_COUNT] = {6.6, 14.0, 8.4};

/* hwLatencies: a step over NVLink and over the network */
static const double tree_near_us[NCCL_PROTOCOL_COUNT] = {0.6, 1.25, 4.0};
static const double tree_far_us[NCCL_PROTOCOL_COUNT] = {5.0, 8.5, 14.0};
static const double ring_near_us[NCCL_PROTOCOL_COUNT] = {0.6, 1.9, 3.4};
static const double ring_far_us[NCCL_PROTOCOL_COUNT] = {2.7, 4.0, 14.0};
static const double nvls_us = 25, nvls_tree_far_us = 20.9;

/* What NCCL's search finds in a domain: channels x the rate of each, as logs of NCCL_DEBUG=INFO show them.
 * src/graph/topo.h: a link of NVLink 3, 4 and 5 has 20, 20.6 and 40.1 GB/s; there are 12, 18 and 18. */
static const double near_gb_per_s[CHIP_COUNT] = {12 * 20, 24 * 15, 24 * 30};
static const double nvls_near_gb_per_s[CHIP_COUNT] = {0, 16 * 20, 16 * 40};
static const double near_channels[CHIP_COUNT] = {12, 24, 24};
static const double nvls_channels[CHIP_COUNT] = {0, 16, 24}; /* src/transport/nvls.cc */
enum { CHANNELS_MAX = 16, NVLS_CHANNELS_MAX = 32 };

static const double nvls_efficiency[CHIP_COUNT] = {0, 0.85, 0.74};    /* nvlsEfficiency */
static const double ll_one_gb_per_s[CHIP_COUNT] = {87.7, 141, 282};   /* llMaxBws */
static const double ll_far_gb_per_s[SCALE_COUNT] = {0, 39.0, 20.4};   /* llMaxBws, Intel */
static const double ring_ll128_gb_per_s[CHIP_COUNT] = {20, 36.7, 40}; /* a channel */
static const double tree_ll128_gb_per_s[CHIP_COUNT][SCALE_COUNT] = {{20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
static const double tree_gb_per_s[CHIP_COUNT][SCALE_COUNT] = {{24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
static const double nvls_tree_gb_per_s[CHIP_COUNT][SCALE_COUNT] = {{0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 80}};

/* treeCorrectionFactor */
static const double tree_correction[NCCL_PROTOCOL_COUNT][SIZES] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
};

/* The place as NCCL sees it. */
struct view {
    bool is_sum;
    double gpus, domains, domain_gpus; /* domain_gpus: the mean */
    double near, far;                  /* GB/s: inside a domain; of the NICs of a domain */
    double channels, height;           /* height: log2 of the domains, cut */
    int chip, scale;
};

static int chip_of(const struct collective_system *system)
{
    if (system->links == LINKS_NVLINK3_NODE)
        return AMPERE;
    return system->links == LINKS_NVLINK4_NODE ? HOPPER : BLACKWELL;
}

static struct view view_of(enum collective_kind kind, const struct collective_place *place)
{
    struct view view = {.is_sum = kind == COLLECTIVE_ALL_REDUCE,
                        .gpus = place->gpu_count,
                        .domains = place->domain_count,
                        .domain_gpus = floor((double)place->gpu_count / place->domain_count),
                        .height = 31 - __builtin_clz(place->domain_count),
                        .chip = chip_of(place->system),
                        .scale = place->domain_count > 2    ? MORE
                                 : place->domain_count == 2 ? TWO
                                                            : ONE};
    view.near = near_gb_per_s[view.chip];
    view.far = place->domain_gpus_least * place->network_bytes_per_s / GB * NIC_RATIO;
    view.channels = view.scale == ONE ? near_channels[view.chip] : fmin(place->domain_gpus_least, CHANNELS_MAX);
    return view;
}

static double ring_s(const struct view *view, double bytes, enum nccl_protocol protocol)
{
    const double rounds = view->is_sum ? 2 : 1, steps = rounds * (view->gpus - 1), far = rounds * (view->domains - 1);
    const double post = view->scale == ONE ? 0 : NET_POST_US * (protocol == NCCL_SIMPLE ? 3 : 1);
    double us = ring_base_us[protocol] + (steps - far) * fmax(ring_near_us[protocol], post) +
                far * (view->domain_gpus > 1 ? ring_far_us[protocol] : tree_far_us[protocol]);
    double rate = view->scale == MORE ? fmin(view->near, view->far) : view->near;
    /* Two domains: NCCL's search has rings that go by all NICs. */
    rate = view->scale == TWO ? fmin(rate, view->far) : rate;
    if (protocol == NCCL_LL)
        rate = fmin(rate * 0.5, view->scale == ONE ? ll_one_gb_per_s[view->chip] : ll_far_gb_per_s[view->scale]);
    if (protocol == NCCL_LL128)
        rate = fmin(rate * 0.92, view->channels * ring_ll128_gb_per_s[view->chip]);
    if (protocol == NCCL_SIMPLE && view->scale != ONE && view->is_sum &&
        bytes / (view->channels * view->gpus) >= PLATEAU_BYTES)
        us *= PLATEAU;
    return us * US + bytes * steps / view->gpus / (rate * GB);
}

static double tree_s(const struct view *view, double bytes, enum nccl_protocol protocol)
{
    const double us = tree_base_us[protocol] +
                      2 * ((view->domain_gpus - 1) * tree_near_us[protocol] + view->height * tree_far_us[protocol]);
    double rate = view->scale == MORE ? fmin(view->near, view->far) : view->near;
    rate = view->scale == TWO ? fmin(rate, 2 * view->far) : rate; /* half of what a ring sends */
    rate = fmin(rate * 0.92, view->channels * tree_gb_per_s[view->chip][view->scale]);
    if (protocol == NCCL_LL)
        rate = fmin(rate / 3.8, view->scale == ONE ? ll_one_gb_per_s[view->chip] : ll_far_gb_per_s[view->scale]);
    if (protocol == NCCL_LL128)
        rate = fmin(rate * (view->scale == ONE ? 7.0 / 9 : 120.0 / 128),
                    view->channels * tree_ll128_gb_per_s[view->chip][view->scale]);
    const double size = bytes >= 64 ? floor(log2(bytes / 64)) : 0;
    if (size < SIZES - 1)
        rate *= tree_correction[protocol][(int)size];
    return us * US + 2 * bytes / (rate * GB);
}

static double nvls_s(const struct view *view, double bytes)
{
    const double channels = nvls_channels[view->chip];
    const double rate = nvls_near_gb_per_s[view->chip] * nvls_efficiency[view->chip] * (channels - 1) / channels * 2;
    return nvls_us * US + bytes * 2 * (view->gpus - 1) / view->gpus / (rate * GB);
}

static double nvls_tree_s(const struct view *view, double bytes)
{
    const double channels = nvls_channels[view->chip];
    const double near = nvls_near_gb_per_s[view->chip] * nvls_efficiency[view->chip] * (channels - 1) / channels * 2;
    const double heads = fmin(view->domain_gpus, view->chip == BLACKWELL ? NVLS_CHANNELS_MAX : CHANNELS_MAX);
    const double far = fmin(view->far, view->far / view->domain_gpus * heads) * (view->scale == TWO ? 2 : 1);
    const double rate = fmin(fmin(near, far), heads * nvls_tree_gb_per_s[view->chip][view->scale]);
    return (nvls_us + 2 * view->height * nvls_tree_far_us) * US +
           bytes * 2 * (view->gpus - 1) / view->gpus / (rate * GB);
}

static void take_faster(struct nccl_tuning *best, double s, enum collective_algorithm algorithm,
                        enum nccl_protocol protocol)
{
    if (s < best->s)
        *best = (struct nccl_tuning){s, algorithm, protocol};
}

struct nccl_tuning nccl_tuning_time(enum collective_kind kind, const struct collective_place *place, double bytes,
                                    enum collective_algorithm only)
{
    struct nccl_tuning best = {.s = INFINITY, .protocol = NCCL_SIMPLE};
    if (place->gpu_count == 1 || place->is_pcie || place->system->links == LINKS_UNKNOWN ||
        kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_POINT_TO_POINT)
        return best;
    const struct view view = view_of(kind, place);
    const bool can_nvls = view.is_sum && place->has_nvls && nvls_efficiency[view.chip] > 0;
    for (int p = 0; p < NCCL_PROTOCOL_COUNT; p++) {
        const enum nccl_protocol protocol = (enum nccl_protocol)p;
        if (only == COLLECTIVE_NOTHING || only == COLLECTIVE_RING)
            take_faster(&best, ring_s(&view, bytes, protocol), COLLECTIVE_RING, protocol);
        if (view.is_sum && (only == COLLECTIVE_NOTHING || only == COLLECTIVE_TREE))
            take_faster(&best, tree_s(&view, bytes, protocol), COLLECTIVE_TREE, protocol);
    }
    if (can_nvls && view.scale == ONE && (only == COLLECTIVE_NOTHING || only == COLLECTIVE_NVLS))
        take_faster(&best, nvls_s(&view, bytes), COLLECTIVE_NVLS, NCCL_SIMPLE);
    if (can_nvls && view.scale != ONE && (only == COLLECTIVE_NOTHING || only == COLLECTIVE_NVLS_TREE))
        take_faster(&best, nvls_tree_s(&view, bytes), COLLECTIVE_NVLS_TREE, NCCL_SIMPLE);
    return best;
}
