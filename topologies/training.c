/* topologies/training.c -- step time of a parallel plan. */
#include "topologies/training.h"

#include <assert.h>
#include <math.h>

#include "topologies/divisor.h"
#include "topologies/gpu_model.h"

/* What is fitted to which rows: training.h. */
#define COMPUTE_RATIO_MAX   0.57   /* fit: of the BF16 peak, of matrix products alone */
#define COMPUTE_HIDDEN_HALF 440.0  /* fit: the hidden size at which what is not matrix products takes as long */
#define SCORES_FLASH2       1.75   /* fit: time of attention's scores, over that of their FLOPs in matrix products */
#define SCORES_CUDNN        0.4    /* fit: the same; a causal kernel computes half of these FLOPs */
#define FP8_SPEEDUP         1.5    /* fit: of a matrix product, where the peak is twice as high */
#define RECOMPUTE_RATIO     0.5    /* fit: of the time that the repeated forward pass would take */
#define TP_EXPOSED_RATIO    0.35   /* fit: of TP's time, as long as compute has room for the rest */
#define CP_EXPOSED_RATIO    0.35   /* assumed: as TP */
#define DP_EXPOSED_RATIO    0.1    /* fit: what comes before the first layer and after the last */
#define DP_HIDDEN_COMPUTE   0.9    /* assumed: the part of compute that DP may stand beside */
#define SHARD_EXPOSED_RATIO 0.4    /* fit: of the bytes of a layer that is gathered or scattered */
#define SHARD_DOUBLING      0.55   /* fit: more time for these bytes, for each doubling of the GPUs */
#define SHARD_GPUS          8.0    /* from which doublings count: one node of llm-foundry's */
#define EXPERT_HOST_S       0.4e-3 /* fit: of an expert, layer and microbatch, forward and backward */

#define ACTIVATION_BYTES 2.0 /* BF16, also where FP8 computes (Megatron-Core) */
#define GRADIENT_BYTES   4.0 /* FP32 gradients are reduced (Megatron-Core's distributed optimizer) */
#define PARAMETER_BYTES  2.0 /* BF16 parameters are gathered (the same); so are those and gradients of FSDP */
#define TP_EXCHANGES     4.0 /* of each kind, a layer: 2 forward, 2 backward (Megatron-LM, arXiv 2205.05198) */
#define CP_GATHERS       2.0 /* of keys and values, a layer: forward and backward */
#define EP_EXCHANGES     4.0 /* a layer: to the experts and back, forward and backward */
#define FORWARD_AGAIN    1.5 /* exchanges of 2 forward and 1 backward pass, over those of 1 and 1 */

/* ---- where the groups stand ---- */

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* What decides where groups stand. */
struct packing {
    uint32_t domain_gpus; /* members of the job in a domain */
    uint32_t near;        /* members of a TP group in a domain */
    uint32_t stride;      /* of the members of a CP or DP group, in GPUs */
    bool is_one_domain;
};

static struct collective_place place_packed(const struct collective_place *all, uint32_t members, uint32_t most)
{
    struct collective_place place = collective_place_packed(all->system, members, most, all->network_bytes_per_s);
    place.is_pcie = all->is_pcie;
    return place;
}

/* Members that stand `stride` GPUs apart, in order. */
static struct collective_place place_apart(const struct collective_place *all, const struct packing *packing,
                                           uint32_t members, uint64_t stride)
{
    const uint32_t most = stride >= packing->domain_gpus ? 1 : packing->domain_gpus / (uint32_t)stride;
    return place_packed(all, members, lesser(most, members));
}

static struct training_links links_of(const struct training_plan *plan, const struct collective_place *all,
                                      const struct packing *packing)
{
    const uint32_t holders = plan->cp * plan->dp;
    return (struct training_links){
        .tp = place_packed(all, plan->tp, packing->near),
        .pp = place_packed(all, plan->pp > 1 ? 2 : 1, packing->is_one_domain ? 2 : 1),
        .cp = place_apart(all, packing, plan->cp, packing->stride),
        .ep = place_apart(all, packing, plan->ep, 1),
        .dp = place_apart(all, packing, holders, packing->stride),
        .expert_dp = place_apart(all, packing, (uint32_t)((uint64_t)plan->tp * holders / plan->ep), plan->ep),
    };
}

