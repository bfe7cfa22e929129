/* topologies/training.c -- step time of a parallel plan. */
#include "topologies/training.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "topologies/divisor.h"
#include "topologies/gpu_model.h"

const char *const training_precision_names[TRAINING_PRECISION_COUNT + 1] = {"bf16", "fp8", NULL};

/* The fit: to the rows of Megatron-Core and Llama 3 in docs/network.md, on a grid of all of them; see training.h. */
#define COMPUTE_RATIO_MAX   0.56  /* fit: of the peak, at large hidden sizes */
#define COMPUTE_HIDDEN_HALF 600.0 /* fit: the hidden size at which half of that is reached */
#define TP_EXPOSED_RATIO    0.4   /* fit: of TP's time, as long as compute has room for the rest */
#define DP_EXPOSED_RATIO    0.1   /* fit: what comes before the first layer and after the last */
#define DP_HIDDEN_COMPUTE   0.9   /* assumed: the part of compute that DP may stand beside */

#define ACTIVATION_BYTES 2.0 /* BF16, also where FP8 computes (Megatron-Core) */
#define GRADIENT_BYTES   4.0 /* FP32 gradients are reduced (Megatron-Core's distributed optimizer) */
#define PARAMETER_BYTES  2.0 /* BF16 parameters are gathered (the same) */
#define TP_EXCHANGES     4.0 /* of each kind, a layer: 2 forward, 2 backward (Megatron-LM, arXiv 2205.05198) */
#define EP_EXCHANGES     4.0 /* a layer: to the experts and back, forward and backward */

enum { REPLICAS_MAX = 1000000 };

/* ---- the model ---- */

static double attention_parameters(const struct training_plan *plan)
{
    const double hidden = plan->hidden;
    return 2 * hidden * hidden * (1 + (double)plan->kv_heads / plan->heads);
}

static double expert_parameters(const struct training_plan *plan)
{
    return (plan->is_gated ? 3.0 : 2.0) * plan->hidden * plan->ffn;
}

static double embedding_parameters(const struct training_plan *plan)
{
    return 2.0 * plan->vocabulary * plan->hidden; /* in and out, not tied */
}

uint64_t training_plan_gpus(const struct training_plan *plan)
{
    return (uint64_t)plan->tp * plan->pp * plan->dp;
}

double training_plan_parameters(const struct training_plan *plan)
{
    return plan->layers * (attention_parameters(plan) + plan->experts * expert_parameters(plan)) +
           embedding_parameters(plan);
}

double training_plan_flops(const struct training_plan *plan)
{
    const double layer = attention_parameters(plan) + plan->experts_per_token * expert_parameters(plan) +
                         2.0 * plan->sequence * plan->hidden;
    const double tokens = (double)plan->batch * plan->sequence;
    return 6 * tokens * (plan->layers * layer + (double)plan->vocabulary * plan->hidden);
}

/* ---- a plan that holds together ---- */

LIKE_PRINTF(3, 4)
static bool complain(struct training_complaint *why, const char *key, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    why->key = key;
    vsnprintf(why->what, sizeof why->what, format, values);
    va_end(values);
    return false;
}

static bool check_divides(struct training_complaint *why, const char *key, uint32_t divisor, const char *what,
                          uint32_t value)
{
    return value % divisor == 0 || complain(why, key, "%s = %u does not divide %s = %u", key, divisor, what, value);
}

static bool check_split(const struct training_plan *plan, struct training_complaint *why)
{
    return check_divides(why, "tp", plan->tp, "hidden", plan->hidden) &&
           check_divides(why, "heads", plan->heads, "hidden", plan->hidden) &&
           check_divides(why, "kv_heads", plan->kv_heads, "heads", plan->heads) &&
           check_divides(why, "tp", plan->tp, "heads", plan->heads) &&
           check_divides(why, "tp", plan->tp, "ffn", plan->ffn);
}

static bool check_experts(const struct training_plan *plan, struct training_complaint *why)
{
    if (plan->experts_per_token > plan->experts)
        return complain(why, "experts_per_token", "a token cannot use %u of %u experts", plan->experts_per_token,
                        plan->experts);
    if (plan->ep > 1 && plan->experts == 1)
        return complain(why, "ep", "ep = %u, but the model has no experts", plan->ep);
    return check_divides(why, "ep", plan->ep, "dp", plan->dp) &&
           (plan->ep == 1 || check_divides(why, "ep", plan->ep, "experts", plan->experts));
}

