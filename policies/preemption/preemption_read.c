#include "policies/preemption/preemption_read.h"

#include <string.h>

#include "policies/preemption/victim_keys.h"
#include "policies/util/choose.h"

enum { STEPS_MAX = 1000000 };
#define FIRM_PRIORITY_NONE (INT64_C(1) << 31) /* above all priorities */

struct preemption_config preemption_config_default(void)
{
    return (struct preemption_config){
        .victims = {&victim_borrowers, &victim_priority, &victim_smallest, &victim_youngest},
        .victim_key_count = 4,
        .search = SEARCH_NODE,
        .within_queue = WITHIN_QUEUE_LOWER,
        .resolve = RESOLVE_LCA,
        .grace = 120 * TIME_NS_PER_S,
        .preempt_min_runtime = 300 * TIME_NS_PER_S,
        .reclaim_min_runtime = 300 * TIME_NS_PER_S,
        .attempts_per_cycle = 4,
        .victims_max = 64,
        .evictions_per_job_max = 10,
        .firm_priority = FIRM_PRIORITY_NONE,
    };
}

/* For example ["queue", "priority", "youngest"].  "queue" is not a key but sets by_queue; it may only stand first. */
static void read_victims(struct preemption_config *config, const void *keys, struct json_object *object)
{
    static const char *const by_queue[] = {"queue", NULL};
    const void *chosen[VICTIM_CHAIN_MAX];
    struct json_value victims = json_member(object, "victims");
    size_t count = json_array_count(&victims);
    if (victims.node == NULL)
        return;
    config->by_queue = false;
    if (count > 0) {
        struct json_value first = json_array_item(&victims, 0);
        config->by_queue = strcmp(json_value_string(&first), by_queue[0]) == 0;
        json_note_choices(&first, by_queue);
    }
    if (count == (config->by_queue ? 1 : 0)) { /* only the order chain reversed */
        config->victim_key_count = 0;
        return;
    }
    config->victim_key_count = choose_chain(&victims, config->by_queue, "victim key", keys, chosen, VICTIM_CHAIN_MAX);
    for (uint32_t i = 0; i < config->victim_key_count; i++)
        config->victims[i] = chosen[i];
}

static void read_manners(struct preemption_config *config, struct json_object *object)
{
    static const char *const searches[] = {"ordered", "node", NULL};                         /* victim_search */
    static const char *const within[] = {"never", "lower", "lower_or_newer", "order", NULL}; /* within_queue */
    static const char *const resolves[] = {"lca", "queue", NULL};                            /* runtime_resolve */
    config->search = (uint8_t)json_get_choice(object, "search", searches, config->search);
    config->within_queue = (uint8_t)json_get_choice(object, "within_queue", within, config->within_queue);
    config->replaces_victims = json_get_bool(object, "replaces_victims", config->replaces_victims);
    config->victims_of_this_cycle = json_get_bool(object, "victims_of_this_cycle", config->victims_of_this_cycle);
    config->resolve = (uint8_t)json_get_choice(object, "resolve", resolves, config->resolve);
    config->firm_priority = json_get_int(object, "firm_priority", INT32_MIN, FIRM_PRIORITY_NONE, config->firm_priority);
}

static void read_times(struct preemption_config *config, struct json_object *object)
{
    time_ns both = json_get_duration(object, "min_runtime_s", -1);
    if (both >= 0)
        config->preempt_min_runtime = config->reclaim_min_runtime = both;
    config->preempt_min_runtime = json_get_duration(object, "preempt_min_runtime_s", config->preempt_min_runtime);
    config->reclaim_min_runtime = json_get_duration(object, "reclaim_min_runtime_s", config->reclaim_min_runtime);
    config->grace = json_get_duration(object, "grace_s", config->grace);
    config->delay = json_get_duration(object, "delay_s", config->delay);
}

static void read_budgets(struct preemption_config *config, struct json_object *object)
{
    config->attempts_per_cycle = json_get_int(object, "attempts_per_cycle", 1, STEPS_MAX, config->attempts_per_cycle);
    config->victims_max = json_get_int(object, "victims_max", 1, STEPS_MAX, config->victims_max);
    config->rematch_cycles = json_get_int(object, "rematch_cycles", 0, STEPS_MAX, config->rematch_cycles);
    config->evictions_per_job_max =
        json_get_int(object, "evictions_per_job_max", 0, STEPS_MAX, config->evictions_per_job_max);
    config->loss_ratio_milli = json_get_scaled(object, "loss_ratio", 1000, 0, INT32_MAX, config->loss_ratio_milli);
}

void preemption_config_read(struct preemption_config *config, const struct preemption_policy **policy,
                            const void *policies, const void *keys, const struct json_value *value)
{
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    *policy = choose_member(&object, "policy", policies, *policy);
    read_victims(config, keys, &object);
    read_manners(config, &object);
    read_times(config, &object);
    read_budgets(config, &object);
    json_object_close(&object);
}
