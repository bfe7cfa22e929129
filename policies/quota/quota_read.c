#include "policies/quota/quota_read.h"
#include "policies/quota/quota_config.h"

#include "policies/util/choose.h"

struct quota_config quota_config_default(void)
{
    return (struct quota_config){
        .saturation_milli = 1000, /* KAI-Scheduler: 1.0, the least that cannot loop */
        .share_period = 60 * TIME_NS_PER_S,
        .reclaim_within_cohort = RECLAIM_NEVER, /* Kueue's default */
        .borrow_within_cohort = RECLAIM_NEVER,  /* Kueue's default */
        .borrow_max_priority = INT32_MAX,
        .strategies = {STRATEGY_FINAL_SHARE, STRATEGY_INITIAL_SHARE}, /* Kueue's default */
    };
}

static void read_usage(struct quota_config *config, struct json_object *object)
{
    struct json_value period = json_member(object, "share_period_s");
    config->window = json_get_duration(object, "window_s", config->window);
    config->half_life = json_get_duration(object, "half_life_s", config->half_life);
    config->usage_weight_milli =
        json_get_scaled(object, "usage_weight", 1000, 0, INT32_MAX, config->usage_weight_milli);
    config->share_period = json_get_duration(object, "share_period_s", config->share_period);
    if (period.node != NULL && config->share_period < TIME_NS_PER_S)
        json_fail(&period, "'share_period_s' must be at least a second");
}

static void read_strategies(struct quota_config *config, struct json_object *object)
{
    static const struct {
        const char *name;
        uint8_t strategy;
    } final_share = {"final_share", STRATEGY_FINAL_SHARE}, initial_share = {"initial_share", STRATEGY_INITIAL_SHARE};
    static const void *const registry[] = {&final_share, &initial_share, NULL};
    const void *chosen[COHORT_STRATEGIES_MAX];
    struct json_value value = json_member(object, "strategies");
    if (value.node == NULL)
        return;
    uint32_t count = choose_chain(&value, 0, "strategy", registry, chosen, COHORT_STRATEGIES_MAX);
    for (uint32_t i = 0; i < COHORT_STRATEGIES_MAX; i++)
        config->strategies[i] = i >= count                  ? STRATEGY_NONE
                                : chosen[i] == &final_share ? STRATEGY_FINAL_SHARE
                                                            : STRATEGY_INITIAL_SHARE;
}

static void read_cohort(struct quota_config *config, struct json_object *object)
{
    static const char *const reclaim[] = {"never", "lower_priority", "any", NULL}; /* within_cohort */
    static const char *const borrow[] = {"never", "lower_priority", NULL};
    config->fair_sharing = json_get_bool(object, "fair_sharing", config->fair_sharing);
    config->reclaim_within_cohort =
        (uint8_t)json_get_choice(object, "reclaim_within_cohort", reclaim, config->reclaim_within_cohort);
    config->borrow_within_cohort =
        (uint8_t)json_get_choice(object, "borrow_within_cohort", borrow, config->borrow_within_cohort);
    config->borrow_max_priority =
        (int32_t)json_get_int(object, "borrow_max_priority", INT32_MIN, INT32_MAX, config->borrow_max_priority);
    read_strategies(config, object);
}

void quota_config_read(struct quota_config *config, const struct quota_policy **policy, const void *registry,
                       const struct json_value *value)
{
    struct json_object object;
    if (value->node == NULL)
        return;
    if (json_is_string(value->node)) {
        const void *chosen = choose_value(value, "quota", registry);
        *policy = chosen != NULL ? chosen : *policy;
        return;
    }
    json_object_open(&object, value);
    *policy = choose_member(&object, "policy", registry, *policy);
    config->firm_needs_quota = json_get_bool(&object, "firm_needs_quota", config->firm_needs_quota);
    config->saturation_milli =
        json_get_scaled(&object, "saturation_multiplier", 1000, 1000, INT32_MAX, config->saturation_milli);
    read_usage(config, &object);
    read_cohort(config, &object);
    json_object_close(&object);
}