bool training_plan_check(const struct training_plan *plan, struct training_complaint *why)
{
    if (!check_split(plan, why) || !check_experts(plan, why))
        return false;
    if (plan->pp > plan->layers)
        return complain(why, "pp", "pp = %u stages are more than the %u layers", plan->pp, plan->layers);
    if ((uint64_t)plan->virtual_stages * plan->pp > plan->layers)
        return complain(why, "virtual_stages", "%u virtual stages of each of %u stages are more than the %u layers",
                        plan->virtual_stages, plan->pp, plan->layers);
    const uint64_t pass = (uint64_t)plan->dp * plan->micro_batch;
    if (plan->dp == 0)
        return check_divides(why, "micro_batch", plan->micro_batch, "batch", plan->batch);
    if (plan->batch % pass != 0)
        return complain(why, "batch", "batch = %u is not a multiple of dp x micro_batch = %u x %u", plan->batch,
                        plan->dp, plan->micro_batch);
    return true;
}

bool training_plan_fit(const struct training_plan *declared, uint64_t gpu_count, struct training_plan *fitted,
                       struct training_complaint *why)
{
    const uint64_t replica = (uint64_t)declared->tp * declared->pp, gpus = training_plan_gpus(declared);
    *fitted = *declared;
    if (declared->dp > 0 && gpus != gpu_count)
        return complain(why, "dp", "tp x pp x dp = %u x %u x %u = %llu GPUs, not %llu", declared->tp, declared->pp,
                        declared->dp, (unsigned long long)gpus, (unsigned long long)gpu_count);
    if (declared->dp == 0 && (gpu_count < replica || gpu_count % replica != 0))
        return complain(why, "tp", "%llu GPUs are not a multiple of tp x pp = %u x %u", (unsigned long long)gpu_count,
                        declared->tp, declared->pp);
    if (gpu_count / replica > REPLICAS_MAX)
        return complain(why, "dp", "%llu GPUs would be more than %u replicas", (unsigned long long)gpu_count,
                        REPLICAS_MAX);
    fitted->dp = (uint32_t)(gpu_count / replica);
    return training_plan_check(fitted, why);
}

/* ---- reading ---- */

static uint32_t count_of(struct json_object *object, const char *key, int64_t high, uint32_t otherwise)
{
    return (uint32_t)json_get_int(object, key, 1, high, otherwise);
}

static uint32_t count_needed(struct json_object *object, const char *key, int64_t high)
{
    json_need(object, key);
    return count_of(object, key, high, 1);
}

/* Without 'dp' it is what is left of the GPUs; 0: not known. */
static uint32_t read_replicas(struct json_object *object, const struct training_plan *plan)
{
    const uint64_t replica = (uint64_t)plan->tp * plan->pp;
    const uint64_t gpus = (uint64_t)json_get_int(object, "gpus", 1, 100000000, 0);
    const uint32_t dp = count_of(object, "dp", REPLICAS_MAX, 0);
    const struct json_value given = json_member(object, "gpus");
    if (gpus == 0)
        return dp;
    if (dp == 0 && gpus % replica != 0)
        json_fail(&given, "%llu GPUs are not a multiple of tp x pp = %u x %u", (unsigned long long)gpus, plan->tp,
                  plan->pp);
    else if (dp > 0 && gpus != replica * dp)
        json_fail(&given, "tp x pp x dp = %u x %u x %u = %llu GPUs, not %llu", plan->tp, plan->pp, dp,
                  (unsigned long long)(replica * dp), (unsigned long long)gpus);
    return dp > 0 ? dp : (uint32_t)(gpus / replica) + (gpus < replica);
}

static void read_model(struct json_object *object, struct training_plan *plan)
{
    plan->layers = count_needed(object, "layers", 100000);
    plan->hidden = count_needed(object, "hidden", 1000000);
    plan->heads = count_of(object, "heads", 1000000, plan->hidden % 128 == 0 ? plan->hidden / 128 : plan->tp);
    plan->kv_heads = count_of(object, "kv_heads", 1000000, plan->heads);
    plan->ffn = count_of(object, "ffn", 10000000, 4 * plan->hidden);
    plan->is_gated = json_get_bool(object, "gated", false);
    plan->sequence = count_needed(object, "sequence", 100000000);
    plan->vocabulary = count_needed(object, "vocabulary", 100000000);
    plan->experts = count_of(object, "experts", 100000, 1);
    plan->experts_per_token = count_of(object, "experts_per_token", 100000, 1);
}

