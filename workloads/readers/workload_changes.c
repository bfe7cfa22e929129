#include "workloads/readers/workload_changes.h"

enum { LOAD_BY_ARRIVALS, LOAD_BY_DURATIONS };
static const char *const loop_names[] = {"open", "closed", NULL};
static const char *const load_by_names[] = {"arrivals", "durations", NULL};

#define SHARE_MIN 1e-9

static void load_by_read(struct workload_spec *spec, struct json_object *object)
{
    spec->scales_durations = json_get_choice(object, "load_by", load_by_names, LOAD_BY_ARRIVALS) == LOAD_BY_DURATIONS;
    if (json_has(object, "load_by") && spec->load == 0) {
        struct json_value value = json_member(object, "load_by");
        json_fail(&value, "'load_by' needs a 'load' that is reached so");
    }
}

static void sample_read(struct sample_plan *plan, struct json_object *object)
{
    struct json_object sample;
    if (!json_object_at(&sample, object, "sample"))
        return;
    json_need(&sample, "share");
    plan->share = json_get_real(&sample, "share", SHARE_MIN, 1, 1);
    plan->by = (enum sample_by)json_get_choice(&sample, "by", sample_by_names, SAMPLE_JOBS);
    plan->has_seed = json_has(&sample, "seed");
    plan->seed = (uint64_t)json_get_int(&sample, "seed", 0, INT64_MAX, 0);
    json_object_close(&sample);
}

static void tenants_read(struct tenants_plan *plan, struct json_object *object, struct arena *arena)
{
    struct json_object tenants;
    if (!json_object_at(&tenants, object, "tenants"))
        return;
    const struct json_value queues = json_member(&tenants, "queues"), users = json_member(&tenants, "users");
    name_rules_read(&plan->queues, &queues, arena);
    name_rules_read(&plan->users, &users, arena);
    json_object_close(&tenants);
}

static void growth_read(struct growth_plan *plan, struct json_object *object, struct arena *arena)
{
    struct json_object growth;
    if (!json_object_at(&growth, object, "growth"))
        return;
    json_need(&growth, "queues");
    const struct json_value queues = json_member(&growth, "queues");
    name_rules_read_factors(&plan->queues, &queues, GROWTH_FACTOR_MAX, arena);
    plan->jitter = json_get_duration(&growth, "jitter_s", GROWTH_JITTER_DEFAULT);
    json_object_close(&growth);
}

/* Refuse what makes no sense in a closed loop. */
static void loop_refuse(struct json_object *object, const struct workload_spec *spec)
{
    if (spec->load > 0 && !spec->scales_durations) {
        const struct json_value value = json_member(object, "load");
        json_fail(&value, "in a closed loop users make the gaps between arrivals, which cannot be scaled to a load: "
                          "give \"load_by\": \"durations\", or a cluster of fewer GPUs");
    }
    if (json_has(object, "fill")) {
        const struct json_value value = json_member(object, "loop");
        json_fail(&value, "a closed loop cannot stand beside 'fill', which uses no times of the trace");
    }
    if (spec->tenants.users.count > 0) {
        const struct json_value value = json_member(object, "loop");
        json_fail(&value, "a closed loop is one of persons, and 'tenants.users' makes one user of several: fold "
                          "'tenants.queues' alone");
    }
}

static void loop_read(struct workload_spec *spec, struct json_object *object)
{
    struct loop_plan *plan = &spec->loop;
    plan->is_closed = json_get_choice(object, "loop", loop_names, 0) == 1;
    plan->think_max = json_get_duration(object, "think_max_s", LOOP_THINK_MAX_DEFAULT);
    if (plan->is_closed)
        loop_refuse(object, spec);
    if (!json_has(object, "think_max_s") || plan->is_closed)
        return;
    const struct json_value value = json_member(object, "think_max_s");
    json_fail(&value, "'think_max_s' needs 'loop': \"closed\"");
}

void workload_changes_read(struct workload_spec *spec, struct json_object *object)
{
    load_by_read(spec, object);
    sample_read(&spec->sample, object);
    tenants_read(&spec->tenants, object, &spec->arena);
    growth_read(&spec->growth, object, &spec->arena);
    loop_read(spec, object);
}

/* ---- Is it the work of the trace? ---- */

static bool has_unrecorded_part(const struct workload_spec *spec)
{
    for (uint32_t i = 0; i < spec->part_count; i++)
        if (spec->parts[i].spec.trace == NULL || workload_unrecorded(&spec->parts[i].spec) != NULL)
            return true;
    return false;
}

const char *workload_unrecorded(const struct workload_spec *spec)
{
    const struct {
        const char *key;
        bool is_on;
    } keys[] = {
        {"load", spec->load > 0},
        {"fill", spec->fill.load > 0},
        {"blocks", spec->blocks != BLOCKS_NONE},
        {"sample", spec->sample.share > 0 && spec->sample.share < 1},
        {"growth", spec->growth.queues.count > 0},
        {"duration_scale", spec->duration_scale != 0 && spec->duration_scale != 1},
        {"failures", spec->has_no_failures},
        {"merge", has_unrecorded_part(spec)},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].is_on)
            return keys[i].key;
    return NULL;
}
