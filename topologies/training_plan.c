/* topologies/training_plan.c -- plans: read, checked, written, compared; what a step computes. */
#include "topologies/training_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

const char *const training_precision_names[TRAINING_PRECISION_COUNT + 1] = {"bf16", "fp8", NULL};
const char *const training_recompute_names[] = {"none", "selective", "full", NULL};
const char *const training_attention_names[] = {"flash2", "cudnn", NULL};

enum { REPLICAS_MAX = 1000000 };

#define EXPERT_LOAD_MAX 1000.0

/* ---- the model ---- */

static double attention_width(const struct training_plan *plan)
{
    return (double)plan->heads * plan->head_size;
}

static double attention_parameters(const struct training_plan *plan)
{
    return 2 * plan->hidden * (attention_width(plan) + (double)plan->kv_heads * plan->head_size);
}

static double mlp_parameters(const struct training_plan *plan, uint32_t ffn)
{
    return (plan->is_gated ? 3.0 : 2.0) * plan->hidden * ffn;
}

static bool is_mixture(const struct training_plan *plan)
{
    return plan->experts > 1;
}

/* Of a layer, that all tokens use. */
static double common_parameters(const struct training_plan *plan)
{
    return attention_parameters(plan) + mlp_parameters(plan, is_mixture(plan) ? plan->shared_ffn : plan->ffn);
}

static double embedding_parameters(const struct training_plan *plan)
{
    return 2.0 * plan->vocabulary * plan->hidden; /* in and out, not tied */
}

uint64_t training_plan_replica_gpus(const struct training_plan *plan)
{
    return (uint64_t)plan->tp * plan->pp * plan->cp;
}

uint64_t training_plan_gpus(const struct training_plan *plan)
{
    return training_plan_replica_gpus(plan) * plan->dp;
}

double training_plan_microbatches(const struct training_plan *plan)
{
    return (double)plan->batch / ((double)plan->dp * plan->micro_batch);
}

double training_plan_expert_parameters(const struct training_plan *plan)
{
    return is_mixture(plan) ? (double)plan->layers * plan->experts * mlp_parameters(plan, plan->ffn) : 0;
}

double training_plan_parameters(const struct training_plan *plan)
{
    return plan->layers * common_parameters(plan) + training_plan_expert_parameters(plan) + embedding_parameters(plan);
}

struct training_flops training_plan_flops_by_part(const struct training_plan *plan)
{
    const double tokens = (double)plan->batch * plan->sequence, layers = 6 * tokens * plan->layers;
    return (struct training_flops){
        .products = layers * common_parameters(plan),
        .experts = is_mixture(plan) ? layers * plan->experts_per_token * mlp_parameters(plan, plan->ffn) : 0,
        .scores = layers * 2.0 * plan->sequence * attention_width(plan),
        .head = 6 * tokens * plan->vocabulary * plan->hidden,
    };
}

double training_plan_flops(const struct training_plan *plan)
{
    const struct training_flops flops = training_plan_flops_by_part(plan);
    return flops.products + flops.experts + flops.scores + flops.head;
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
           (plan->head_size > 0 || check_divides(why, "heads", plan->heads, "hidden", plan->hidden)) &&
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
    if (plan->experts == 1 && plan->shared_ffn > 0)
        return complain(why, "shared_ffn", "shared_ffn = %u, but the model has no experts", plan->shared_ffn);
    const bool is_replica_apart = (uint64_t)plan->tp * plan->cp > 1;
    const uint64_t members = (uint64_t)plan->tp * plan->cp * plan->dp;
    if (members % plan->ep != 0)
        return complain(why, "ep", "ep = %u does not divide %s = %llu", plan->ep,
                        is_replica_apart ? "tp x cp x dp" : "dp", (unsigned long long)members);
    return plan->ep == 1 || check_divides(why, "ep", plan->ep, "experts", plan->experts);
}

