/* workloads/readers/workload_spec.c -- the "workload" of a scenario, read. */
#include <stdlib.h>
#include <string.h>

#include "workloads/load_model/load_model.h"
#include "workloads/readers/column_map.h"
#include "workloads/readers/name_rules.h"
#include "workloads/readers/workload_changes.h"
#include "workloads/readers/workload_spec.h"
#include "workloads/readers/zone.h"
#include "workloads/synth/synth_spec.h"

enum {
    GPUS_PER_NODE_DEFAULT = 8,
    LOAD_MAX = 1000,
    SCALE_MAX = 1000000,
    SIGMA_MAX = 3,
    SHAKE_DAYS_MAX = 365,
    SERVICE_GPUS_MAX = 16,
    SECONDS_PER_DAY = 86400,
    KEYS_OF_MODELS = 1 /* keys of traces that models have, too */
};

#define FILL_LOAD_MIN 0.001

#define MODEL_RATE_MIN 1e-6
#define MODEL_RATE_MAX 1e6

#define RATE_MIN   1e-3
#define RATE_MAX   1e12
#define TARGET_MIN 0.001

static const char *const failures_names[] = {"replayed", "left_out", NULL};

/* Paths are relative to the scenario's folder, except absolute ones and standard input. */
static const char *path_from(struct arena *arena, const char *base, const char *path)
{
    if (path[0] == '/' || strcmp(path, "-") == 0 || base == NULL || base[0] == '\0')
        return arena_copy(arena, text_of(path));
    size_t base_bytes = strlen(base), path_bytes = strlen(path);
    char *joined = arena_alloc(arena, base_bytes + path_bytes + 2);
    memcpy(joined, base, base_bytes);
    joined[base_bytes] = '/';
    memcpy(joined + base_bytes + 1, path, path_bytes);
    return joined;
}

/* A time of the trace: a date, or a duration since its zero. */
static time_ns moment_read(const struct json_value *value, const struct zone *zone)
{
    time_ns moment = 0;
    if (value->node != NULL && json_is_number(value->node))
        return time_from_seconds(json_value_real(value, 0, 1e12));
    struct text text = text_of(json_value_string(value));
    if (time_parse_date(text, &moment) && zone_date(text, zone, &moment))
        return moment;
    if (!time_parse_duration(text, &moment))
        json_fail(value, "a moment must be a date such as 2017-10-01, seconds, or a duration such as 3d");
    return moment;
}

static void window_read(struct workload_spec *spec, struct json_object *object)
{
    struct json_value window = json_member(object, "window");
    if (window.node == NULL)
        return;
    if (json_array_count(&window) != 2) {
        json_fail(&window, "'window' must be an array of two moments, from and to");
        return;
    }
    struct json_value from = json_array_item(&window, 0), to = json_array_item(&window, 1);
    spec->window_from = moment_read(&from, &spec->zone);
    spec->window_to = moment_read(&to, &spec->zone);
    if (spec->window_to <= spec->window_from)
        json_fail(&window, "'window' must end after it begins");
}

/* Refuse a key about submission or run times, which filling sets itself. */
static void fill_refuse(struct json_object *workload, const char *key)
{
    if (!json_has(workload, key))
        return;
    struct json_value value = json_member(workload, key);
    json_fail(&value, "'%s' cannot stand beside 'fill', which uses no times of the trace%s", key,
              strcmp(key, "load") == 0        ? "; its own load is fill.load"
              : strcmp(key, "load_gpus") == 0 ? "; fill.load is of the cluster that runs"
                                              : "");
}

