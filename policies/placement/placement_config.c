#include "policies/placement/placement_config.h"

struct placement_config placement_config_default(void)
{
    /* In Volcano's binpack plug-in the default weight of CPU and memory is 1, and extended resources have no default; 5
     * for GPUs is of the order of its examples (github.com/volcano-sh/volcano,
     * pkg/scheduler/plugins/binpack/binpack.go).
     */
    return (struct placement_config){.gpu_choice = GPU_CHOICE_LOWEST,
                                     .topology = {.weight = PLACEMENT_WEIGHT_MAX / 2},
                                     .weights = {.gpu = 5, .cpu = 1, .memory = 1}};
}

static void read_weight(int32_t *weight, struct json_object *object, const char *key)
{
    *weight = (int32_t)json_get_int(object, key, 0, PLACEMENT_WEIGHT_MAX, *weight);
}

static void read_topology(struct topology_config *config, const struct json_value *value)
{
    static const char *const modes[] = {"as_asked", "loose", "preferred", "required", NULL}; /* enum topology_mode */
    static const char *const domains[] = {"best_fit", "least_free", "balanced", "fewest",
                                          "block",    "nested",     NULL}; /* enum topology_domains */
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    config->mode = (uint8_t)json_get_choice(&object, "mode", modes, config->mode);
    config->weight = (uint16_t)json_get_int(&object, "weight", 0, PLACEMENT_WEIGHT_MAX, config->weight);
    config->domains = (uint8_t)json_get_choice(&object, "domains", domains, config->domains);
    json_object_close(&object);
}

struct topology_ask topology_ask_under(enum topology_mode mode, struct topology_ask ask)
{
    const uint8_t narrower = ask.preferred > ask.required ? ask.preferred : ask.required;
    switch (mode) {
    case TOPOLOGY_LOOSE:
        return (struct topology_ask){0};
    case TOPOLOGY_PREFERRED:
        return (struct topology_ask){.preferred = narrower};
    case TOPOLOGY_REQUIRED:
        return (struct topology_ask){.required = narrower};
    default:
        return ask;
    }
}

void placement_config_read(struct placement_config *config, struct json_object *object)
{
    static const char *const choices[] = {"lowest", "near", "rails", NULL}; /* enum gpu_choice */
    config->gpu_choice = (enum gpu_choice)json_get_choice(object, "gpu_choice", choices, (int)config->gpu_choice);
    read_weight(&config->warm_weight, object, "warm_weight");
    struct json_value topology = json_member(object, "topology");
    read_topology(&config->topology, &topology);
    struct json_object weights;
    if (!json_object_at(&weights, object, "placement_weights"))
        return;
    read_weight(&config->weights.gpu, &weights, "gpu");
    read_weight(&config->weights.cpu, &weights, "cpu");
    read_weight(&config->weights.memory, &weights, "memory");
    json_object_close(&weights);
    if (config->weights.gpu == 0 && config->weights.cpu == 0 && config->weights.memory == 0)
        json_fail(&weights.value, "'placement_weights' must name a weight above 0");
}
