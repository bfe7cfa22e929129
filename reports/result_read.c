/* reports/result_read.c -- result.json read back, all but the metrics, which the rows give again. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/names.h"
#include "reports/record_check.h"
#include "reports/result.h"

static const char *keep(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_copy(arena, text_of(text));
}

/* NULL-terminated; empty if the member is absent. */
static const char *const *read_texts(struct json_object *object, const char *key, struct arena *arena)
{
    struct json_value array = json_member(object, key);
    if (array.node == NULL)
        return arena_alloc_array(arena, 1, const char *);
    size_t count = json_array_count(&array);
    const char **texts = arena_alloc_array(arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&array, i);
        const char *text = json_value_string(&item);
        texts[i] = keep(arena, text == NULL ? "" : text);
    }
    return texts;
}

static void read_inputs(struct result *result, struct json_object *manifest)
{
    json_need(manifest, "inputs");
    struct json_value array = json_member(manifest, "inputs");
    size_t count = json_array_count(&array);
    struct result_input *inputs = arena_alloc_array(&result->arena, count + 1, struct result_input);
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&array, i);
        struct json_object object;
        json_object_open(&object, &item);
        inputs[i].role = keep(&result->arena, json_get_string(&object, "role", ""));
        inputs[i].name = keep(&result->arena, json_get_string(&object, "name", ""));
        inputs[i].digest = keep(&result->arena, json_get_string(&object, "digest", ""));
        inputs[i].plugin = keep(&result->arena, json_get_string(&object, "plugin", NULL));
        inputs[i].version = keep(&result->arena, json_get_string(&object, "version", NULL));
        json_object_close(&object);
    }
    result->manifest.inputs = inputs;
    result->manifest.input_count = count;
}

static void read_files(struct result *result, struct json_object *manifest)
{
    struct json_object object;
    const char *key;
    size_t count = 0;
    if (!json_object_at(&object, manifest, "files"))
        return;
    struct result_file *files =
        arena_alloc_array(&result->arena, json_object_size(object.value.node) + 1, struct result_file);
    for (; (key = json_object_key(&object, count)) != NULL; count++) {
        const struct json_value digest = json_member(&object, key);
        const char *text = json_value_string(&digest);
        files[count] = (struct result_file){keep(&result->arena, key), keep(&result->arena, text != NULL ? text : "")};
        if (strchr(key, '/') != NULL)
            json_fail(&digest, "'files' must name files of the record's folder");
    }
    result->manifest.files = files;
    result->manifest.file_count = count;
}

/* A seed is a number, or a string if it would not fit one. */
static uint64_t read_seed(struct json_object *manifest)
{
    json_need(manifest, "seed");
    struct json_value seed = json_member(manifest, "seed");
    if (!json_is_string(seed.node))
        return (uint64_t)json_get_int(manifest, "seed", 0, INT64_MAX, 0);
    uint64_t value = 0;
    for (const char *digit = json_string_value(seed.node); *digit != '\0'; digit++) {
        uint64_t more;
        if (*digit < '0' || *digit > '9' || __builtin_mul_overflow(value, 10, &more) ||
            __builtin_add_overflow(more, (uint64_t)(*digit - '0'), &value)) {
            json_fail(&seed, "'seed' must be an integer from 0 to 2^64 - 1");
            return 0;
        }
    }
    return value;
}

/* Write the tree as canonical text again. */
static void read_scenario(struct result *result, struct json_object *manifest)
{
    struct json_value scenario = json_member(manifest, "scenario");
    if (scenario.node == NULL)
        return;
    char *dumped = json_dumps(scenario.node, JSON_COMPACT | JSON_ENCODE_ANY); /* 17 digits are exact */
    struct json_doc *doc = NULL;
    struct error error = json_doc_parse(&doc, "scenario", text_of(dumped), ERROR_DATA);
    free(dumped);
    if (error_is(error)) {
        json_fail(&scenario, "'scenario' cannot be read: %s", error_message(&error));
        error_release(&error);
        return;
    }
    char *canonical = json_doc_canonical_new(doc);
    result->manifest.scenario_json = keep(&result->arena, canonical);
    free(canonical);
    json_doc_free(doc);
}

