/* topologies/communication.c -- the speed of a job where it stands, by its plan or its sensitivity. */
#include "topologies/communication.h"

#include <assert.h>
#include <math.h>

#include "topologies/divisor.h"

#define HIDING_COMPUTE     0.9   /* assumed: the part of compute that communication may stand beside, as for DP */
#define TFLOPS_NOT_KNOWN   989.4 /* assumed: a GPU of unknown rate computes as an H100; so communication weighs most */
#define TFLOPS_FP8_MIN     900   /* no FP8 before Hopper; as topologies/training.c */
#define TFLOPS_FP8_OF_BF16 2

/* Ratios are chosen so that 8 V100 in one node and one in each of 8 (NICs of 25 Gb/s assumed) compare about as
 * Gavel measured (windtunnel validate-model prints it); the bytes are those of the models that the name stands for. */
static const struct sensitivity sensitivities[] = {
    {.name = "none", .kind = COLLECTIVE_ALL_REDUCE},
    {
        .name = "compute_bound",
        .kind = COLLECTIVE_ALL_REDUCE,
        .exposed_ratio = 0.0025, /* Gavel: ResNet-50 keeps 0.86 to 1.09 */
        .hidden_ratio = 0.9,     /* as DP in topologies/training.h */
        .bytes = 102e6,          /* ResNet-50: 25.6 M parameters in FP32 */
    },
    {
        .name = "all_reduce_bound",
        .kind = COLLECTIVE_ALL_REDUCE,
        .exposed_ratio = 0.015, /* Gavel: ResNet-18 keeps 0.33 to 0.68, a Transformer 0.41 to 0.60 */
        .hidden_ratio = 0.7,    /* assumed: layers of equal size, the last of which has nothing to hide behind */
        .bytes = 260e6,         /* Transformer (base): 65 M parameters in FP32, arXiv 1706.03762 */
    },
    {
        .name = "skewed",
        .kind = COLLECTIVE_ALL_REDUCE,
        .exposed_ratio = 0.05, /* assumed: between all_reduce_bound and bandwidth_bound */
        .hidden_ratio = 0.28,  /* Tiresias simulator: VGG19 has 392 of 547 MB in one tensor, which nothing hides */
        .bytes = 392e6,        /* that tensor */
    },
    {
        .name = "bandwidth_bound",
        .kind = COLLECTIVE_ALL_TO_ALL,
        .exposed_ratio = 0.1, /* Gavel: a language model keeps 0.14 to 0.33 */
        .hidden_ratio = 0,    /* the next layer needs what is exchanged; as EP in topologies/training.h */
        .bytes = 100e6,       /* assumed */
    },
};

const struct sensitivity *sensitivity_table(uint32_t *count)
{
    *count = sizeof sensitivities / sizeof *sensitivities;
    return sensitivities;
}

const struct sensitivity *sensitivity_find(struct text name)
{
    for (size_t i = 0; i < sizeof sensitivities / sizeof *sensitivities; i++)
        if (text_is(name, sensitivities[i].name))
            return &sensitivities[i];
    return NULL;
}

/* ---- a sensitivity ---- */

static double exchange_s(const struct sensitivity *sensitivity, const struct gang_place *place, double network)
{
    struct collective_place all = gang_place_all(place);
    all.network_bytes_per_s = network;
    return collective_group_s(sensitivity->kind, &all, sensitivity->bytes);
}

/* ratio: how much longer communication takes than at the best place. */
static struct communication_time sensitivity_step(const struct sensitivity *sensitivity, double ratio)
{
    const double compute = 1 - sensitivity->exposed_ratio;
    const double at_best = sensitivity->exposed_ratio / (1 - sensitivity->hidden_ratio), all = at_best * ratio;
    const double room = fmax(HIDING_COMPUTE * compute, sensitivity->hidden_ratio * at_best);
    const double exposed = fmax((1 - sensitivity->hidden_ratio) * all, all - room);
    const double step = compute + exposed;
    return (struct communication_time){
        .step_s = step, .exposed_ratio = exposed / step, .network_ratio = fmin(1, all / step)};
}

static struct communication_time sensitivity_time(const struct sensitivity *sensitivity, const struct gang_place *place,
                                                  const struct gang_place *best, double network)
{
    const double best_s = exchange_s(sensitivity, best, best->network_bytes_per_s);
    const double ratio = best_s > 0 ? exchange_s(sensitivity, place, network) / best_s : 1;
    struct communication_time time = sensitivity_step(sensitivity, ratio);
    time.speed = fmin(1, sensitivity_step(sensitivity, 1).step_s / time.step_s);
    return time;
}

/* ---- a plan ---- */

/* The plan with as many replicas as the GPUs make.  Each replica has the batch that it had. */
static struct training_plan plan_for(const struct training_plan *plan, uint32_t gpu_count)
{
    struct training_plan scaled = *plan;
    const uint64_t replica = training_plan_replica_gpus(plan);
    scaled.dp = gpu_count < replica ? 1 : (uint32_t)(gpu_count / replica);
    if (scaled.dp == plan->dp)
        return scaled;
    assert(plan->dp > 0); /* fitted */
    const double batch = (double)plan->batch / plan->dp * scaled.dp;
    scaled.batch = batch < UINT32_MAX ? (uint32_t)batch : UINT32_MAX;
    scaled.ep = common_divisor(plan->ep, plan->tp * plan->cp * scaled.dp);
    return scaled;
}

/* What a plan computes with on a GPU. */
struct rate {
    double tflops; /* peak of the precision; 0: not known */
    enum training_precision precision;
};

