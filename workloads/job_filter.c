#include "workloads/job_filter.h"

#include <string.h>

/* A condition on a name; NULL: there is none. */
static const char *name_read(struct json_object *object, const char *key, struct arena *arena)
{
    const struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return NULL;
    const char *name = json_value_string(&value);
    if (name[0] == '\0')
        json_fail(&value, "'%s' must be a name", key);
    return arena_copy(arena, text_of(name));
}

static void class_check(struct json_object *object, const char *name, const char *const *classes)
{
    const struct json_value value = json_member(object, "workload_class");
    for (size_t i = 0; classes[i] != NULL; i++)
        if (strcmp(classes[i], name) == 0)
            return;
    if (error_is(*value.error))
        return;
    json_fail(&value, "the workload has no class '%s'", name);
    error_hint_nearest(value.error, text_of(name), classes);
}

struct job_filter job_filter_read(struct json_object *object, int64_t gpus_least, struct arena *arena,
                                  const char *const *classes)
{
    struct job_filter filter = {.class = json_get_choice(object, "class", job_class_names, -1)};
    filter.workload_class = name_read(object, "workload_class", arena);
    filter.user = name_read(object, "user", arena);
    filter.gpus_min = json_get_int(object, "gpus_min", gpus_least, UINT32_MAX, gpus_least);
    filter.gpus_max = json_get_int(object, "gpus_max", gpus_least, UINT32_MAX, UINT32_MAX);
    const struct json_value most = json_member(object, "gpus_max"), user = json_member(object, "user");
    if (filter.gpus_max < filter.gpus_min)
        json_fail(&most, "'gpus_max' is %lld, below 'gpus_min', which is %lld", (long long)filter.gpus_max,
                  (long long)filter.gpus_min);
    if (filter.user != NULL && classes != NULL)
        json_fail(&user, "the jobs of a synthesized workload have no users");
    if (filter.workload_class != NULL && classes != NULL)
        class_check(object, filter.workload_class, classes);
    return filter;
}

static bool is_same_or_any(const char *condition, const char *name)
{
    return condition == NULL || strcmp(condition, name) == 0;
}

bool job_filter_passes(const struct job_filter *filter, const struct job *job, int64_t gpus, struct job_names names)
{
    return gpus >= filter->gpus_min && gpus <= filter->gpus_max && (filter->class < 0 || filter->class == job->class) &&
           is_same_or_any(filter->user, names.user) && is_same_or_any(filter->workload_class, names.workload_class);
}