static void read_split(struct json_object *object, struct training_plan *plan)
{
    plan->pp = count_of(object, "pp", 100000, 1);
    plan->dp = read_replicas(object, plan);
    plan->ep = count_of(object, "ep", 1000000, 1);
    plan->batch = count_needed(object, "batch", 1000000000);
    plan->micro_batch = count_of(object, "micro_batch", 1000000, 1);
    plan->precision = (enum training_precision)json_get_choice(object, "precision", training_precision_names, 0);
    /* Two layers each (Megatron-Core's own runs), one stage without a pipeline. */
    const double stages = plan->pp > 1 ? fmax(1, round((double)plan->layers / plan->pp / 2)) : 1;
    plan->virtual_stages = count_of(object, "virtual_stages", 100000, (uint32_t)stages);
}

/* Set the sticky error at the key of the complaint, or at the plan if that key is not there. */
static void fail_at(struct json_object *object, const struct training_complaint *why)
{
    const struct json_value at = json_member(object, why->key);
    json_fail(at.node != NULL ? &at : &object->value, "%s", why->what);
}

/* Without `dp` and `gpus` its dp is 0. */
static struct training_plan read_open(struct json_object *object, const struct json_value *value)
{
    struct training_plan plan = {0};
    json_object_open(object, value);
    plan.tp = count_of(object, "tp", 100000, 1);
    read_model(object, &plan);
    read_split(object, &plan);
    json_object_close(object);
    return plan;
}

struct training_plan training_plan_read(const struct json_value *value)
{
    struct json_object object;
    struct training_complaint why;
    struct training_plan plan = read_open(&object, value);
    plan.dp += plan.dp == 0;
    if (!error_is(*value->error) && !training_plan_check(&plan, &why))
        fail_at(&object, &why);
    return plan;
}

struct training_plan training_plan_read_for(const struct json_value *value, uint64_t gpu_count)
{
    struct json_object object;
    struct training_complaint why;
    struct training_plan fitted, plan = read_open(&object, value);
    if (error_is(*value->error))
        return plan;
    if (!training_plan_check(&plan, &why) || (gpu_count > 0 && !training_plan_fit(&plan, gpu_count, &fitted, &why))) {
        fail_at(&object, &why);
        return plan;
    }
    return gpu_count > 0 ? fitted : plan;
}

/* ---- writing ---- */

void training_plan_write(const struct training_plan *plan, struct buffer *out)
{
    buffer_format(out, "{\"tp\":%u,\"pp\":%u,", plan->tp, plan->pp);
    if (plan->dp > 0)
        buffer_format(out, "\"dp\":%u,", plan->dp);
    buffer_format(out, "\"ep\":%u,\"layers\":%u,\"hidden\":%u,\"heads\":%u,\"kv_heads\":%u,\"ffn\":%u,", plan->ep,
                  plan->layers, plan->hidden, plan->heads, plan->kv_heads, plan->ffn);
    buffer_format(out, "\"gated\":%s,\"sequence\":%u,\"vocabulary\":%u,\"experts\":%u,\"experts_per_token\":%u,",
                  plan->is_gated ? "true" : "false", plan->sequence, plan->vocabulary, plan->experts,
                  plan->experts_per_token);
    buffer_format(out, "\"batch\":%u,\"micro_batch\":%u,\"virtual_stages\":%u,\"precision\":\"%s\"}", plan->batch,
                  plan->micro_batch, plan->virtual_stages, training_precision_names[plan->precision]);
}

/* ---- where the groups stand ---- */

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* What decides where groups stand. */
struct packing {
    uint32_t domain_gpus; /* members of the job in a domain */
    uint32_t near;        /* members of a TP group in a domain */
    uint32_t stride;      /* of the members of a replica's group, in GPUs */
    bool is_one_domain;
};

static struct collective_place place_packed(const struct collective_place *all, uint32_t members, uint32_t most)
{
    struct collective_place place = collective_place_packed(all->system, members, most, all->network_bytes_per_s);
    place.is_pcie = all->is_pcie;
    return place;
}

/* Members that stand `stride` GPUs apart. */
static struct collective_place place_apart(const struct collective_place *all, const struct packing *packing,
                                           uint32_t members, uint64_t stride)
{
    const uint32_t most = stride >= packing->domain_gpus ? 1 : packing->domain_gpus / (uint32_t)stride;
    return place_packed(all, members, lesser(most, members));
}