/* A GPU without FP8 computes in BF16. */
static struct rate rate_at(const struct gang_place *place, enum training_precision precision)
{
    double tflops = place->bf16_tflops;
    if (tflops > 0 && precision == TRAINING_FP8)
        tflops = tflops >= TFLOPS_FP8_MIN ? TFLOPS_FP8_OF_BF16 * tflops : 0;
    else if (tflops <= 0)
        tflops = training_peak_tflops(&place->system, precision);
    return tflops > 0 || precision == TRAINING_BF16 ? (struct rate){tflops, precision} : rate_at(place, TRAINING_BF16);
}

static struct training_time plan_step(const struct training_plan *plan, const struct gang_place *place, double network,
                                      struct rate rate)
{
    struct training_plan scaled = plan_for(plan, place->gpu_count);
    struct collective_place all = gang_place_all(place);
    scaled.precision = rate.precision;
    all.network_bytes_per_s = network;
    const struct training_links links = training_links_placed(&scaled, &all, place->domain_gpus_gcd);
    return training_time(&scaled, &links, rate.tflops > 0 ? rate.tflops : TFLOPS_NOT_KNOWN);
}

static struct communication_time plan_time(const struct training_plan *plan, const struct gang_place *place,
                                           const struct gang_place *best, double network)
{
    const struct rate rate = rate_at(best, plan->precision);
    const double best_s = plan_step(plan, best, best->network_bytes_per_s, rate).step_s;
    const struct training_time step = plan_step(plan, place, network, rate);
    const double exposed = (step.tp_s + step.cp_s + step.ep_s + step.pp_s + step.dp_s) / step.step_s;
    return (struct communication_time){.step_s = step.step_s,
                                       .exposed_ratio = exposed,
                                       .network_ratio = fmin(1, step.network_s / step.step_s),
                                       .speed = fmin(1, best_s / step.step_s),
                                       .mfu_ratio = rate.tflops > 0 ? step.mfu_ratio : 0};
}

/* ---- both ---- */

static bool is_nothing(const struct communication *communication)
{
    return communication == NULL || (!communication->has_plan && communication->sensitivity.exposed_ratio <= 0);
}

struct communication_time communication_time(const struct communication *communication, const struct gang_place *place,
                                             const struct gang_place *best, double network_bytes_per_s)
{
    assert(network_bytes_per_s > 0);
    if (is_nothing(communication) || place->gpu_count == 0 || best->gpu_count == 0)
        return (struct communication_time){.step_s = 1, .speed = 1};
    struct communication_time time =
        communication->has_plan ? plan_time(&communication->plan, place, best, network_bytes_per_s)
                                : sensitivity_time(&communication->sensitivity, place, best, network_bytes_per_s);
    if (place->domain_count == 1)
        time.network_ratio = 0;
    return time;
}

/* ---- the best place ---- */

static double step_s(const struct communication *communication, const struct gang_place *place)
{
    const double network = place->network_bytes_per_s;
    if (communication->has_plan)
        return plan_step(&communication->plan, place, network, rate_at(place, communication->plan.precision)).step_s;
    return exchange_s(&communication->sensitivity, place, network);
}

struct search {
    const struct communication *communication;
    const struct cluster *cluster;
    uint32_t pool, gpu_count, member_gpus;
    struct gang_place best;
    double best_s;
};

/* Groups of that size stay together, as few domains as hold them.  More domains can only be faster if each GPU then has
 * more of the network, or a way other than PCIe. */
static void try_groups(struct search *search, uint32_t group_gpus)
{
    const uint32_t most = gang_place_domain_gpus(search->cluster, search->pool, search->member_gpus) / group_gpus;
    double network_most = 0;
    bool is_pcie = true;
    for (uint32_t groups = most; groups > 0; groups--) {
        const struct gang_place place =
            gang_place_even(search->cluster, search->pool, search->gpu_count, search->member_gpus, group_gpus, groups);
        if (groups < most && place.network_bytes_per_s <= network_most && place.is_pcie == is_pcie)
            continue;
        const double s = step_s(search->communication, &place);
        if (s < search->best_s) {
            search->best = place;
            search->best_s = s;
        }
        network_most = fmax(network_most, place.network_bytes_per_s);
        is_pcie = place.is_pcie;
        const double nic = fmin(place.system.nic_bytes_per_s, LINKS_PCIE_BYTES_PER_S);
        if (!is_pcie && (place.domain_count == 1 || network_most >= nic))
            return;
    }
}

struct gang_place communication_best(const struct communication *communication, const struct cluster *cluster,
                                     uint32_t pool, uint32_t gpu_count, uint32_t member_gpus)
{
    if (is_nothing(communication) || gpu_count == 1)
        return gang_place_best(cluster, pool, gpu_count, member_gpus, true);
    struct search search = {.communication = communication,
                            .cluster = cluster,
                            .pool = pool,
                            .gpu_count = gpu_count,
                            .member_gpus = member_gpus,
                            .best_s = INFINITY};
    const uint32_t most = gang_place_domain_gpus(cluster, pool, member_gpus);
    const uint32_t tp = communication->has_plan ? communication->plan.tp : 1;
    try_groups(&search, member_gpus);
    for (uint32_t near = 2; near <= tp && near <= most; near++) {
        const uint32_t group = member_gpus / common_divisor(member_gpus, near) * near;
        if (tp % near == 0 && group <= most && group > member_gpus && gpu_count % group == 0)
            try_groups(&search, group);
    }
    return search.best;
}
