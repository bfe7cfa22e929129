/* sim/cases/case_read.c -- what the parts of a case read alike. */
#include "sim/cases/case_read.h"

#include "workloads/job_json.h"

const char *const case_status_names[] = {"pending", "running", "releasing", NULL};

const struct json_value *case_member(struct case_reading *reading, struct json_object *object,
                                     const struct json_value *parent, const char *key)
{
    struct json_value *kept = arena_alloc_array(reading->arena, 1, struct json_value);
    *kept = json_member(object, key);
    kept->parent = parent;
    return kept;
}

const struct json_value *case_item(struct case_reading *reading, const struct json_value *array, size_t index)
{
    struct json_value *kept = arena_alloc_array(reading->arena, 1, struct json_value);
    *kept = json_array_item(array, index);
    return kept;
}

time_ns case_duration(struct json_object *object, const char *key, time_ns otherwise)
{
    time_ns duration = json_get_duration(object, key, otherwise);
    if (duration != otherwise && duration > CASE_NOW) {
        struct json_value value = json_member(object, key);
        json_fail(&value, "'%s' must not be more than %d days", key, CASE_PAST_DAYS_MAX);
    }
    return duration;
}

uint32_t case_memory_mib(struct json_object *object, const char *key, double gb_max, uint32_t otherwise)
{
    if (!json_has(object, key))
        return otherwise;
    return (uint32_t)(json_get_real(object, key, 0, gb_max, 0) * CASE_MIB_PER_GB + 0.5);
}

struct topology_ask case_topology_read(struct case_reading *reading, struct json_object *object)
{
    const struct topology_ask ask = job_topology_get(reading->spec->cluster, object);
    const struct json_value value = json_member(object, "topology");
    if (ask.preferred != 0 && ask.preferred < ask.required)
        json_fail(&value, "the preferred level is wider than the required one");
    return ask;
}
