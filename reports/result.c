/* reports/result.c -- writing result.json. */
#include "reports/result.h"

#include "base/output.h"

/* ---- pieces: each writes `, "key": value`, the first one of an object without the comma ---- */

static void key(struct buffer *out, const char *name)
{
    if (out->bytes[out->length - 1] != '{')
        buffer_char(out, ',');
    buffer_format(out, "\n  \"%s\": ", name);
}

static void pair_text(struct buffer *out, const char *name, const char *text)
{
    key(out, name);
    buffer_json(out, text_of(text));
}

static void pair_count(struct buffer *out, const char *name, uint64_t count)
{
    key(out, name);
    if (count > INT64_MAX)
        buffer_format(out, "\"%llu\"", (unsigned long long)count);
    else
        buffer_int(out, (int64_t)count);
}

static void pair_double(struct buffer *out, const char *name, double value)
{
    key(out, name);
    buffer_double(out, value);
}

static void pair_time(struct buffer *out, const char *name, time_ns time)
{
    key(out, name);
    buffer_scaled(out, time, TIME_NS_PER_S);
}

/* NAME_s, and where its digits pass those of a JSON number NAME_ns, too. */
static void pair_exact_time(struct buffer *out, const char *in_s, const char *in_ns, time_ns time)
{
    pair_time(out, in_s, time);
    if (time > RESULT_EXACT_NS_MAX)
        pair_count(out, in_ns, (uint64_t)time);
}

static void pair_texts(struct buffer *out, const char *name, const char *const *texts)
{
    key(out, name);
    buffer_char(out, '[');
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        if (i > 0)
            buffer_string(out, ", ");
        buffer_json(out, text_of(texts[i]));
    }
    buffer_char(out, ']');
}

/* ---- sections ---- */

