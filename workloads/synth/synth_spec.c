#include "workloads/synth/synth_spec.h"

#include <math.h>
#include <string.h>

#include "topologies/mig.h"

enum {
    PRIORITY_DEFAULT = 50,
    PEAK_HOUR_DEFAULT = 14,
    MIB_PER_GB = 1024,
    MILLI = 1000,
};

#define WEEKEND_FACTOR_DEFAULT 0.5 /* arrivals on a weekend day / on a weekday, under "weekly" */
#define SHARES_TOLERANCE       1e-6

static const char *text_kept(struct json_object *object, const char *key, struct arena *arena)
{
    const char *text = json_get_string(object, key, NULL);
    return text != NULL ? arena_copy(arena, text_of(text)) : NULL;
}

/* ---- Arrivals ---------------------------------------------------------------------------------- */

static void burst_read(struct json_object *owner, struct arrivals_shape *shape)
{
    struct json_object object;
    if (!json_object_at(&object, owner, "burst"))
        return;
    json_need(&object, "factor");
    json_need(&object, "duration");
    shape->burst_factor = json_get_real(&object, "factor", 1, 1000, 1);
    shape->burst_duration = json_get_duration(&object, "duration", 0);
    shape->bursts_per_day = (uint32_t)json_get_int(&object, "per_day", 1, 1440, 1);
    json_object_close(&object);
    time_ns day = HOURS_PER_DAY * INT64_C(3600) * TIME_NS_PER_S;
    if (shape->burst_duration > day / shape->bursts_per_day)
        json_fail(&object.value, "bursts must fit into a day: 'duration' times 'per_day' is more");
}

static void arrivals_read(struct json_object *owner, struct arrivals_shape *shape)
{
    static const char *const processes[] = {"poisson", NULL};
    struct json_object object;
    *shape = (struct arrivals_shape){
        .peak = 1, .peak_hour = PEAK_HOUR_DEFAULT, .weekend_factor = 1, .burst_factor = 1, .bursts_per_day = 1};
    if (!json_object_at(&object, owner, "arrivals"))
        return;
    (void)json_get_choice(&object, "process", processes, 0);
    shape->peak = json_get_real(&object, "diurnal_peak_to_mean", 1, 2, 1);
    shape->peak_hour = (double)json_get_int(&object, "peak_hour", 0, HOURS_PER_DAY - 1, PEAK_HOUR_DEFAULT);
    bool is_weekly = json_get_bool(&object, "weekly", json_has(&object, "weekend_factor"));
    double factor = json_get_real(&object, "weekend_factor", 0, 7, WEEKEND_FACTOR_DEFAULT);
    shape->weekend_factor = is_weekly ? factor : 1;
    burst_read(&object, shape);
    json_object_close(&object);
}

/* ---- Sizes and run times ----------------------------------------------------------------------- */

static bool is_mig_known(const char *name)
{
    uint64_t models;
    return ask_mig(NULL, text_of(name), &models) != 0;
}

static void size_check(const struct json_value *value, const struct synth_size *size)
{
    struct job job = job_default();
    struct ask ask = size->ask;
    enum ask_field culprit;
    if (size->mig != NULL && !is_mig_known(size->mig)) {
        json_fail(value, "'mig' must be a MIG profile such as 1g.10gb, got \"%s\"", size->mig);
        return;
    }
    if (ask.tensor_parallel != 0 &&
        (ask.gpus == 0 || ask.gpus % ask.tensor_parallel != 0 || ask.nodes != 0 || ask.min_members != 0)) {
        json_fail(value, "'tensor_parallel' must divide 'gpus', and excludes 'nodes' and 'min_members'");
        return;
    }
    if (size->claim != NULL || size->gpu_class != NULL)
        return; /* the cluster decides how they are made: synth_complaint */
    ask.mig = size->mig != NULL;
    const char *complaint = ask_shape(&ask, &job, &culprit);
    if (complaint != NULL)
        json_fail(value, "this size cannot be: %s", complaint);
}

static void topology_read(struct json_object *owner, struct synth_size *size, struct arena *arena)
{
    struct json_object object;
    if (!json_object_at(&object, owner, "topology"))
        return;
    size->required = text_kept(&object, "required", arena);
    size->preferred = text_kept(&object, "preferred", arena);
    json_object_close(&object);
}

static struct text kept(struct text text, struct arena *arena)
{
    return text.length == 0 ? text : text_of(arena_copy(arena, text));
}

/* "claim", which gives all of the GPU request. */
static void claim_read_size(struct json_object *object, struct synth_size *size, struct arena *arena)
{
    static const char *const said[] = {"gpus",      "nodes",     "gpu_milli",   "gpu_memory_gb",  "mig",
                                       "gpu_model", "gpu_class", "min_members", "tensor_parallel"};
    struct json_value value = json_member(object, "claim");
    if (value.node == NULL)
        return;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct json_value place = json_member(object, said[i]);
        if (place.node != NULL)
            json_fail(&place, "'%s': it excludes 'claim', which says it", said[i]);
    }
    struct claim *claim = arena_alloc(arena, sizeof *claim);
    *claim = claim_read(&value);
    claim->class = kept(claim->class, arena);
    claim->model = kept(claim->model, arena);
    claim->match = kept(claim->match, arena);
    size->claim = claim;
}