static void fill_read(struct workload_spec *spec, struct json_object *workload)
{
    struct json_object object;
    if (!json_object_at(&object, workload, "fill"))
        return;
    json_need(&object, "load");
    spec->fill.load = json_get_real(&object, "load", FILL_LOAD_MIN, LOAD_MAX, 1);
    spec->fill.interval = json_get_duration(&object, "interval_s", FILL_INTERVAL_DEFAULT);
    if (spec->fill.interval == 0) {
        struct json_value interval = json_member(&object, "interval_s");
        json_fail(&interval, "'interval_s' must be above 0");
    }
    json_object_close(&object);
    fill_refuse(workload, "load");
    fill_refuse(workload, "load_by");
    fill_refuse(workload, "load_gpus");
    fill_refuse(workload, "window");
    fill_refuse(workload, "duration_scale");
    fill_refuse(workload, "blocks");
}

static void shake_read(struct workload_spec *spec, struct json_object *workload)
{
    struct json_object object;
    if (!json_object_at(&object, workload, "shake"))
        return;
    spec->shake.arrivals = json_get_duration(&object, "arrivals_s", 0);
    spec->shake.run_time_sigma = json_get_real(&object, "run_time_sigma", 0, SIGMA_MAX, 0);
    json_object_close(&object);
    if (spec->shake.arrivals > SHAKE_DAYS_MAX * SECONDS_PER_DAY * TIME_NS_PER_S) {
        struct json_value arrivals = json_member(&object, "arrivals_s");
        json_fail(&arrivals, "'arrivals_s' must be at most %d days", SHAKE_DAYS_MAX);
    }
    if (!shake_is_on(&spec->shake))
        json_fail(&object.value, "'shake' needs 'arrivals_s' or 'run_time_sigma' above 0");
}

/* "load_gpus": a number of GPUs, or the word for those of the run's cluster. */
static uint32_t load_gpus_read(struct json_object *workload)
{
    struct json_value value = json_member(workload, "load_gpus");
    if (value.node == NULL)
        return 0;
    if (json_is_string(value.node) && strcmp(json_value_string(&value), LOAD_OF_CLUSTER) == 0)
        return 0;
    if (json_is_integer(value.node))
        return (uint32_t)json_get_int(workload, "load_gpus", 1, UINT32_MAX, 1);
    json_fail(&value,
              "'load_gpus' must be a number of GPUs, or \"" LOAD_OF_CLUSTER "\": those of the cluster that runs");
    return 0;
}

/* "columns": a map of columns, or the path of one, which is a format of its own. */
static void columns_read(struct workload_spec *spec, struct json_object *object, const char *base)
{
    struct json_value value = json_member(object, "columns");
    if (value.node == NULL)
        return;
    if (spec->format != NULL && strcmp(spec->format, "columns") != 0)
        json_fail(&value, "'columns' is a format of its own: leave out 'format'");
    spec->format = "columns";
    if (json_is_object(value.node)) {
        struct column_map *map = arena_alloc(&spec->arena, sizeof *map);
        column_map_read(map, &value, &spec->arena);
        spec->column_map = map;
    } else {
        spec->columns = path_from(&spec->arena, base, json_value_file(&value, "columns"));
    }
}

/* "tables": {"job": "pai_job_table.csv"} */
static void table_paths_read(struct workload_spec *spec, struct json_object *object, const char *base)
{
    struct json_object paths;
    if (!json_object_at(&paths, object, "tables"))
        return;
    for (const char *name; (name = json_object_key(&paths, spec->table_count)) != NULL; spec->table_count++) {
        if (spec->table_count == SIDE_FILES_MAX) {
            json_fail(&paths.value, "a trace has at most %d tables", SIDE_FILES_MAX);
            break;
        }
        const struct json_value member = json_member(&paths, name);
        const char *path = json_value_file(&member, "table");
        if (path == NULL || path[0] == '\0') {
            json_fail(&member, "a table must be a path");
            break;
        }
        if (strchr(name, '.') != NULL)
            json_fail(&member, "the name of a table holds no dot");
        spec->tables[spec->table_count] =
            (struct table_path){text_of(arena_copy(&spec->arena, text_of(name))), path_from(&spec->arena, base, path)};
    }
    json_object_close(&paths);
}

