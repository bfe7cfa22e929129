#include "studies/run/chance.h"

#include <jansson.h>
#include <string.h>

static bool has_any(const json_t *object, const char *const *keys)
{
    for (size_t k = 0; keys[k] != NULL; k++)
        if (json_object_get(object, keys[k]) != NULL)
            return true;
    return false;
}

static bool is_drawn(const json_t *workload)
{
    static const char *const drawn[] = {"synth", "fill", "blocks", "shake", "sample", "growth", "activity", NULL};
    const json_t *merge = json_object_get(workload, "merge"), *part;
    size_t i;
    json_array_foreach(merge, i, part)
    {
        if (is_drawn(part))
            return true;
    }
    return (merge == NULL && !json_is_string(json_object_get(workload, "trace"))) || has_any(workload, drawn);
}

bool chance_of_scenario(const char *scenario_json)
{
    static const char *const drawn_world[] = {"faults", "cold_starts", NULL};
    json_t *root = json_loads(scenario_json, 0, NULL);
    json_t *workload = json_object_get(root, "workload"), *world = json_object_get(root, "world");
    json_t *monitor = json_object_get(world, "monitor");
    const char *estimates = json_string_value(json_object_get(json_object_get(world, "estimates"), "kind"));
    const bool has_chance = is_drawn(workload) || has_any(world, drawn_world) ||
                            json_number_value(json_object_get(monitor, "noise")) > 0 ||
                            json_number_value(json_object_get(monitor, "missing")) > 0 ||
                            (estimates != NULL && strcmp(estimates, "noisy") == 0);
    json_decref(root);
    return has_chance;
}

bool chance_of_result(const struct result *result)
{
    return result->facts.recuts > 0 || result->facts.is_decided_outside ||
           chance_of_scenario(result->manifest.scenario_json);
}
