/* reports/result.c -- writing result.json. */
#include "reports/result.h"

#include "base/output.h"

/* ---- pieces ---- */

/* Of any 64 bits: a JSON number holds 63. */
static void pair_seed(struct buffer *out, uint64_t seed)
{
    if (seed > INT64_MAX)
        buffer_format(out, ",\n  \"seed\": \"%llu\"", (unsigned long long)seed);
    else
        buffer_members(out, ",\n  'seed': %llu", (unsigned long long)seed);
}

/* NAME_s, and where its digits pass those of a JSON number NAME_ns, too. */
static void pair_exact_time(struct buffer *out, const char *in_s, const char *in_ns, time_ns time)
{
    buffer_members(out, ",\n  %s: %.9lld", in_s, (long long)time);
    if (time > RESULT_EXACT_NS_MAX)
        buffer_members(out, ",\n  %s: %lld", in_ns, (long long)time);
}

static void pair_texts(struct buffer *out, const char *name, const char *const *texts)
{
    buffer_members(out, ",\n  %s: [", name);
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
        buffer_members(out, ", %s", texts[i]);
    buffer_char(out, ']');
}

/* A text that may be missing. */
static void pair_text(struct buffer *out, const char *name, const char *text)
{
    if (text != NULL)
        buffer_members(out, ",\n  %s: %s", name, text);
}

/* A number that is missing if it is not above 0. */
static void pair_positive(struct buffer *out, const char *name, double value)
{
    if (value > 0)
        buffer_members(out, ",\n  %s: %g", name, value);
}

/* ---- sections ---- */