static int by_order(const void *a, const void *b)
{
    return name_rules_order(((const struct model_word *)a)->word, ((const struct model_word *)b)->word);
}

/* "gpu_models": {"A10": "h100-80gb", "*": ""} */
static void models_read(struct workload_spec *spec, struct json_object *object)
{
    enum { MODELS_MAX = 64 };
    struct json_object words;
    if (!json_object_at(&words, object, "gpu_models"))
        return;
    struct model_word *models = arena_alloc(&spec->arena, MODELS_MAX * sizeof *models);
    for (const char *word; (word = json_object_key(&words, spec->model_count)) != NULL; spec->model_count++) {
        if (spec->model_count == MODELS_MAX) {
            json_fail(&words.value, "'gpu_models' can hold at most %d models", MODELS_MAX);
            break;
        }
        models[spec->model_count] =
            (struct model_word){arena_copy(&spec->arena, text_of(word)),
                                arena_copy(&spec->arena, text_of(json_get_string(&words, word, "")))};
    }
    json_object_close(&words);
    if (spec->model_count > 0)
        qsort(models, spec->model_count, sizeof *models, by_order);
    spec->models = models;
}

/* "service": what serves the requests of a trace of requests. */
static void service_read(struct workload_spec *spec, struct json_object *workload)
{
    struct json_object object;
    struct service_plan *plan = &spec->service;
    *plan = service_plan_default();
    if (!json_object_at(&object, workload, "service"))
        return;
    plan->prompt_tokens_per_s =
        json_get_real(&object, "prompt_tokens_per_s", RATE_MIN, RATE_MAX, plan->prompt_tokens_per_s);
    plan->output_tokens_per_s =
        json_get_real(&object, "output_tokens_per_s", RATE_MIN, RATE_MAX, plan->output_tokens_per_s);
    plan->target = json_get_real(&object, "target", TARGET_MIN, 1, plan->target);
    plan->interval = json_get_duration(&object, "interval", plan->interval);
    plan->keep = json_get_duration(&object, "keep", plan->keep);
    plan->replicas_min = (uint32_t)json_get_int(&object, "replicas_min", 0, SERVICE_REPLICAS_MAX, plan->replicas_min);
    plan->gpus = (uint32_t)json_get_int(&object, "gpus", 1, SERVICE_GPUS_MAX, plan->gpus);
    if (plan->interval == 0 || plan->keep / plan->interval >= SERVICE_KEEP_MAX)
        json_fail(&object.value, "'interval' must be above 0, and 'keep' less than %d times as long", SERVICE_KEEP_MAX);
    json_object_close(&object);
}

static void trace_read(struct workload_spec *spec, struct json_object *object, const char *base)
{
    struct json_value value = json_member(object, "trace");
    const char *path = json_value_file(&value, "trace");
    int format = json_get_choice(object, "format", trace_format_names, -1);
    if (path == NULL || path[0] == '\0') {
        json_fail(&value, "'trace' must be a path");
        return;
    }
    spec->trace = path_from(&spec->arena, base, path);
    spec->format = format >= 0 ? trace_format_names[format] : NULL;
    columns_read(spec, object, base);
    table_paths_read(spec, object, base);
    if (json_has(object, "gpu_type"))
        spec->gpu_type = arena_copy(&spec->arena, text_of(json_get_string(object, "gpu_type", "")));
    models_read(spec, object);
    service_read(spec, object);
    spec->load = json_get_real(object, "load", 0, LOAD_MAX, 0);
    spec->zone = zone_read(object, "tz_offset", &spec->arena);
    window_read(spec, object);
    spec->duration_scale = json_get_real(object, "duration_scale", 1.0 / SCALE_MAX, SCALE_MAX, 1);
    spec->processors_per_gpu = json_get_real(object, "processors_per_gpu", 1.0 / SCALE_MAX, SCALE_MAX, 1);
    spec->gpus_per_node = (uint16_t)json_get_int(object, "gpus_per_node", 0, UINT16_MAX, GPUS_PER_NODE_DEFAULT);
    spec->bad_lines_max = (uint64_t)json_get_int(object, "bad_lines_max", 0, INT64_MAX, 0);
    spec->default_duration = json_get_duration(object, "default_duration", 0);
    spec->attempts = (enum attempts_kind)(json_get_choice(object, "attempts", attempts_names, -1) + 1);
    spec->has_no_failures = json_get_choice(object, "failures", failures_names, 0) == 1;
    const int blocks = json_get_choice(object, "blocks", blocks_names, -1);
    spec->blocks = blocks >= 0 ? (enum blocks_kind)(BLOCKS_USERS + blocks) : BLOCKS_NONE;
    workload_changes_read(spec, object);
    shake_read(spec, object);
    fill_read(spec, object);
}