bool training_plan_check(const struct training_plan *plan, struct training_complaint *why)
{
    if (!check_split(plan, why) || !check_experts(plan, why))
        return false;
    if (plan->head_size == 0)
        return complain(why, "heads", "a head of %u heads has no size", plan->heads);
    if (!check_divides(why, "cp", plan->cp, "sequence", plan->sequence))
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

/* How a replica is split, in words: "tp x pp" and "8 x 2"; with context parallelism "tp x pp x cp". */
struct split {
    char names[16], numbers[40];
};

static void split_words(const struct training_plan *plan, struct split *split)
{
    const bool has_cp = plan->cp > 1;
    snprintf(split->names, sizeof split->names, has_cp ? "tp x pp x cp" : "tp x pp");
    int length = snprintf(split->numbers, sizeof split->numbers, "%u x %u", plan->tp, plan->pp);
    if (has_cp)
        snprintf(split->numbers + length, sizeof split->numbers - (size_t)length, " x %u", plan->cp);
}

bool training_plan_fit(const struct training_plan *declared, uint64_t gpu_count, struct training_plan *fitted,
                       struct training_complaint *why)
{
    const uint64_t replica = training_plan_replica_gpus(declared), gpus = training_plan_gpus(declared);
    struct split split;
    *fitted = *declared;
    split_words(declared, &split);
    if (declared->dp > 0 && gpus != gpu_count)
        return complain(why, "dp", "%s x dp = %s x %u = %llu GPUs, not %llu", split.names, split.numbers, declared->dp,
                        (unsigned long long)gpus, (unsigned long long)gpu_count);
    if (declared->dp == 0 && (gpu_count < replica || gpu_count % replica != 0))
        return complain(why, "tp", "%llu GPUs are not a multiple of %s = %s", (unsigned long long)gpu_count,
                        split.names, split.numbers);
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
    const uint64_t replica = training_plan_replica_gpus(plan);
    struct split split;
    split_words(plan, &split);
    const uint64_t gpus = (uint64_t)json_get_int(object, "gpus", 1, 100000000, 0);
    const uint32_t dp = count_of(object, "dp", REPLICAS_MAX, 0);
    const struct json_value given = json_member(object, "gpus");
    if (gpus == 0)
        return dp;
    if (dp == 0 && gpus % replica != 0)
        json_fail(&given, "%llu GPUs are not a multiple of %s = %s", (unsigned long long)gpus, split.names,
                  split.numbers);
    else if (dp > 0 && gpus != replica * dp)
        json_fail(&given, "%s x dp = %s x %u = %llu GPUs, not %llu", split.names, split.numbers, dp,
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
    plan->shared_ffn = (uint32_t)json_get_int(object, "shared_ffn", 0, 10000000, 0);
    plan->expert_load = json_get_real(object, "expert_load", 1, EXPERT_LOAD_MAX, 1);
    plan->head_size = count_of(object, "head_size", 1000000, 0);
    if (plan->head_size == 0 && plan->hidden % plan->heads == 0)
        plan->head_size = plan->hidden / plan->heads;
}

static enum training_attention usual_attention(const struct training_plan *plan)
{
    return plan->precision == TRAINING_FP8 || is_mixture(plan) ? TRAINING_CUDNN : TRAINING_FLASH2;
}

/* How the work is done: what is kept, recomputed, gathered. */
static void read_means(struct json_object *object, struct training_plan *plan)
{
    plan->zero = (uint32_t)json_get_int(object, "zero", 0, 3, 1);
    plan->has_reshard = json_get_bool(object, "reshard", true);
    plan->has_prefetch = json_get_bool(object, "prefetch", true);
    plan->recompute = (enum training_recompute)json_get_choice(object, "recompute", training_recompute_names, 0);
    plan->precision = (enum training_precision)json_get_choice(object, "precision", training_precision_names, 0);
    plan->attention = (enum training_attention)json_get_choice(object, "attention", training_attention_names,
                                                               (int)usual_attention(plan));
}

static void read_split(struct json_object *object, struct training_plan *plan)
{
    plan->pp = count_of(object, "pp", 100000, 1);
    plan->cp = count_of(object, "cp", 100000, 1);
    plan->dp = read_replicas(object, plan);
    plan->ep = count_of(object, "ep", 1000000, 1);
    plan->batch = count_needed(object, "batch", 1000000000);
    plan->micro_batch = count_of(object, "micro_batch", 1000000, 1);
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
    read_means(object, &plan);
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

/* Members that have their defaults are left out. */
static void write_means(const struct training_plan *plan, struct buffer *out)
{
    if (plan->cp > 1)
        buffer_format(out, ",\"cp\":%u", plan->cp);
    if ((uint64_t)plan->head_size * plan->heads != plan->hidden)
        buffer_format(out, ",\"head_size\":%u", plan->head_size);
    if (plan->shared_ffn > 0)
        buffer_format(out, ",\"shared_ffn\":%u", plan->shared_ffn);
    if (plan->expert_load > 1)
        buffer_format(out, ",\"expert_load\":%.17g", plan->expert_load);
    if (plan->zero != 1)
        buffer_format(out, ",\"zero\":%u", plan->zero);
    if (!plan->has_reshard)
        buffer_string(out, ",\"reshard\":false");
    if (!plan->has_prefetch)
        buffer_string(out, ",\"prefetch\":false");
    if (plan->recompute != TRAINING_RECOMPUTE_NONE)
        buffer_format(out, ",\"recompute\":\"%s\"", training_recompute_names[plan->recompute]);
    if (plan->attention != usual_attention(plan))
        buffer_format(out, ",\"attention\":\"%s\"", training_attention_names[plan->attention]);
}

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
    buffer_format(out, "\"batch\":%u,\"micro_batch\":%u,\"virtual_stages\":%u,\"precision\":\"%s\"", plan->batch,
                  plan->micro_batch, plan->virtual_stages, training_precision_names[plan->precision]);
    write_means(plan, out);
    buffer_char(out, '}');
}

/* ---- compared ---- */

enum { WORDS = 25 };

/* All members but the load, without padding. */
static void plan_words(const struct training_plan *plan, uint32_t words[static WORDS])
{
    const uint32_t all[WORDS] = {
        plan->tp,
        plan->pp,
        plan->dp,
        plan->ep,
        plan->cp,
        plan->layers,
        plan->hidden,
        plan->heads,
        plan->kv_heads,
        plan->ffn,
        plan->sequence,
        plan->vocabulary,
        plan->head_size,
        plan->experts,
        plan->shared_ffn,
        plan->experts_per_token,
        plan->batch,
        plan->micro_batch,
        plan->zero,
        plan->virtual_stages,
        plan->is_gated,
        plan->has_reshard,
        plan->precision,
        plan->recompute,
        (uint32_t)plan->attention * 2 + plan->has_prefetch,
    };
    memcpy(words, all, sizeof all);
}

bool training_plan_is_same(const struct training_plan *a, const struct training_plan *b)
{
    uint32_t of_a[WORDS], of_b[WORDS];
    plan_words(a, of_a);
    plan_words(b, of_b);
    return memcmp(of_a, of_b, sizeof of_a) == 0 && a->expert_load >= b->expert_load && a->expert_load <= b->expert_load;
}

uint64_t training_plan_hash(const struct training_plan *plan)
{
    uint32_t words[WORDS];
    plan_words(plan, words);
    return hash_mix(hash_bytes(words, sizeof words, 1), hash_bytes(&plan->expert_load, sizeof plan->expert_load, 2));
}