static void write_inputs(const struct result_manifest *manifest, struct buffer *out)
{
    buffer_members(out, ",\n  'inputs': [");
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        buffer_members(out, ", {'role': %s, 'name': %s, 'digest': %s", input->role, input->name, input->digest);
        if (input->plugin != NULL)
            buffer_members(out, ", 'plugin': %s, 'version': %s", input->plugin, input->version);
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void write_files(const struct result_manifest *manifest, struct buffer *out)
{
    if (manifest->file_count == 0)
        return;
    buffer_members(out, ",\n  'files': {");
    for (size_t i = 0; i < manifest->file_count; i++)
        buffer_members(out, ", %s: %s", manifest->files[i].name, manifest->files[i].digest);
    buffer_char(out, '}');
}

/* Which jobs say themselves what they exchange, and of which the scenario says it. */
static void write_declared(const struct result_workload *workload, struct buffer *out)
{
    if (workload->declared_count == 0 && workload->declared_row_count == 0)
        return;
    buffer_members(out, ", 'communication': {'by_job': %llu, 'by_row': [",
                   (unsigned long long)workload->declared_count);
    for (uint32_t i = 0; i < workload->declared_row_count; i++)
        buffer_members(out, ", %llu", (unsigned long long)workload->declared_by_row[i]);
    buffer_string(out, "]}");
}

static void write_workload(const struct result_workload *workload, struct buffer *out)
{
    buffer_members(out, ",\n  'workload': {");
    if (workload->format != NULL)
        buffer_members(out, ", 'format': %s", workload->format);
    if (workload->load_gpus > 0)
        buffer_members(out, ", 'load_gpus': %llu", (unsigned long long)workload->load_gpus);
    if (workload->gpu_h_per_day > 0)
        buffer_members(out, ", 'gpu_hours_per_day': %g", workload->gpu_h_per_day);
    if (workload->arrival_factor > 0)
        buffer_members(out, ", 'arrival_factor': %g", workload->arrival_factor);
    if (workload->duration_factor > 0 && workload->duration_factor != 1)
        buffer_members(out, ", 'duration_factor': %g", workload->duration_factor);
    write_declared(workload, out);
    if (workload->assumed.count > 0) {
        buffer_members(out, ", 'assumed': ");
        assumed_json(&workload->assumed, out);
    }
    buffer_char(out, '}');
}

static void write_fork(const struct result_fork *fork, struct buffer *out)
{
    if (fork->fingerprint == NULL)
        return;
    buffer_members(out, ",\n  'fork': {\n  'fingerprint': %s,\n  'at_s': %.9lld,\n  'is_adopted': %hhd",
                   fork->fingerprint, (long long)fork->at, fork->is_adopted);
    for (size_t i = 0; i < fork->before_count; i++) {
        const struct result_before *before = &fork->before[i];
        if (i == 0)
            buffer_members(out, ", 'before': [");
        buffer_members(out, ", {\n  'until_s': %.9lld,\n  'policy': ", (long long)before->until);
        buffer_string(out, before->policy);
        if (before->plugins != NULL)
            buffer_format(out, ",\n  \"plugins\": %s", before->plugins);
        buffer_members(out, before->is_outside ? ", 'is_outside': true}" : "}");
    }
    buffer_string(out, fork->before_count > 0 ? "]}" : "}");
}

static void write_manifest(const struct result_manifest *manifest, struct buffer *out)
{
    buffer_members(out, "'manifest': {\n  'version': %s", manifest->version);
    pair_seed(out, manifest->seed);
    pair_text(out, "fingerprint", manifest->fingerprint);
    pair_text(out, "arrivals", manifest->arrivals);
    write_fork(&manifest->fork, out);
    write_inputs(manifest, out);
    write_files(manifest, out);
    write_workload(&manifest->workload, out);
    buffer_format(out, ",\n  \"scenario\": %s}", manifest->scenario_json != NULL ? manifest->scenario_json : "{}");
}

/* {"org": null, "team": "org"}: each queue with the one above it. */
static void write_queues(const struct run_facts *facts, struct buffer *out)
{
    if (facts->queue_count == 0)
        return;
    buffer_members(out, ",\n  'queues': {");
    for (uint32_t q = 0; q < facts->queue_count; q++) {
        const struct record_queue *queue = &facts->queues[q];
        if (queue->parent == RECORD_QUEUE_ROOT)
            buffer_members(out, ", %s: null", queue->name);
        else
            buffer_members(out, ", %s: %s", queue->name, facts->queues[queue->parent].name);
    }
    buffer_char(out, '}');
}

/* In the order of the cluster. */
static void write_pools(const struct run_facts *facts, struct buffer *out)
{
    for (uint32_t p = 0; p < facts->pool_count; p++) {
        const struct record_pool *pool = &facts->pools[p];
        buffer_members(out, p == 0 ? ",\n  'pools': [" : ",\n    ");
        buffer_members(out, "{'name': %s, 'first_node': %s, 'nodes': %u, 'gpus_per_node': %u", pool->name,
                       pool->first_node, pool->node_count, pool->gpus_per_node);
        if (pool->model != MODEL_ANY)
            buffer_members(out, ", 'gpu_model': %s", facts->model_names[pool->model]);
        buffer_members(out, ", 'price_usd_per_gpu_h': %g}", pool->price_usd_per_gpu_h);
    }
    buffer_string(out, facts->pool_count > 0 ? "]" : "");
}

static void write_facts(const struct run_facts *facts, struct buffer *out)
{
    buffer_members(out, "'facts': {");
    pair_exact_time(out, "end_s", "end_ns", facts->end);
    pair_exact_time(out, "warmup_s", "warmup_ns", facts->warmup);
    pair_exact_time(out, "measured_until_s", "measured_until_ns", metrics_until(facts));
    buffer_members(out, ",\n  'nodes': %llu,\n  'gpus': %llu", (unsigned long long)facts->node_count,
                   (unsigned long long)facts->gpu_count);
    pair_texts(out, "gpu_models", facts->model_names);
    write_queues(facts, out);
    write_pools(facts, out);
    buffer_members(out,
                   ",\n  'price_usd_per_gpu_h': %g,\n  'events': %llu,\n  'cycles': %llu,\n  'decisions': %llu"
                   ",\n  'promised_starts': %llu,\n  'late_starts': %llu,\n  'recuts': %llu,\n  'recut_gpu_h': %g",
                   facts->price_usd_per_gpu_h, (unsigned long long)facts->events, (unsigned long long)facts->cycles,
                   (unsigned long long)facts->decisions, (unsigned long long)facts->promised_starts,
                   (unsigned long long)facts->late_starts, (unsigned long long)facts->recuts, facts->recut_gpu_h);
    if (facts->loop.is_closed)
        buffer_members(out,
                       ",\n  'closed_loop_jobs': %llu,\n  'closed_loop_held_jobs': %llu"
                       ",\n  'closed_loop_shift_mean_s': %g,\n  'closed_loop_shift_abs_mean_s': %g",
                       (unsigned long long)facts->loop.followed, (unsigned long long)facts->loop.held_back,
                       facts->loop.shift_mean_s, facts->loop.shift_abs_mean_s);
    buffer_members(out, ",\n  'offered_load': ");
    offered_json(&facts->offered, facts->model_names, out);
    if (facts->validation.jobs > 0) {
        buffer_members(out, ",\n  'validation': ");
        validation_json(&facts->validation, out);
    }
    if (facts->stuck_jobs > 0)
        buffer_members(out, ",\n  'stuck_jobs': %llu,\n  'stuck': %s", (unsigned long long)facts->stuck_jobs,
                       facts->stuck);
    buffer_members(out, ",\n  'is_decided_outside': %hhd,\n  'is_partial': %hhd}", facts->is_decided_outside,
                   facts->is_partial);
}

static void write_host(const struct result_host *host, struct buffer *out)
{
    buffer_string(out, "\"host\": {");
    if (host != NULL) {
        pair_texts(out, "arguments", host->arguments);
        pair_text(out, "folder", host->folder);
        pair_text(out, "system", host->system);
        pair_text(out, "compiler", host->compiler);
        pair_text(out, "started", host->started);
        pair_positive(out, "wall_s", host->wall_s);
        pair_positive(out, "cpu_s", host->cpu_s);
        pair_positive(out, "memory_peak_bytes", (double)host->memory_peak_bytes);
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