/* "model": the content of a model's file; "jobs" or "duration" ends it. */
static void model_read(struct workload_spec *spec, struct json_object *object, const struct json_value *value)
{
    if (!json_is_object(value->node))
        json_fail(value, "'model' must be the name of a ready model, the path of a file, or a model");
    spec->model = load_model_read(value, &spec->arena);
    spec->load = json_get_real(object, "load", 0, LOAD_MAX, 0);
    spec->model_rate = json_get_real(object, "rate", MODEL_RATE_MIN, MODEL_RATE_MAX, 1);
    spec->model_jobs = (uint64_t)json_get_int(object, "jobs", 1, INT64_MAX, 0);
    spec->model_until = json_get_duration(object, "duration", 0);
    if (json_has(object, "rate") && json_has(object, "load")) {
        struct json_value rate = json_member(object, "rate");
        json_fail(&rate, "the rates of a model are multiplied by 'rate' or scaled to 'load'");
    }
    if (spec->model_jobs == 0 && spec->model_until == 0)
        json_fail(&object->value, "a model goes on for ever: give 'jobs' or 'duration'");
}

/* What a workload that is no trace has in place of a key. */
static const char *spec_hint(const char *what, const char *key)
{
    if (strcmp(what, "merge") == 0)
        return "it in its parts";
    return strcmp(key, "load") == 0 ? "synth.load_whole_gpu" : "no such thing";
}

/* Known keys of traces get their own message, because they are not allowed here.  first: of `keys`.  what: the
 * kind of workload. */
static void trace_keys_refuse(struct json_object *object, size_t first, const char *what)
{
    static const char *const keys[] = {"load",
                                       "format",
                                       "columns",
                                       "tables",
                                       "gpu_type",
                                       "gpu_models",
                                       "service",
                                       "window",
                                       "duration_scale",
                                       "tz_offset",
                                       "processors_per_gpu",
                                       "gpus_per_node",
                                       "bad_lines_max",
                                       "default_duration",
                                       "fill",
                                       "blocks",
                                       "attempts",
                                       "failures",
                                       "shake",
                                       "load_by",
                                       "sample",
                                       "tenants",
                                       "growth",
                                       "loop",
                                       "think_max_s"};
    for (size_t i = first; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_has(object, keys[i]))
            continue;
        struct json_value value = json_member(object, keys[i]);
        json_fail(&value, "'%s' belongs to a trace; a %s has %s", keys[i], what, spec_hint(what, keys[i]));
    }
}

/* The tables, after `synth`, whose classes a row may name. */
static void tables_read(struct workload_spec *spec, struct json_object *object)
{
    const struct json_value defaults = json_member(object, "defaults");
    const struct json_value communication = json_member(object, "communication");
    const struct json_value activity = json_member(object, "activity");
    const char *names[SYNTH_CLASSES_MAX + 1] = {NULL};
    for (uint32_t i = 0; spec->synth != NULL && i < spec->synth->class_count; i++)
        names[i] = spec->synth->classes[i].name;
    const char *const *classes = spec->synth != NULL ? names : NULL;
    spec->defaults = job_defaults_read(&defaults, &spec->arena, classes);
    spec->communication = communication_table_read(&communication, &spec->arena, classes);
    spec->activity = activity_table_read(&activity, &spec->arena, classes);
}

