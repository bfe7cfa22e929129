#include "policies/policy_config.h"

#include <stdio.h>
#include <string.h>

#include "policies/order/order.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"

enum { CHOICES_MAX = 32 };

struct policy_config policy_config_default(void)
{
    return (struct policy_config){
        .name = "default",
        .order = {&order_fifo},
        .order_count = 1,
        .is_strict = true,
        .quota = &quota_none,
        .placement = &placement_best_fit,
        .preemption = &preemption_none,
        .preempt = {.grace = 120 * TIME_NS_PER_S,
                    .min_runtime = 300 * TIME_NS_PER_S,
                    .attempts_per_cycle = 4,
                    .victims_max = 64,
                    .evictions_per_job_max = 10},
    };
}

/* Every registry is an array of pointers to structs that begin with the name. */
static uint32_t names_of(const void *registry, const char *names[CHOICES_MAX])
{
    const char *const *const *entries = registry;
    uint32_t count = 0;
    for (; entries[count] != NULL && count + 1 < CHOICES_MAX; count++)
        names[count] = *entries[count];
    names[count] = NULL;
    return count;
}

/* The chosen entry of a registry, or `otherwise`. */
static const void *choose(struct json_object *object, const char *key, const void *registry,
                          const void *otherwise)
{
    const char *names[CHOICES_MAX];
    names_of(registry, names);
    int chosen = json_get_choice(object, key, names, -1);
    return chosen < 0 ? otherwise : ((const void *const *)registry)[chosen];
}

static void read_order(struct policy_config *config, struct json_object *object)
{
    const char *names[CHOICES_MAX];
    struct json_value order = json_member(object, "order");
    uint32_t known = names_of(order_policies, names);
    size_t count = json_array_count(&order);
    if (order.node == NULL)
        return;
    if (count == 0 || count > ORDER_CHAIN_MAX) {
        json_fail(&order, "'order' must name from 1 to %d policies", ORDER_CHAIN_MAX);
        return;
    }
    config->order_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&order, i);
        const char *name = json_value_string(&item);
        uint32_t at = 0;
        while (name != NULL && at < known && strcmp(names[at], name) != 0)
            at++;
        if (name == NULL || at == known) {
            json_fail(&item, "there is no order '%s'", name != NULL ? name : "");
            return;
        }
        config->order[i] = order_policies[at];
    }
}

static void read_preemption(struct policy_config *config, struct json_object *object)
{
    struct json_value value = json_member(object, "preemption");
    struct preemption_config *preempt = &config->preempt;
    struct json_object p;
    if (value.node == NULL)
        return;
    json_object_open(&p, &value);
    config->preemption = choose(&p, "policy", preemption_policies, config->preemption);
    preempt->grace = json_get_duration(&p, "grace_s", preempt->grace);
    preempt->min_runtime = json_get_duration(&p, "min_runtime_s", preempt->min_runtime);
    preempt->attempts_per_cycle =
        json_get_int(&p, "attempts_per_cycle", 1, 1000000, preempt->attempts_per_cycle);
    preempt->victims_max = json_get_int(&p, "victims_max", 1, 1000000, preempt->victims_max);
    preempt->evictions_per_job_max =
        json_get_int(&p, "evictions_per_job_max", 0, 1000000, preempt->evictions_per_job_max);
    json_object_close(&p);
}

void policy_config_read(struct policy_config *config, const struct json_value *value)
{
    static const char *const blocking[] = {"skip", "strict", NULL};
    struct json_object object;
    *config = policy_config_default();
    json_object_open(&object, value);
    const char *name = json_get_string(&object, "name", "custom");
    snprintf(config->name, sizeof config->name, "%s", name);
    json_get_string(&object, "summary", NULL); /* for people */
    read_order(config, &object);
    config->is_strict = json_get_choice(&object, "blocking", blocking, 1) == 1;
    config->quota = choose(&object, "quota", quota_policies, config->quota);
    config->placement = choose(&object, "placement", placement_policies, config->placement);
    read_preemption(config, &object);
    json_object_close(&object);
}