struct training_links training_links_packed(const struct training_plan *plan, const struct collective_system *system,
                                            double network_bytes_per_s, uint32_t tp_domains)
{
    assert(tp_domains >= 1 && tp_domains <= plan->tp);
    const uint32_t near = lesser((plan->tp - 1) / tp_domains + 1, system->domain_gpus);
    const struct collective_place all = collective_place_even(system, 1, 1, network_bytes_per_s);
    const struct packing packing = {.domain_gpus = system->domain_gpus,
                                    .near = near,
                                    .stride = near,
                                    .is_one_domain =
                                        training_plan_gpus(plan) <= system->domain_gpus && tp_domains == 1};
    return links_of(plan, &all, &packing);
}

struct training_links training_links_placed(const struct training_plan *plan, const struct collective_place *all,
                                            uint32_t domain_gpus_gcd)
{
    assert(domain_gpus_gcd >= 1 && all->domain_gpus_least >= 1);
    const bool is_one_domain = all->domain_count == 1;
    const struct packing packing = {.domain_gpus = is_one_domain ? UINT32_MAX : all->domain_gpus_least,
                                    .near = is_one_domain ? plan->tp : common_divisor(domain_gpus_gcd, plan->tp),
                                    .stride = plan->tp,
                                    .is_one_domain = is_one_domain};
    return links_of(plan, all, &packing);
}

double training_peak_tflops(const struct collective_system *system, enum training_precision precision)
{
    const struct gpu_model *model = gpu_model_find(text_of(system->gpu_model));
    if (model == NULL || (precision == TRAINING_FP8 && model->bf16_tflops < 900))
        return 0; /* no FP8 before Hopper */
    return model->bf16_tflops * (precision == TRAINING_FP8 ? 2 : 1);
}

/* ---- compute ---- */

static double at_peak_s(const struct training_plan *plan, double flops, double peak_tflops)
{
    const double bf16 = plan->precision == TRAINING_FP8 ? peak_tflops / 2 : peak_tflops;
    return flops / (double)training_plan_gpus(plan) / (bf16 * 1e12);
}

static double compute_s(const struct training_plan *plan, double peak_tflops)
{
    const struct training_flops flops = training_plan_flops_by_part(plan);
    const double beside = COMPUTE_HIDDEN_HALF / plan->hidden;
    const double product = (plan->precision == TRAINING_FP8 ? 1 / FP8_SPEEDUP : 1) + beside;
    const double score = (plan->attention == TRAINING_CUDNN ? SCORES_CUDNN : SCORES_FLASH2) + beside;
    const double scores = flops.scores * score;
    const double layers = (flops.products + flops.experts * plan->expert_load) * product + scores;
    double again = 0;
    if (plan->recompute == TRAINING_RECOMPUTE_FULL)
        again = RECOMPUTE_RATIO * layers / 3;
    else if (plan->recompute == TRAINING_RECOMPUTE_SELECTIVE)
        again = scores / 3;
    return at_peak_s(plan, layers + again + flops.head * (1 + beside), peak_tflops) / COMPUTE_RATIO_MAX;
}

/* ---- exchanges ---- */

static double layers_of_stage(const struct training_plan *plan)
{
    return (double)plan->layers / plan->pp;
}

/* Layers that a GPU works on in a step, counted once for each microbatch, and what full recomputation repeats. */
static double layer_passes(const struct training_plan *plan)
{
    const double again = plan->recompute == TRAINING_RECOMPUTE_FULL ? FORWARD_AGAIN : 1;
    return layers_of_stage(plan) * training_plan_microbatches(plan) * again;
}

/* The activations of a microbatch, between two layers. */
static double activation_bytes(const struct training_plan *plan)
{
    return ACTIVATION_BYTES * plan->micro_batch * plan->sequence * plan->hidden / plan->cp;
}