static void read_declared(struct result_workload *workload, struct json_object *object, struct arena *arena)
{
    struct json_object declared;
    if (!json_object_at(&declared, object, "communication"))
        return;
    workload->declared_count = (uint64_t)json_get_int(&declared, "by_job", 0, INT64_MAX, 0);
    const struct json_value rows = json_member(&declared, "by_row");
    const size_t count = rows.node != NULL ? json_array_count(&rows) : 0;
    uint64_t *by_row = arena_alloc_array(arena, count + 1, uint64_t);
    for (size_t i = 0; i < count; i++) {
        const struct json_value row = json_array_item(&rows, i);
        by_row[i] = (uint64_t)json_value_int(&row, 0, INT64_MAX);
    }
    workload->declared_by_row = by_row;
    workload->declared_row_count = (uint32_t)count;
    json_object_close(&declared);
}

static void read_workload(struct result_workload *workload, const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    workload->format = keep(arena, json_get_string(&object, "format", NULL));
    workload->load_gpus = (uint64_t)json_get_int(&object, "load_gpus", 0, INT64_MAX, 0);
    workload->gpu_h_per_day = json_get_real(&object, "gpu_hours_per_day", 0, DBL_MAX, 0);
    workload->arrival_factor = json_get_real(&object, "arrival_factor", 0, DBL_MAX, 0);
    workload->duration_factor = json_get_real(&object, "duration_factor", 0, DBL_MAX, 0);
    read_declared(workload, &object, arena);
    const struct json_value assumed = json_member(&object, "assumed");
    assumed_read(&workload->assumed, &assumed, arena);
    json_object_close(&object);
}

static const char *keep_json(struct arena *arena, struct json_object *object, const char *name)
{
    const struct json_value value = json_member(object, name);
    if (value.node == NULL)
        return NULL;
    char *text = json_value_canonical_new(&value);
    const char *kept = keep(arena, text);
    free(text);
    return kept;
}

static void read_before(struct result *result, struct json_object *fork)
{
    const struct json_value list = json_member(fork, "before");
    const size_t count = list.node != NULL ? json_array_count(&list) : 0;
    struct result_before *before = arena_alloc_array(&result->arena, count + 1, struct result_before);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(&list, i);
        struct json_object object;
        json_object_open(&object, &item);
        json_need(&object, "policy");
        before[i] = (struct result_before){.until = json_get_scaled(&object, "until_s", TIME_NS_PER_S, 0, INT64_MAX, 0),
                                           .policy = keep_json(&result->arena, &object, "policy"),
                                           .plugins = keep_json(&result->arena, &object, "plugins"),
                                           .is_outside = json_get_bool(&object, "is_outside", false)};
        json_object_close(&object);
    }
    result->manifest.fork.before = before;
    result->manifest.fork.before_count = count;
}

static void read_fork(struct result *result, struct json_object *manifest)
{
    struct result_fork *fork = &result->manifest.fork;
    struct json_object object;
    if (!json_object_at(&object, manifest, "fork"))
        return;
    json_need(&object, "fingerprint");
    fork->fingerprint = keep(&result->arena, json_get_string(&object, "fingerprint", ""));
    fork->at = json_get_scaled(&object, "at_s", TIME_NS_PER_S, 0, INT64_MAX, 0);
    fork->is_adopted = json_get_bool(&object, "is_adopted", false);
    read_before(result, &object);
    json_object_close(&object);
}

static void read_manifest(struct result *result, struct json_object *root)
{
    struct json_object manifest;
    json_need(root, "manifest");
    struct json_value value = json_member(root, "manifest");
    json_object_open(&manifest, &value);
    result->manifest.version = keep(&result->arena, json_get_string(&manifest, "version", ""));
    result->manifest.seed = read_seed(&manifest);
    result->manifest.fingerprint = keep(&result->arena, json_get_string(&manifest, "fingerprint", ""));
    result->manifest.arrivals = keep(&result->arena, json_get_string(&manifest, "arrivals", NULL));
    read_fork(result, &manifest);
    read_inputs(result, &manifest);
    read_files(result, &manifest);
    struct json_value workload = json_member(&manifest, "workload");
    read_workload(&result->manifest.workload, &workload, &result->arena);
    read_scenario(result, &manifest);
    json_object_close(&manifest);
}

