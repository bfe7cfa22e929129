#include "sim/scenario/world_read.h"

static void read_estimates(struct estimates *estimates, const struct json_value *value)
{
    static const char *const kinds[] = {"as_declared", "perfect", "noisy", NULL};
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    estimates->kind = (enum estimates_kind)json_get_choice(&object, "kind", kinds, 0);
    if (estimates->kind == ESTIMATES_NOISY) { /* only a noisy estimate has these fields */
        estimates->factor = json_get_real(&object, "factor", 1e-3, 1e3, 1);
        estimates->sigma = json_get_real(&object, "sigma", 0, 10, 1);
    }
    json_object_close(&object);
}

static void read_recut_costs(struct recut_costs *costs, const struct json_value *value)
{
    static const char *const paths[] = {"driver", "operator", NULL}; /* enum recut_path */
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    costs->path = (uint8_t)json_get_choice(&object, "path", paths, costs->path);
    costs->create = json_get_duration(&object, "create_s", costs->create);
    costs->destroy = json_get_duration(&object, "destroy_s", costs->destroy);
    costs->mode_min = json_get_duration(&object, "mode_min_s", costs->mode_min);
    costs->mode_max = json_get_duration(&object, "mode_max_s", costs->mode_max);
    costs->operator_min = json_get_duration(&object, "operator_min_s", costs->operator_min);
    costs->operator_max = json_get_duration(&object, "operator_max_s", costs->operator_max);
    if (costs->mode_min > costs->mode_max || costs->operator_min > costs->operator_max)
        json_fail(value, "a least time is above its most");
    json_object_close(&object);
}

static void read_faults(struct fault_rates *rates, const struct json_value *value)
{
    static const char *const names[FAULT_CAUSE_COUNT] = {
        [FAULT_OUT_OF_MEMORY] = "out_of_memory_per_job_h",
        [FAULT_RUNAWAY] = "runaway_per_job_h",
        [FAULT_FATAL] = "fatal_per_job_h",
    };
    enum { PER_JOB_H_MAX = 100 };
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++)
        rates->per_job_h[cause] = json_get_real(&object, names[cause], 0, PER_JOB_H_MAX, 0);
    json_object_close(&object);
}

static void read_monitor(struct monitor_config *config, const struct json_value *value)
{
    struct json_object object;
    if (value->node == NULL)
        return;
    *config = MONITOR_DEFAULTS;
    json_object_open(&object, value);
    config->period = json_get_duration(&object, "period_s", config->period);
    config->delay = json_get_duration(&object, "delay_s", config->delay);
    config->noise = json_get_real(&object, "noise", 0, 1, config->noise);
    config->missing = json_get_real(&object, "missing", 0, 1, config->missing);
    if (config->period < TIME_NS_PER_S) {
        struct json_value period = json_member(&object, "period_s");
        json_fail(&period, "'period_s' must be at least 1 s");
        error_set_hint(value->error, "leave 'monitor' out if the world has none");
    }
    json_object_close(&object);
}

void world_config_read(struct world_config *world, const struct json_value *value, struct arena *arena,
                       const char *const *classes)
{
    static const char *const limits[] = {"kill", "ignore", NULL};
    static const char *const sharing[] = {"measured", "free", NULL};        /* enum world_sharing */
    static const char *const network[] = {"shared", "alone", "free", NULL}; /* enum world_network */
    struct json_object object;
    *world = world_config_default();
    if (value->node == NULL) {
        world->kills_at_limit = true;
        return;
    }
    json_object_open(&object, value);
    world->scheduler_period = json_get_duration(&object, "scheduler_period_s", 0);
    world->decision_latency = json_get_duration(&object, "decision_latency_s", 0);
    world->kills_at_limit = json_get_choice(&object, "limits", limits, 0) == 0;
    world->queue_limit = json_get_int(&object, "queue_limit", 0, INT64_MAX, -1);
    world->sharing = (uint8_t)json_get_choice(&object, "sharing", sharing, SHARING_MEASURED);
    world->network = (uint8_t)json_get_choice(&object, "network", network, NETWORK_SHARED);
    world->has_wait_times = json_get_bool(&object, "wait_times", true);
    world->stall_steps = (uint64_t)json_get_int(&object, "stall_steps", 0, INT64_MAX, (int64_t)world->stall_steps);
    world->end = json_get_duration(&object, "end", TIME_NEVER);
    world->warmup = json_get_duration(&object, "warmup", 0);
    world->sample_interval = json_get_duration(&object, "sample_s", world->sample_interval);
    struct json_value estimates = json_member(&object, "estimates");
    read_estimates(&world->estimates, &estimates);
    struct json_value faults = json_member(&object, "faults");
    read_faults(&world->faults, &faults);
    struct json_value checkpoints = json_member(&object, "checkpoints");
    world->checkpoints = checkpoint_table_read(&checkpoints, arena, classes);
    struct json_value cold_starts = json_member(&object, "cold_starts");
    world->cold_starts = pull_table_read(&cold_starts, arena, classes);
    struct json_value monitor = json_member(&object, "monitor");
    read_monitor(&world->monitor, &monitor);
    struct json_value recut = json_member(&object, "mig_recut");
    read_recut_costs(&world->recut, &recut);
    json_member(&object, "capacity"); /* sim/scenario/scenario.c, with the cluster */
    if (world->sample_interval <= 0) {
        struct json_value sample = json_member(&object, "sample_s");
        json_fail(&sample, "'sample_s' must be positive");
    }
    if (world->warmup >= world->end) {
        struct json_value warmup = json_member(&object, "warmup");
        json_fail(&warmup, "'warmup' must end before 'end'");
    }
    json_object_close(&object);
}