static double group_s(enum collective_kind kind, const struct collective_place *place, double bytes, double times)
{
    return times * collective_group_s(kind, place, bytes);
}

static double tp_all_s(const struct training_plan *plan, const struct training_links *links)
{
    const double bytes = activation_bytes(plan), times = layer_passes(plan) * TP_EXCHANGES;
    return group_s(COLLECTIVE_ALL_GATHER, &links->tp, bytes, times) +
           group_s(COLLECTIVE_REDUCE_SCATTER, &links->tp, bytes, times);
}

static double cp_all_s(const struct training_plan *plan, const struct training_links *links)
{
    const double tokens = (double)plan->micro_batch * plan->sequence;
    const double bytes = 2 * ACTIVATION_BYTES * tokens * plan->kv_heads * plan->head_size / plan->tp;
    return group_s(COLLECTIVE_ALL_GATHER, &links->cp, bytes, layer_passes(plan) * CP_GATHERS) +
           group_s(COLLECTIVE_REDUCE_SCATTER, &links->cp, bytes, layer_passes(plan));
}

/* An all-to-all that sends a token once to each domain.  There it goes on to all its experts, over NVLink. */
static double expert_exchange_s(const struct training_plan *plan, const struct collective_place *place, double bytes)
{
    const double domains = place->domain_count, copies = plan->experts_per_token;
    const double apart = domains * (1 - pow(1 - 1 / domains, copies)) / copies;
    const double s = collective_group_s(COLLECTIVE_ALL_TO_ALL, place, bytes * apart);
    struct collective_place near = *place;
    near.domain_count = 1;
    near.domain_gpus_least = place->gpu_count;
    return fmax(s, collective_time(COLLECTIVE_ALL_TO_ALL, &near, bytes).s);
}

static double ep_exchange_s(const struct training_plan *plan, const struct training_links *links)
{
    const double bytes = activation_bytes(plan) * plan->experts_per_token / plan->tp * plan->expert_load;
    return layer_passes(plan) * EP_EXCHANGES * expert_exchange_s(plan, &links->ep, bytes);
}

static double ep_host_s(const struct training_plan *plan)
{
    return layer_passes(plan) * EXPERT_HOST_S * plan->experts / plan->ep;
}

static double pp_all_s(const struct training_plan *plan, const struct training_links *links)
{
    return group_s(COLLECTIVE_POINT_TO_POINT, &links->pp, activation_bytes(plan) / plan->tp,
                   2 * training_plan_microbatches(plan) * plan->virtual_stages);
}

/* ---- parameters and gradients ---- */

/* Parameters of a GPU before sharding: of its layers, of embeddings and output layer. */
struct held {
    double layers, experts, embeddings;
};

static struct held held_of(const struct training_plan *plan)
{
    const double parts = (double)plan->tp * plan->pp, experts = training_plan_expert_parameters(plan);
    const double embeddings = 2.0 * plan->vocabulary * plan->hidden;
    return (struct held){.layers = (training_plan_parameters(plan) - experts - embeddings) / parts,
                         .experts = experts / ((double)plan->pp * plan->ep),
                         .embeddings = embeddings / parts};
}

/* Once in a step. */
static double replicas_s(const struct training_plan *plan, const struct collective_place *place, double parameters)
{
    const double gathered = plan->zero == 0 ? GRADIENT_BYTES : PARAMETER_BYTES;
    return group_s(COLLECTIVE_REDUCE_SCATTER, place, GRADIENT_BYTES * parameters, 1) +
           group_s(COLLECTIVE_ALL_GATHER, place, gathered * parameters, 1);
}

/* What gathering and scattering shards takes in a step. */
struct shards {
    double latency_s, bytes_s;
};