static struct training_links links_of(const struct training_plan *plan, const struct collective_place *all,
                                      const struct packing *packing)
{
    return (struct training_links){
        .tp = place_packed(all, plan->tp, packing->near),
        .pp = place_packed(all, plan->pp > 1 ? 2 : 1, packing->is_one_domain ? 2 : 1),
        .dp = place_apart(all, packing, plan->dp, packing->stride),
        .ep = place_apart(all, packing, plan->ep, packing->stride),
        .expert_dp = place_apart(all, packing, plan->dp / plan->ep, (uint64_t)packing->stride * plan->ep),
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

/* ---- a step ---- */

static double layers_of_stage(const struct training_plan *plan)
{
    return (double)plan->layers / plan->pp;
}

static double microbatches(const struct training_plan *plan)
{
    return (double)plan->batch / ((double)plan->dp * plan->micro_batch);
}

/* The activations of a microbatch, between two layers. */
static double activation_bytes(const struct training_plan *plan)
{
    return ACTIVATION_BYTES * plan->micro_batch * plan->sequence * plan->hidden;
}

static double group_s(enum collective_kind kind, const struct collective_place *place, double bytes, double times)
{
    return times * collective_group_s(kind, place, bytes);
}

static double tp_all_s(const struct training_plan *plan, const struct training_links *links)
{
    const double bytes = activation_bytes(plan), times = layers_of_stage(plan) * microbatches(plan) * TP_EXCHANGES;
    return group_s(COLLECTIVE_ALL_GATHER, &links->tp, bytes, times) +
           group_s(COLLECTIVE_REDUCE_SCATTER, &links->tp, bytes, times);
}

static double ep_all_s(const struct training_plan *plan, const struct training_links *links)
{
    return group_s(COLLECTIVE_ALL_TO_ALL, &links->ep, activation_bytes(plan) * plan->experts_per_token / plan->tp,
                   layers_of_stage(plan) * microbatches(plan) * EP_EXCHANGES);
}

static double pp_all_s(const struct training_plan *plan, const struct training_links *links)
{
    return group_s(COLLECTIVE_POINT_TO_POINT, &links->pp, activation_bytes(plan) / plan->tp,
                   2 * microbatches(plan) * plan->virtual_stages);
}

static double replicas_s(const struct collective_place *place, double parameters)
{
    return group_s(COLLECTIVE_REDUCE_SCATTER, place, GRADIENT_BYTES * parameters, 1) +
           group_s(COLLECTIVE_ALL_GATHER, place, PARAMETER_BYTES * parameters, 1);
}

static double expert_dp_s(const struct training_plan *plan, const struct training_links *links)
{
    const double experts = (double)plan->layers * plan->experts * expert_parameters(plan);
    return plan->experts > 1 ? replicas_s(&links->expert_dp, experts / ((double)plan->tp * plan->pp) / plan->ep) : 0;
}

static double shared_dp_s(const struct training_plan *plan, const struct training_links *links)
{
    const double experts = (double)plan->layers * plan->experts * expert_parameters(plan);
    const double shared = training_plan_parameters(plan) - (plan->experts > 1 ? experts : 0);
    return replicas_s(&links->dp, shared / ((double)plan->tp * plan->pp));
}

static double if_far(const struct collective_place *place, double s)
{
    return place->domain_count > 1 ? s : 0;
}

struct training_time training_time(const struct training_plan *plan, const struct training_links *links,
                                   double peak_tflops)
{
    assert(peak_tflops > 0);
    const double flops = training_plan_flops(plan) / (double)training_plan_gpus(plan);
    const double ratio = COMPUTE_RATIO_MAX * plan->hidden / (plan->hidden + COMPUTE_HIDDEN_HALF);
    struct training_time time = {.compute_s = flops / (ratio * peak_tflops * 1e12)};
    const double tp_s = tp_all_s(plan, links), experts_s = expert_dp_s(plan, links);
    const double dp_s = shared_dp_s(plan, links);
    time.tp_s = fmax(TP_EXPOSED_RATIO * tp_s, tp_s - time.compute_s);
    time.ep_s = plan->experts > 1 ? ep_all_s(plan, links) : 0;
    time.pp_s = pp_all_s(plan, links);
    const double busy_s = time.compute_s + time.tp_s + time.ep_s + time.pp_s;
    time.bubble_s = busy_s * (plan->pp - 1.0) / (microbatches(plan) * plan->virtual_stages);
    time.dp_s = fmax(DP_EXPOSED_RATIO * (dp_s + experts_s), dp_s + experts_s - DP_HIDDEN_COMPUTE * time.compute_s);
    time.step_s = busy_s + time.bubble_s + time.dp_s;
    time.network_s = if_far(&links->tp, tp_s) + if_far(&links->ep, time.ep_s) + if_far(&links->pp, time.pp_s) +
                     if_far(&links->dp, dp_s) + if_far(&links->expert_dp, experts_s);
    time.tflops_per_gpu = flops / time.step_s / 1e12;
    time.mfu_ratio = time.tflops_per_gpu / peak_tflops;
    return time;
}