/* As result.c writes them: each queue with the one above it, which stands before it. */
static void read_queues(struct result *result, struct json_object *facts)
{
    struct json_object object;
    const char *key;
    if (!json_object_at(&object, facts, "queues"))
        return;
    struct record_queue *queues =
        arena_alloc_array(&result->arena, json_object_size(object.value.node) + 1, struct record_queue);
    struct names *names = names_new();
    uint32_t count = 0;
    for (; (key = json_object_key(&object, count)) != NULL; count++) {
        const struct json_value above = json_member(&object, key);
        queues[count] = (struct record_queue){.name = keep(&result->arena, key), .parent = RECORD_QUEUE_ROOT};
        if (above.node != NULL) { /* null reads as absent: below the root */
            const char *parent = json_value_string(&above);
            queues[count].parent = parent != NULL ? names_find(names, text_of(parent)) : NAMES_NONE;
            if (parent != NULL && queues[count].parent == NAMES_NONE)
                json_fail(&above, "there is no queue '%s' before this one", parent);
        }
        names_add(names, text_of(key));
    }
    names_free(names);
    result->facts.queues = queues;
    result->facts.queue_count = count;
}

static uint8_t model_named(const struct run_facts *facts, const char *name, const struct json_value *at)
{
    for (uint8_t m = 0; name != NULL && facts->model_names[m] != NULL; m++)
        if (strcmp(facts->model_names[m], name) == 0)
            return m;
    if (name != NULL)
        json_fail(at, "'%s' is none of \"gpu_models\"", name);
    return MODEL_ANY;
}

static void read_pools(struct result *result, struct json_object *facts)
{
    const struct json_value value = json_member(facts, "pools");
    if (value.node == NULL)
        return;
    const size_t count = json_array_count(&value);
    struct record_pool *pools = arena_alloc_array(&result->arena, count + 1, struct record_pool);
    for (size_t p = 0; p < count; p++) {
        struct json_object pool;
        const struct json_value at = json_array_item(&value, p);
        json_object_open(&pool, &at);
        pools[p] =
            (struct record_pool){.name = keep(&result->arena, json_get_string(&pool, "name", "")),
                                 .first_node = keep(&result->arena, json_get_string(&pool, "first_node", "")),
                                 .model = model_named(&result->facts, json_get_string(&pool, "gpu_model", NULL), &at),
                                 .node_count = (uint32_t)json_get_int(&pool, "nodes", 0, UINT32_MAX, 0),
                                 .gpus_per_node = (uint32_t)json_get_int(&pool, "gpus_per_node", 0, UINT32_MAX, 0),
                                 .price_usd_per_gpu_h = json_get_real(&pool, "price_usd_per_gpu_h", 0, 1e9, 0)};
        json_object_close(&pool);
    }
    result->facts.pools = pools;
    result->facts.pool_count = (uint32_t)count;
}

static void read_loop(struct loop_facts *loop, struct json_object *object)
{
    loop->is_closed = json_has(object, "closed_loop_jobs");
    loop->followed = (uint64_t)json_get_int(object, "closed_loop_jobs", 0, INT64_MAX, 0);
    loop->held_back = (uint64_t)json_get_int(object, "closed_loop_held_jobs", 0, INT64_MAX, 0);
    loop->shift_mean_s = json_get_real(object, "closed_loop_shift_mean_s", -1e18, 1e18, 0);
    loop->shift_abs_mean_s = json_get_real(object, "closed_loop_shift_abs_mean_s", 0, 1e18, 0);
}

static struct offered_part read_part(struct json_object *object, uint8_t model)
{
    return (struct offered_part){.model = model,
                                 .gpus = (uint64_t)json_get_int(object, "gpus", 0, INT64_MAX, 0),
                                 .asked_gpu_s = json_get_real(object, "asked_gpu_s", 0, DBL_MAX, 0),
                                 .gpu_s = json_get_real(object, "in_service_gpu_s", 0, DBL_MAX, 0)};
}

static void read_parts(struct offered_load *load, const struct run_facts *facts, struct json_object *object)
{
    struct json_object parts;
    const char *key;
    if (!json_object_at(&parts, object, "by_model"))
        return;
    for (size_t i = 0; i < OFFERED_PARTS_MAX && (key = json_object_key(&parts, i)) != NULL; i++) {
        const struct json_value value = json_member(&parts, key);
        struct json_object part;
        const char *name = strcmp(key, RECORD_ANY) == 0 ? NULL : key;
        json_object_open(&part, &value);
        load->parts[load->part_count++] = read_part(&part, model_named(facts, name, &value));
        json_member(&part, "ratio"); /* it follows from the others */
        json_object_close(&part);
    }
    json_object_close(&parts);
}

