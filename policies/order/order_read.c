#include "policies/order/order_read.h"

#include "policies/util/choose.h"

#define WEIGHT_MAX        INT64_C(4294967295) /* a weight in Slurm is an unsigned 32-bit number */
#define BILLING_MILLI_MAX INT64_C(1000000)
#define LAS_LIMIT_S_MAX   (TIME_NS_MAX / TIME_NS_PER_S)

enum { ORDER_NAMES_MAX = 16 };

struct order_config order_config_default(void)
{
    return (struct order_config){
        .period = 300 * TIME_NS_PER_S, /* Slurm's PriorityCalcPeriod */
        .las_limit_count = 2,
        .las_limit_gpu_ns = {3250 * TIME_NS_PER_S, 7200 * TIME_NS_PER_S}, /* Tiresias, run_sim.py */
        .age_max = 7 * 86400 * TIME_NS_PER_S,                             /* Slurm's PriorityMaxAge */
        .half_life = 7 * 86400 * TIME_NS_PER_S,                           /* Slurm's PriorityDecayHalfLife */
        .fair_share = FAIR_SHARE_TREE,
    };
}

void order_chain_read(const struct order_policy *chain[], uint32_t *count, uint32_t max, const void *registry,
                      struct json_object *object)
{
    const void *chosen[ORDER_NAMES_MAX];
    struct json_value order = json_member(object, "order");
    if (order.node == NULL)
        return;
    *count = choose_chain(&order, 0, "order", registry, chosen, max < ORDER_NAMES_MAX ? max : ORDER_NAMES_MAX);
    for (uint32_t i = 0; i < *count; i++)
        chain[i] = chosen[i];
}

/* A duration of at least a second, which bounds how often ranks are computed. */
static time_ns read_period(struct json_object *object, const char *key, time_ns otherwise)
{
    time_ns period = json_get_duration(object, key, otherwise);
    struct json_value value = json_member(object, key);
    if (value.node != NULL && period < TIME_NS_PER_S)
        json_fail(&value, "'%s' must be at least a second", key);
    return period;
}

static void read_las_limits(struct order_config *config, struct json_object *object)
{
    struct json_value limits = json_member(object, "las_limits_gpu_s");
    size_t count = json_array_count(&limits);
    if (limits.node == NULL)
        return;
    if (count == 0 || count > LAS_QUEUES_MAX) {
        json_fail(&limits, "'las_limits_gpu_s' must hold from 1 to %d limits", LAS_QUEUES_MAX);
        return;
    }
    config->las_limit_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&limits, i);
        config->las_limit_gpu_ns[i] = json_value_int(&item, 1, LAS_LIMIT_S_MAX) * TIME_NS_PER_S;
        if (i > 0 && config->las_limit_gpu_ns[i] <= config->las_limit_gpu_ns[i - 1])
            json_fail(&item, "each limit must be larger than the one before");
    }
}

static int64_t read_weight(struct json_object *object, const char *key, int64_t otherwise)
{
    return json_get_int(object, key, 0, WEIGHT_MAX, otherwise);
}

static void read_resource_weights(struct order_config *config, struct json_object *object)
{
    struct json_object weights;
    if (!json_object_at(&weights, object, "weight_tres"))
        return;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        config->weight_tres[r] = read_weight(&weights, resource_names[r], config->weight_tres[r]);
    json_object_close(&weights);
}

static void read_billing(struct order_config *config, struct json_object *object)
{
    struct json_object billing;
    if (!json_object_at(&billing, object, "billing"))
        return;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        config->billing_milli[r] =
            json_get_scaled(&billing, resource_names[r], 1000, 0, BILLING_MILLI_MAX, config->billing_milli[r]);
    json_object_close(&billing);
}

static void read_accounts(struct order_config *config, struct json_object *object)
{
    static const char *const decays[] = {"exact", "slurm", NULL};
    static const char *const kinds[] = {"tree", "classic", NULL}; /* enum fair_share_kind */
    struct json_value half_life = json_member(object, "half_life_s");
    config->half_life = json_get_duration(object, "half_life_s", config->half_life);
    if (half_life.node != NULL && config->half_life != 0 && config->half_life < TIME_NS_PER_S)
        json_fail(&half_life, "'half_life_s' must be 0, for no decay, or at least a second");
    config->decays_as_slurm = json_get_choice(object, "decay", decays, config->decays_as_slurm);
    config->fair_share = (uint8_t)json_get_choice(object, "fair_share", kinds, config->fair_share);
    read_billing(config, object);
}

void order_config_read(struct order_config *config, struct json_object *object)
{
    struct json_object fields;
    if (!json_object_at(&fields, object, "order_config"))
        return;
    config->period = read_period(&fields, "period_s", config->period);
    read_las_limits(config, &fields);
    config->las_promote_milli = json_get_scaled(&fields, "las_promote", 1000, 0, INT32_MAX, config->las_promote_milli);
    config->weight_age = read_weight(&fields, "weight_age", config->weight_age);
    config->weight_fair_share = read_weight(&fields, "weight_fair_share", config->weight_fair_share);
    config->weight_size = read_weight(&fields, "weight_size", config->weight_size);
    config->weight_priority = read_weight(&fields, "weight_priority", config->weight_priority);
    read_resource_weights(config, &fields);
    config->age_max = read_period(&fields, "age_max_s", config->age_max);
    config->favors_small = json_get_bool(&fields, "favors_small", config->favors_small);
    read_accounts(config, &fields);
    json_object_close(&fields);
}