static void write_inputs(const struct result_manifest *manifest, struct buffer *out)
{
    key(out, "inputs");
    buffer_char(out, '[');
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        buffer_string(out, i == 0 ? "{\"role\": " : ", {\"role\": ");
        buffer_json(out, text_of(input->role));
        buffer_string(out, ", \"name\": ");
        buffer_json(out, text_of(input->name));
        buffer_string(out, ", \"digest\": ");
        buffer_json(out, text_of(input->digest));
        if (input->plugin != NULL) {
            buffer_string(out, ", \"plugin\": ");
            buffer_json(out, text_of(input->plugin));
            buffer_string(out, ", \"version\": ");
            buffer_json(out, text_of(input->version));
        }
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void write_files(const struct result_manifest *manifest, struct buffer *out)
{
    if (manifest->file_count == 0)
        return;
    key(out, "files");
    buffer_char(out, '{');
    for (size_t i = 0; i < manifest->file_count; i++) {
        buffer_string(out, i == 0 ? "" : ", ");
        buffer_json(out, text_of(manifest->files[i].name));
        buffer_string(out, ": ");
        buffer_json(out, text_of(manifest->files[i].digest));
    }
    buffer_char(out, '}');
}

/* Which jobs say themselves what they exchange, and of which the scenario says it. */
static void write_declared(const struct result_workload *workload, const char *before, struct buffer *out)
{
    if (workload->declared_count == 0 && workload->declared_row_count == 0)
        return;
    buffer_format(out, "%s\"communication\": {\"by_job\": %llu, \"by_row\": [", before,
                  (unsigned long long)workload->declared_count);
    for (uint32_t i = 0; i < workload->declared_row_count; i++)
        buffer_format(out, "%s%llu", i > 0 ? ", " : "", (unsigned long long)workload->declared_by_row[i]);
    buffer_string(out, "]}");
}

static void write_workload(const struct result_workload *workload, struct buffer *out)
{
    const char *before = "";
    key(out, "workload");
    buffer_char(out, '{');
    if (workload->format != NULL) {
        buffer_string(out, "\"format\": ");
        buffer_json(out, text_of(workload->format));
        before = ", ";
    }
    if (workload->load_gpus > 0) {
        buffer_format(out, "%s\"load_gpus\": %llu", before, (unsigned long long)workload->load_gpus);
        before = ", ";
    }
    if (workload->gpu_h_per_day > 0) {
        buffer_format(out, "%s\"gpu_hours_per_day\": ", before);
        buffer_double(out, workload->gpu_h_per_day);
        before = ", ";
    }
    if (workload->arrival_factor > 0) {
        buffer_format(out, "%s\"arrival_factor\": ", before);
        buffer_double(out, workload->arrival_factor);
        before = ", ";
    }
    if (workload->duration_factor > 0 && workload->duration_factor != 1) {
        buffer_format(out, "%s\"duration_factor\": ", before);
        buffer_double(out, workload->duration_factor);
        before = ", ";
    }
    write_declared(workload, before, out);
    buffer_char(out, '}');
}

static void write_fork(const struct result_fork *fork, struct buffer *out)
{
    if (fork->fingerprint == NULL)
        return;
    key(out, "fork");
    buffer_char(out, '{');
    pair_text(out, "fingerprint", fork->fingerprint);
    pair_time(out, "at_s", fork->at);
    key(out, "is_adopted");
    buffer_string(out, fork->is_adopted ? "true" : "false");
    for (size_t i = 0; i < fork->before_count; i++) {
        const struct result_before *before = &fork->before[i];
        buffer_string(out, i == 0 ? ", \"before\": [{" : ", {");
        pair_time(out, "until_s", before->until);
        key(out, "policy");
        buffer_string(out, before->policy);
        if (before->plugins != NULL) {
            key(out, "plugins");
            buffer_string(out, before->plugins);
        }
        buffer_string(out, before->is_outside ? ", \"is_outside\": true}" : "}");
    }
    buffer_string(out, fork->before_count > 0 ? "]}" : "}");
}

static void write_manifest(const struct result_manifest *manifest, struct buffer *out)
{
    buffer_string(out, "\"manifest\": {");
    pair_text(out, "version", manifest->version);
    pair_count(out, "seed", manifest->seed);
    pair_text(out, "fingerprint", manifest->fingerprint);
    if (manifest->arrivals != NULL)
        pair_text(out, "arrivals", manifest->arrivals);
    write_fork(&manifest->fork, out);
    write_inputs(manifest, out);
    write_files(manifest, out);
    write_workload(&manifest->workload, out);
    key(out, "scenario");
    buffer_string(out, manifest->scenario_json != NULL ? manifest->scenario_json : "{}");
    buffer_char(out, '}');
}

/* {"org": null, "team": "org"}: each queue with the one above it. */
static void write_queues(const struct run_facts *facts, struct buffer *out)
{
    if (facts->queue_count == 0)
        return;
    key(out, "queues");
    for (uint32_t q = 0; q < facts->queue_count; q++) {
        const uint32_t parent = facts->queues[q].parent;
        buffer_string(out, q == 0 ? "{" : ", ");
        buffer_json(out, text_of(facts->queues[q].name));
        buffer_string(out, ": ");
        if (parent == RECORD_QUEUE_ROOT)
            buffer_string(out, "null");
        else
            buffer_json(out, text_of(facts->queues[parent].name));
    }
    buffer_char(out, '}');
}

/* In the order of the cluster. */
static void write_pools(const struct run_facts *facts, struct buffer *out)
{
    if (facts->pool_count == 0)
        return;
    key(out, "pools");
    for (uint32_t p = 0; p < facts->pool_count; p++) {
        const struct record_pool *pool = &facts->pools[p];
        buffer_string(out, p == 0 ? "[{\"name\": " : ",\n    {\"name\": ");
        buffer_json(out, text_of(pool->name));
        buffer_string(out, ", \"first_node\": ");
        buffer_json(out, text_of(pool->first_node));
        buffer_format(out, ", \"nodes\": %u, \"gpus_per_node\": %u", pool->node_count, pool->gpus_per_node);
        if (pool->model != MODEL_ANY) {
            buffer_string(out, ", \"gpu_model\": ");
            buffer_json(out, text_of(facts->model_names[pool->model]));
        }
        buffer_string(out, ", \"price_usd_per_gpu_h\": ");
        buffer_double(out, pool->price_usd_per_gpu_h);
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void write_loop(const struct loop_facts *loop, struct buffer *out)
{
    if (!loop->is_closed)
        return;
    pair_count(out, "closed_loop_jobs", loop->followed);
    pair_count(out, "closed_loop_held_jobs", loop->held_back);
    pair_double(out, "closed_loop_shift_mean_s", loop->shift_mean_s);
    pair_double(out, "closed_loop_shift_abs_mean_s", loop->shift_abs_mean_s);
}

static void write_facts(const struct run_facts *facts, struct buffer *out)
{
    buffer_string(out, "\"facts\": {");
    pair_exact_time(out, "end_s", "end_ns", facts->end);
    pair_exact_time(out, "warmup_s", "warmup_ns", facts->warmup);
    pair_exact_time(out, "measured_until_s", "measured_until_ns", metrics_until(facts));
    pair_count(out, "nodes", facts->node_count);
    pair_count(out, "gpus", facts->gpu_count);
    pair_texts(out, "gpu_models", facts->model_names);
    write_queues(facts, out);
    write_pools(facts, out);
    pair_double(out, "price_usd_per_gpu_h", facts->price_usd_per_gpu_h);
    pair_count(out, "events", facts->events);
    pair_count(out, "cycles", facts->cycles);
    pair_count(out, "decisions", facts->decisions);
    pair_count(out, "promised_starts", facts->promised_starts);
    pair_count(out, "late_starts", facts->late_starts);
    pair_count(out, "recuts", facts->recuts);
    pair_double(out, "recut_gpu_h", facts->recut_gpu_h);
    write_loop(&facts->loop, out);
    if (facts->stuck_jobs > 0) {
        pair_count(out, "stuck_jobs", facts->stuck_jobs);
        pair_text(out, "stuck", facts->stuck);
    }
    key(out, "is_decided_outside");
    buffer_string(out, facts->is_decided_outside ? "true" : "false");
    key(out, "is_partial");
    buffer_string(out, facts->is_partial ? "true" : "false");
    buffer_char(out, '}');
}

static void write_host(const struct result_host *host, struct buffer *out)
{
    buffer_string(out, "\"host\": {");
    if (host != NULL) {
        pair_texts(out, "arguments", host->arguments);
        if (host->folder != NULL)
            pair_text(out, "folder", host->folder);
        if (host->system != NULL)
            pair_text(out, "system", host->system);
        if (host->compiler != NULL)
            pair_text(out, "compiler", host->compiler);
        if (host->started != NULL)
            pair_text(out, "started", host->started);
        if (host->wall_s > 0)
            pair_double(out, "wall_s", host->wall_s);
        if (host->cpu_s > 0)
            pair_double(out, "cpu_s", host->cpu_s);
        if (host->memory_peak_bytes > 0)
            pair_count(out, "memory_peak_bytes", host->memory_peak_bytes);
    }
    buffer_char(out, '}');
}

void result_text(const struct result_manifest *manifest, const struct metrics *metrics, const struct result_host *host,
                 struct buffer *out)
{
    buffer_format(out, "{\"schema_version\": %d,\n", RESULT_SCHEMA_VERSION);
    write_manifest(manifest, out);
    buffer_string(out, ",\n");
    write_facts(metrics_facts(metrics), out);
    buffer_string(out, ",\n");
    metrics_write_json(metrics, out);
    buffer_string(out, ",\n");
    if (manifest->levels.count > 0) {
        service_levels_write_json(&manifest->levels, metrics, out);
        buffer_string(out, ",\n");
    }
    write_host(host, out);
    buffer_string(out, "}\n");
}

struct error result_write(const char *folder, const struct result_manifest *manifest, const struct metrics *metrics,
                          const struct result_host *host)
{
    struct output *output;
    TRY(output_open_inside(&output, folder, RESULT_FILE, OUTPUT_PLAIN));
    result_text(manifest, metrics, host, output_buffer(output));
    return output_commit(&output);
}