/* As offered_json writes it. */
static void read_offered(struct run_facts *facts, struct json_object *root)
{
    struct offered_load *load = &facts->offered;
    struct json_object object;
    load->ratio = NAN;
    if (!json_object_at(&object, root, "offered_load"))
        return;
    load->kind = (uint8_t)json_get_choice(&object, "kind", offered_kind_names, OFFERED_NONE);
    load->jobs = (uint64_t)json_get_int(&object, "jobs", 0, INT64_MAX, 0);
    load->all = read_part(&object, JOB_MODEL_ANY);
    load->first_s = json_get_real(&object, "first_submit_s", 0, 1e12, 0);
    load->last_s = json_get_real(&object, "last_submit_s", 0, 1e12, 0);
    load->run_mean_s = json_get_real(&object, "run_mean_s", 0, DBL_MAX, 0);
    load->bound_s = json_get_real(&object, "makespan_bound_s", 0, DBL_MAX, 0);
    load->users = (uint64_t)json_get_int(&object, "users", 0, INT64_MAX, 0);
    json_member(&object, "ratio"); /* it follows from the others */
    read_parts(load, facts, &object);
    json_object_close(&object);
    load->ratio = offered_part_ratio(load, &load->all);
}

static time_ns read_exact_time(struct json_object *facts, const char *in_s, const char *in_ns)
{
    const time_ns time = json_get_scaled(facts, in_s, TIME_NS_PER_S, 0, INT64_MAX, 0);
    return json_get_int(facts, in_ns, 0, INT64_MAX, time);
}

static void read_facts(struct result *result, struct json_object *root)
{
    struct run_facts *facts = &result->facts;
    struct json_object object;
    json_need(root, "facts");
    struct json_value value = json_member(root, "facts");
    json_object_open(&object, &value);
    json_need(&object, "end_s");
    facts->end = read_exact_time(&object, "end_s", "end_ns");
    facts->warmup = read_exact_time(&object, "warmup_s", "warmup_ns");
    facts->measured_until = read_exact_time(&object, "measured_until_s", "measured_until_ns");
    facts->node_count = (uint64_t)json_get_int(&object, "nodes", 0, INT64_MAX, 0);
    json_need(&object, "gpus");
    facts->gpu_count = (uint64_t)json_get_int(&object, "gpus", 0, INT64_MAX, 0);
    json_need(&object, "gpu_models");
    facts->model_names = read_texts(&object, "gpu_models", &result->arena);
    read_queues(result, &object);
    read_pools(result, &object);
    facts->price_usd_per_gpu_h = json_get_real(&object, "price_usd_per_gpu_h", 0, 1e9, 0);
    facts->events = (uint64_t)json_get_int(&object, "events", 0, INT64_MAX, 0);
    facts->cycles = (uint64_t)json_get_int(&object, "cycles", 0, INT64_MAX, 0);
    facts->decisions = (uint64_t)json_get_int(&object, "decisions", 0, INT64_MAX, 0);
    facts->promised_starts = (uint64_t)json_get_int(&object, "promised_starts", 0, INT64_MAX, 0);
    facts->late_starts = (uint64_t)json_get_int(&object, "late_starts", 0, INT64_MAX, 0);
    facts->recuts = (uint64_t)json_get_int(&object, "recuts", 0, INT64_MAX, 0);
    facts->recut_gpu_h = json_get_real(&object, "recut_gpu_h", 0, 1e18, 0);
    read_loop(&facts->loop, &object);
    read_offered(facts, &object);
    const struct json_value validation = json_member(&object, "validation");
    validation_read(&facts->validation, &validation);
    facts->stuck_jobs = (uint64_t)json_get_int(&object, "stuck_jobs", 0, INT64_MAX, 0);
    snprintf(facts->stuck, sizeof facts->stuck, "%s", json_get_string(&object, "stuck", ""));
    facts->is_decided_outside = json_get_bool(&object, "is_decided_outside", false);
    facts->is_partial = json_get_bool(&object, "is_partial", false);
    json_object_close(&object);
}

/* The group's value of this metric, as metrics_write_json wrote it; NAN: it is absent, and not needed. */
static double read_metric(const struct json_value *group, const char *name, bool is_needed)
{
    struct json_object metrics, metric;
    json_object_open(&metrics, group);
    if (is_needed)
        json_need(&metrics, name);
    if (!json_object_at(&metric, &metrics, name))
        return NAN;
    json_need(&metric, "value");
    return json_get_real(&metric, "value", -DBL_MAX, DBL_MAX, 0);
}