/* Where the jobs come from, and the keys that go with it.  object: of the workload. */
static void origin_read(struct workload_spec *spec, struct json_object *object, const char *base)
{
    const bool has_trace = json_has(object, "trace");
    const struct json_value synth = json_member(object, "synth"), model = json_member(object, "model");
    if (has_trace + (synth.node != NULL) + (model.node != NULL) + (spec->part_count > 0) != 1) {
        json_fail(&object->value, "a workload must have either 'trace', 'synth', 'model' or 'merge'");
    } else if (has_trace) {
        trace_read(spec, object, base);
    } else if (model.node != NULL) {
        trace_keys_refuse(object, KEYS_OF_MODELS, "model");
        model_read(spec, object, &model);
    } else if (synth.node != NULL) {
        trace_keys_refuse(object, 0, "synthesized workload");
        spec->synth = synth_read(&synth, &spec->arena);
        if (spec->synth != NULL)
            spec->synth->load_gpus = spec->load_gpus;
    } else {
        trace_keys_refuse(object, 0, "merge");
    }
}

static struct workload_spec spec_new(void)
{
    return (struct workload_spec){.duration_scale = 1, .processors_per_gpu = 1, .gpus_per_node = GPUS_PER_NODE_DEFAULT};
}

/* What holds for all jobs of a merge cannot stand in a part. */
static void part_keys_refuse(struct json_object *object)
{
    static const char *const keys[] = {"merge", "defaults", "communication", "activity", "fill", "loop"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_has(object, keys[i]))
            continue;
        const struct json_value value = json_member(object, keys[i]);
        json_fail(&value, "'%s' cannot stand in a part of a merge", keys[i]);
    }
}

/* workload: of which it is a part, the same as `whole`. */
static void part_read(struct workload_part *part, const struct json_value *value, const struct json_value *workload,
                      struct workload_spec *whole, const char *base)
{
    struct json_object object;
    part->spec = spec_new();
    json_object_open(&object, value);
    part->offset = json_get_duration(&object, "offset", 0);
    part->prefix = arena_copy(&whole->arena, text_of(json_get_string(&object, "prefix", "")));
    json_note_like(value, workload);
    part_keys_refuse(&object);
    part->spec.load_gpus = json_has(&object, "load_gpus") ? load_gpus_read(&object) : whole->load_gpus;
    origin_read(&part->spec, &object, base);
    json_object_close(&object);
}

static void merge_read(struct workload_spec *spec, struct json_object *object, const char *base)
{
    const struct json_value value = json_member(object, "merge");
    if (value.node == NULL)
        return;
    const size_t count = json_array_count(&value);
    if (count == 0 || count > WORKLOAD_PARTS_MAX) {
        json_fail(&value, "'merge' must be an array of 1 to %d workloads", WORKLOAD_PARTS_MAX);
        return;
    }
    struct workload_part *parts = arena_alloc_array(&spec->arena, count, struct workload_part);
    spec->parts = parts;
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(&value, i);
        spec->part_count++;
        part_read(&parts[i], &item, &object->value, spec, base);
    }
}

void workload_read(struct workload_spec *spec, const struct json_value *value, const char *base)
{
    struct json_object object;
    *spec = spec_new();
    json_object_open(&object, value);
    spec->load_gpus = load_gpus_read(&object);
    merge_read(spec, &object, base);
    origin_read(spec, &object, base);
    tables_read(spec, &object);
    json_object_close(&object);
}

void workload_release(struct workload_spec *spec)
{
    for (uint32_t i = 0; i < spec->part_count; i++)
        arena_release((struct arena *)(uintptr_t)&spec->parts[i].spec.arena);
    arena_release(&spec->arena);
    *spec = (struct workload_spec){0};
}