static void shards_add(struct shards *sum, const struct training_plan *plan, const struct collective_place *place,
                       double parameters, double pieces)
{
    const double m = training_plan_microbatches(plan);
    const double gathers = plan->zero == 2 ? 1 : plan->has_reshard ? 2 * m : m;
    const double all =
        pieces > 0 ? collective_group_s(COLLECTIVE_ALL_GATHER, place, PARAMETER_BYTES * parameters / pieces) : 0;
    const double latency = collective_group_s(COLLECTIVE_ALL_GATHER, place, 0);
    const double doublings = place->domain_count > 1 ? fmax(0, log2(place->gpu_count / SHARD_GPUS)) : 0;
    sum->latency_s += (gathers + m) * pieces * latency;
    sum->bytes_s += (gathers + m) * pieces * (all - latency) * (1 + SHARD_DOUBLING * doublings);
}

static struct shards shards_of(const struct training_plan *plan, const struct training_links *links)
{
    const struct held held = held_of(plan);
    struct shards sum = {0};
    shards_add(&sum, plan, &links->dp, held.layers, layers_of_stage(plan));
    shards_add(&sum, plan, &links->dp, held.embeddings, 1);
    if (held.experts > 0)
        shards_add(&sum, plan, &links->expert_dp, held.experts, layers_of_stage(plan));
    return sum;
}

/* Sets the part that is not hidden.  Returns what is sent over the network. */
static double replicas_time(const struct training_plan *plan, const struct training_links *links,
                            struct training_time *time)
{
    const double room = DP_HIDDEN_COMPUTE * time->compute_s;
    const bool is_far = links->dp.domain_count > 1;
    if (plan->zero >= 2) {
        const struct shards shards = shards_of(plan, links);
        const double exposed = plan->has_prefetch ? SHARD_EXPOSED_RATIO : 1;
        time->dp_s = shards.latency_s + fmax(exposed * shards.bytes_s, shards.bytes_s - room);
        return is_far ? shards.latency_s + shards.bytes_s : 0;
    }
    const struct held held = held_of(plan);
    const double dp_s = replicas_s(plan, &links->dp, held.layers + held.embeddings);
    const double experts_s = held.experts > 0 ? replicas_s(plan, &links->expert_dp, held.experts) : 0;
    time->dp_s = fmax(DP_EXPOSED_RATIO * (dp_s + experts_s), dp_s + experts_s - room);
    return (is_far ? dp_s : 0) + (links->expert_dp.domain_count > 1 ? experts_s : 0);
}

/* ---- a step ---- */

static double if_far(const struct collective_place *place, double s)
{
    return place->domain_count > 1 ? s : 0;
}

struct training_time training_time(const struct training_plan *plan, const struct training_links *links,
                                   double peak_tflops)
{
    assert(peak_tflops > 0 && plan->cp >= 1 && plan->head_size >= 1 && plan->expert_load >= 1);
    struct training_time time = {.compute_s = compute_s(plan, peak_tflops)};
    const double tp_s = tp_all_s(plan, links), cp_s = cp_all_s(plan, links);
    const double ep_s = plan->experts > 1 ? ep_exchange_s(plan, links) : 0;
    time.tp_s = fmax(TP_EXPOSED_RATIO * tp_s, tp_s - time.compute_s);
    time.cp_s = fmax(CP_EXPOSED_RATIO * cp_s, cp_s - time.compute_s);
    time.ep_s = plan->experts > 1 ? ep_s + ep_host_s(plan) : 0;
    time.pp_s = pp_all_s(plan, links);
    const double busy_s = time.compute_s + time.tp_s + time.cp_s + time.ep_s + time.pp_s;
    time.bubble_s = busy_s * (plan->pp - 1.0) / (training_plan_microbatches(plan) * plan->virtual_stages);
    time.network_s = if_far(&links->tp, tp_s) + if_far(&links->cp, cp_s) + if_far(&links->ep, ep_s) +
                     if_far(&links->pp, time.pp_s) + replicas_time(plan, links, &time);
    time.step_s = busy_s + time.bubble_s + time.dp_s;
    time.tflops_per_gpu = training_plan_flops(plan) / (double)training_plan_gpus(plan) / time.step_s / 1e12;
    time.mfu_ratio = time.tflops_per_gpu / peak_tflops;
    return time;
}