/* Percents must be in order, from 1 on. */
static void read_arrived(struct result *result, const struct json_value *arrived)
{
    struct json_object object;
    json_object_open(&object, arrived);
    size_t count = json_object_size(arrived->node);
    struct arrived_row *rows = arena_alloc_array(&result->arena, count, struct arrived_row);
    const char *key;
    for (size_t i = 0; (key = json_object_key(&object, i)) != NULL; i++) {
        struct json_value group = json_member(&object, key);
        int64_t percent = 0;
        if (!text_to_int64(text_of(key), 1, UINT32_MAX, &percent) || percent != (int64_t)i + 1) {
            json_fail(&group, "'%s' must hold the percents from 1 on, in order", METRICS_ARRIVED);
            return;
        }
        rows[i].percent = (uint32_t)percent;
        rows[i].allocation_ratio = read_metric(&group, "allocation_ratio", true);
        rows[i].fragmentation_ratio = read_metric(&group, "fgd_fragmentation_ratio", false);
    }
    result->arrived = rows;
    result->arrived_count = count;
}

/* Read the part of "by" that cannot be computed from other files. */
static void read_by(struct result *result, struct json_object *root)
{
    struct json_object object;
    if (!json_object_at(&object, root, "by"))
        return;
    struct json_value arrived = json_member(&object, METRICS_ARRIVED);
    if (arrived.node != NULL)
        read_arrived(result, &arrived);
}

static void read_host(struct result *result, struct json_object *root)
{
    struct result_host *host = &result->host;
    struct json_object object;
    if (!json_object_at(&object, root, "host"))
        return;
    host->arguments = read_texts(&object, "arguments", &result->arena);
    host->folder = keep(&result->arena, json_get_string(&object, "folder", NULL));
    host->system = keep(&result->arena, json_get_string(&object, "system", NULL));
    host->compiler = keep(&result->arena, json_get_string(&object, "compiler", NULL));
    host->started = keep(&result->arena, json_get_string(&object, "started", NULL));
    host->wall_s = json_get_real(&object, "wall_s", 0, 1e12, 0);
    host->cpu_s = json_get_real(&object, "cpu_s", 0, 1e12, 0);
    host->memory_peak_bytes = (uint64_t)json_get_int(&object, "memory_peak_bytes", 0, INT64_MAX, 0);
    json_object_close(&object);
}

/* A record of another version has other columns, and is refused. */
static void read_schema_version(struct json_object *root)
{
    json_need(root, "schema_version");
    struct json_value value = json_member(root, "schema_version");
    int64_t version = json_get_int(root, "schema_version", 1, INT32_MAX, RESULT_SCHEMA_VERSION);
    if (version != RESULT_SCHEMA_VERSION)
        json_fail(&value,
                  "'schema_version' is %lld, and this program reads records of %d only: run the "
                  "scenario again",
                  (long long)version, RESULT_SCHEMA_VERSION);
}

static struct error read_doc(struct result *result, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    struct json_value value = json_doc_root(doc, &error);
    struct json_object root;
    json_object_open(&root, &value);
    read_schema_version(&root);
    read_manifest(result, &root);
    read_facts(result, &root);
    json_member(&root, "metrics");
    read_by(result, &root);
    json_member(&root, "service_levels"); /* computed again from the scenario */
    read_host(result, &root);
    json_object_close(&root);
    return error;
}

struct error result_read_doc(struct result *out, struct json_doc *doc)
{
    *out = (struct result){0};
    struct error error = read_doc(out, doc);
    if (!error_is(error))
        error = service_levels_of_scenario(out->manifest.scenario_json, &out->arena, &out->manifest.levels);
    if (error_is(error))
        result_release(out);
    return error;
}

struct error result_read(struct result *out, const char *folder)
{
    struct json_doc *doc;
    *out = (struct result){0};
    TRY(record_check_open(&doc, folder));
    struct error error = result_read_doc(out, doc);
    json_doc_free(doc);
    if (error_is(error))
        return error;
    error = record_check_files(folder, &out->manifest, true);
    if (error_is(error))
        result_release(out);
    return error;
}

void result_release(struct result *result)
{
    arena_release(&result->arena);
    *result = (struct result){0};
}