static void size_read(const struct json_value *value, struct synth_size *size, struct arena *arena)
{
    struct json_object object;
    json_object_open(&object, value);
    struct ask *ask = &size->ask;
    size->weight = json_get_real(&object, "weight", 0, 1e12, 1);
    ask->gpus = json_get_int(&object, "gpus", 0, ASK_GPUS_MAX, 0);
    ask->nodes = json_get_int(&object, "nodes", 1, CLUSTER_NODES_MAX, 0);
    ask->gpu_milli = json_get_int(&object, "gpu_milli", 1, GPU_MILLI, 0);
    ask->gpu_memory_mib = json_get_scaled(&object, "gpu_memory_gb", MILLI, 1, 1000 * MILLI, 0) * MIB_PER_GB / MILLI;
    ask->cpu_milli = json_get_scaled(&object, "cpus", MILLI, 0, INT32_MAX, 0);
    ask->memory_mib = json_get_scaled(&object, "memory_gb", MILLI, 0, INT32_MAX, 0) * MIB_PER_GB / MILLI;
    ask->min_members = json_get_int(&object, "min_members", 1, ASK_GPUS_MAX, 0);
    ask->tensor_parallel = json_get_int(&object, "tensor_parallel", 2, ASK_GPUS_MAX, 0);
    size->mig = text_kept(&object, "mig", arena);
    size->gpu_model = text_kept(&object, "gpu_model", arena);
    size->gpu_class = text_kept(&object, "gpu_class", arena);
    if (size->gpu_class != NULL && !json_has(&object, "gpus"))
        ask->gpus = 1;
    claim_read_size(&object, size, arena);
    topology_read(&object, size, arena);
    const struct node_ask draft = node_ask_read(&object, arena);
    const struct node_ask *kept = error_is(*value->error) ? NULL : node_ask_make(arena, NULL, &draft);
    if (kept != NULL)
        size->nodes = *kept;
    int64_t gpus = size->claim != NULL ? size->claim->count : ask->gpus;
    double whole_default = gpus != 0 ? (double)gpus : 1;
    size->whole_gpus = json_get_real(&object, "whole_gpus", 1e-3, ASK_GPUS_MAX, whole_default);
    json_object_close(&object);
    size_check(value, size);
}

static void sizes_read(const struct json_value *value, struct synth_class *class, struct arena *arena)
{
    size_t count = json_array_count(value);
    double weights = 0;
    if (count == 0 || count > SYNTH_SIZES_MAX) {
        json_fail(value, "'sizes' must be an array of 1 to %d sizes", SYNTH_SIZES_MAX);
        return;
    }
    class->sizes = arena_alloc_array(arena, count, struct synth_size);
    class->size_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(value, i);
        size_read(&item, &class->sizes[i], arena);
        weights += class->sizes[i].weight;
    }
    if (weights <= 0)
        json_fail(value, "at least one size must have a 'weight' above 0");
}

/* ---- Classes ----------------------------------------------------------------------------------- */

/* A range of parts, `[low, high]`; where the class has none, both stay as they are. */
static void range_read(struct json_object *object, const char *name, uint16_t *low, uint16_t *high)
{
    const struct json_value value = json_member(object, name);
    if (value.node == NULL)
        return;
    if (json_array_count(&value) != 2) {
        json_fail(&value, "'%s' must be an array of two numbers from 0 to 1", name);
        return;
    }
    struct json_value first = json_array_item(&value, 0), last = json_array_item(&value, 1);
    *low = (uint16_t)lrint(json_value_real(&first, 0, 1) * MILLI);
    *high = (uint16_t)lrint(json_value_real(&last, 0, 1) * MILLI);
    if (*low > *high)
        json_fail(&value, "'%s' must be the lower number, then the higher one", name);
}

static void checkpoint_read(struct json_object *owner, struct checkpoint_plan *plan)
{
    struct json_object object;
    if (!json_object_at(&object, owner, "checkpoint"))
        return;
    json_need(&object, "interval");
    plan->interval = json_get_duration(&object, "interval", 0);
    plan->duration = json_get_duration(&object, "duration", 0);
    plan->restart = json_get_duration(&object, "restart", 0);
    json_object_close(&object);
}

static void outcome_read(struct json_object *object, struct synth_class *class)
{
    class->fail_early = json_get_real(object, "fail_early", 0, 1, 0);
    class->cancelled = json_get_real(object, "cancelled", 0, 1, 0);
    if (class->fail_early + class->cancelled > 1)
        json_fail(&object->value, "'fail_early' and 'cancelled' must not sum to more than 1");
    double would_do = json_get_real(object, "would_do", 1.0 / MILLI, 1, 1);
    class->would_do_milli = (uint16_t)lrint(would_do * MILLI);
    class->sm_active_low = class->sm_active_high = SM_ACTIVE_UNKNOWN;
    range_read(object, "sm_active", &class->sm_active_low, &class->sm_active_high);
    range_read(object, "memory_bandwidth", &class->bandwidth_low, &class->bandwidth_high);
}

static void class_read(const struct json_value *value, struct synth_class *class, struct arena *arena)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "sizes");
    json_need(&object, "run_time");
    class->class = (enum job_class)json_get_choice(&object, "class", job_class_names, JOB_TRAINING);
    class->name = text_kept(&object, "name", arena);
    if (class->name == NULL)
        class->name = job_class_name(class->class);
    class->queue = text_kept(&object, "queue", arena);
    json_need(&object, "share");
    class->share = json_get_real(&object, "share", 0, 1, 0);
    class->priority = (int32_t)json_get_int(&object, "priority", INT32_MIN, INT32_MAX, PRIORITY_DEFAULT);
    class->is_preemptible = json_get_bool(&object, "preemptible", true);
    class->is_firm_by_priority = !json_has(&object, "preemptible");
    arrivals_read(&object, &class->arrivals);
    struct json_value sizes = json_member(&object, "sizes");
    sizes_read(&sizes, class, arena);
    struct json_value run_time = json_member(&object, "run_time");
    distribution_read(&class->run_time, &run_time, NULL, true);
    outcome_read(&object, class);
    checkpoint_read(&object, &class->checkpoint);
    class->limit = json_get_duration(&object, "limit", TIME_NEVER);
    if (class->limit == 0)
        json_fail(value, "'limit' must be more than 0");
    json_object_close(&object);
}

static void classes_check(const struct json_value *value, const struct synth_spec *spec)
{
    double shares = 0;
    for (uint32_t i = 0; i < spec->class_count; i++) {
        shares += spec->classes[i].share;
        for (uint32_t other = 0; other < i; other++)
            if (strcmp(spec->classes[i].name, spec->classes[other].name) == 0)
                json_fail(value, "two classes have the name '%s'; 'name' must tell them apart", spec->classes[i].name);
    }
    if (fabs(shares - 1) > SHARES_TOLERANCE)
        json_fail(value, "the shares of the classes must sum to 1, not to %g", shares);
}

static void classes_read(const struct json_value *value, struct synth_spec *spec, struct arena *arena)
{
    size_t count = json_array_count(value);
    if (count == 0 || count > SYNTH_CLASSES_MAX) {
        json_fail(value, "'classes' must be an array of 1 to %d classes", SYNTH_CLASSES_MAX);
        return;
    }
    spec->classes = arena_alloc_array(arena, count, struct synth_class);
    spec->class_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(value, i);
        class_read(&item, &spec->classes[i], arena);
        if (error_is(*value->error))
            return;
    }
    classes_check(value, spec);
}

static void tenants_read(struct json_object *owner, struct synth_tenancy *tenants)
{
    struct json_object object;
    if (!json_object_at(&object, owner, "tenants"))
        return;
    json_need(&object, "projects");
    tenants->organisations = (uint32_t)json_get_int(&object, "organisations", 1, 100000, 1);
    tenants->teams = (uint32_t)json_get_int(&object, "teams", 1, 100000, tenants->organisations);
    tenants->projects = (uint32_t)json_get_int(&object, "projects", 1, 1000000, 1);
    tenants->zipf_exponent = json_get_real(&object, "zipf_exponent", 0, 10, 1);
    json_object_close(&object);
    if (tenants->teams < tenants->organisations || tenants->projects < tenants->teams)
        json_fail(&object.value, "an organisation must have a team and a team a project");
}

struct synth_spec *synth_read(const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    struct synth_spec *spec = arena_alloc(arena, sizeof *spec);
    json_object_open(&object, value);
    json_need(&object, "classes");
    spec->duration = json_get_duration(&object, "duration", TIME_NEVER);
    spec->job_count = (uint64_t)json_get_int(&object, "jobs", 1, INT64_MAX, INT64_MAX);
    spec->load_whole_gpu = json_get_real(&object, "load_whole_gpu", 1e-9, 1000, 0);
    if (spec->duration == 0)
        json_fail(value, "'duration' must be more than 0");
    if (!json_has(&object, "duration") && !json_has(&object, "jobs"))
        json_fail(value, "a synthesized workload must end: give 'duration' or 'jobs'");
    tenants_read(&object, &spec->tenants);
    struct json_value classes = json_member(&object, "classes");
    if (classes.node != NULL)
        classes_read(&classes, spec, arena);
    json_need(&object, "load_whole_gpu");
    json_object_close(&object);
    return error_is(*value->error) ? NULL : spec;
}

/* ---- Means ------------------------------------------------------------------------------------- */

double synth_class_whole_gpus(const struct synth_class *class)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < class->size_count; i++) {
        sum += class->sizes[i].weight * class->sizes[i].whole_gpus;
        weights += class->sizes[i].weight;
    }
    return sum / weights;
}

double synth_class_mean_s(const struct synth_class *class)
{
    double kept = 1 - class->fail_early * (1 - SYNTH_FAILED_MEAN) - class->cancelled * (1 - SYNTH_CANCELLED_MEAN);
    return distribution_mean(&class->run_time, 0) * kept;
}
