#include "studies/run/run.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "reports/run_show.h"
#include "studies/run/assumptions.h"

const char *run_policy_name(const struct run *run)
{
    return run->options->scheduler != NULL ? run->options->scheduler : run->scenario.policy.name;
}

/* A member of the scenario's object, whose reader does the rest. */
static struct json_value member(const struct scenario *scenario, const char *key, struct json_value *root,
                                struct error *sticky)
{
    struct json_object object;
    *root = json_doc_root(scenario->doc, sticky);
    json_object_open(&object, root);
    return json_member(&object, key);
}

struct error run_service_levels(const struct scenario *scenario, struct arena *arena, struct service_levels *out)
{
    struct error error = ERROR_OK;
    struct json_value root;
    struct json_value value = member(scenario, "service_levels", &root, &error);
    value.parent = &root;
    *out = service_levels_read(&value, arena);
    return error;
}

struct error run_gates(const struct scenario *scenario, struct arena *arena, struct gates *out)
{
    struct error error = ERROR_OK;
    struct json_value root;
    struct json_value value = member(scenario, "gates", &root, &error);
    value.parent = &root;
    *out = gates_read(&value, arena);
    return error;
}

/* ---- before the simulation ---- */

static struct error open_events(struct run *run)
{
    return event_file_open(&run->events, run->options->out, run->scenario.cluster, job_source_queues(run->source),
                           text_of(run->scenario.policy_text));
}

static struct error open_process(struct run *run)
{
    const struct text decisions = run->options->decisions;
    struct process_options options = {.command =
                                          decisions.at != NULL ? "the recorded decisions" : run->options->scheduler,
                                      .answers = decisions,
                                      .timeout_ms = run->options->scheduler_timeout_ms,
                                      .cluster = run->scenario.cluster,
                                      .queues = job_source_queues(run->source),
                                      .policy = text_of(run->scenario.policy_text),
                                      .gangs_are_whole = (run->scenario.policy.guarantees & GUARANTEE_GANG) != 0,
                                      .sharing = &run->scenario.policy,
                                      .stop = run->options->stop};
    return options.command != NULL ? process_open(&run->process, &options) : ERROR_OK;
}

/* Called before the simulation, so that a record that cannot be written is reported at once. */
static struct error open_record(struct run *run, const char *const *model_names)
{
    TRY(folder_open(&run->folder, run->options->out));
    TRY(record_files_open(&run->files, run->options->out, model_names));
    if (run->options->has_events)
        TRY(open_events(run));
    TRY(output_open_inside(&run->page, run->options->out, HTML_FILE, OUTPUT_PLAIN));
    return output_open_inside(&run->summary, run->options->out, RESULT_FILE, OUTPUT_PLAIN);
}

/* ---- the simulation ---- */

/* The check holds the policy to its guarantees.  A gang policy that cannot keep one is a mistake in the policy, and no
 * run is needed to see it. */
static struct error check_guarantees(const struct policy_config *policy)
{
    if ((policy->guarantees & GUARANTEE_GANG) == 0 || policy->gang->is_all_or_nothing)
        return ERROR_OK;
    struct error error = error_new(
        ERROR_CONFIG, "policy '%s' guarantees \"gang\", but its gang policy '%s' starts jobs below their minimum",
        policy->name, policy->gang->name);
    error_set_hint(&error, "leave \"gang\" out of policy.guarantees, or set policy.gang.policy to 'all_or_nothing'");
    return error;
}

/* Replay the record that is forked, unless that is done, and go on from the moment. */
static struct error go_on(struct run *run, const struct engine_config *config)
{
    if (run->fork == &run->own_fork)
        TRY(fork_replay(run->fork, &(struct fork_how){.is_checked = config->is_checked,
                                                      .stop = config->stop,
                                                      .on_progress = config->on_progress,
                                                      .progress_self = config->progress_self}));
    TRY(fork_go_on(run->fork, &run->scenario, config->sinks, config->sink_count));
    run->source = run->fork->source;
    run->result = run->fork->result;
    run->fork->result.stall = ERROR_OK;
    return ERROR_OK;
}

static struct error simulate(struct run *run)
{
    const char *model_names[CLUSTER_MODELS_MAX + 1] = {NULL};
    const struct run_options *options = run->options;
    const struct cluster *cluster = run->scenario.cluster;
    for (uint32_t m = 0; m < cluster->model_count; m++)
        model_names[m] = cluster->models[m].name;
    if (options->is_checked && options->scheduler == NULL && options->decisions.at == NULL)
        TRY(check_guarantees(&run->scenario.policy));
    struct record_sink sinks[3] = {metrics_sink(run->metrics)};
    size_t sink_count = 1;
    if (options->out != NULL) {
        TRY(open_record(run, model_names));
        sinks[sink_count++] = record_files_sink(run->files);
    }
    if (options->sink != NULL)
        sinks[sink_count++] = *options->sink;
    if (options->on_begin != NULL)
        options->on_begin();
    if (run->fork == NULL)
        TRY(open_process(run));
    struct engine_config config = scenario_engine(&run->scenario, run->source);
    config.sinks = sinks;
    config.sink_count = sink_count;
    config.is_checked = options->is_checked;
    config.stop = options->stop;
    config.on_progress = options->on_progress;
    config.progress_self = options->progress_self;
    if (run->process != NULL)
        config.decider = process_decider(run->process);
    if (run->events != NULL)
        config.listener = event_file_listener(run->events);
    TRY(run->fork != NULL ? go_on(run, &config) : engine_run(&config, &run->result));
    if (options->stop == NULL || *options->stop == 0)
        TRY(job_source_check(run->source));
    metrics_finish(run->metrics);
    const bool is_outside = run->process != NULL || run->result.facts.is_decided_outside;
    assumptions_find(&run->scenario, run->source, is_outside, &run->assumed);
    return ERROR_OK;
}

/* The scenario that the options name, or that of the record to be forked. */
static struct error load_scenario(struct run *run)
{
    struct scenario_options scenario = run->options->scenario;
    if (run->options->fork == NULL)
        return scenario_load(&run->scenario, &scenario);
    if (run->options->moment == NULL)
        TRY(fork_open(&run->own_fork, run->options->fork, run->options->fork_at, &scenario));
    run->fork = run->options->moment != NULL ? run->options->moment : &run->own_fork;
    return fork_scenario(run->fork, &run->scenario, &scenario);
}

static void set_prices(const struct run *run)
{
    const struct cluster *cluster = run->scenario.cluster;
    struct record_pool *pools = mem_zalloc(cluster->pool_count + (size_t)1, sizeof *pools);
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        const struct node_pool *pool = &cluster->pools[p];
        const struct node_type *type = &cluster->types[pool->type];
        pools[p] = (struct record_pool){.model = type->gpu_count > 0 ? type->model : MODEL_ANY,
                                        .node_count = pool->node_count,
                                        .gpus_per_node = type->gpu_count,
                                        .price_usd_per_gpu_h = pool->price_usd_per_gpu_h};
    }
    metrics_set_prices(run->metrics, pools, cluster->pool_count);
    mem_free(pools);
}

struct error run_simulate(struct run *run, const struct run_options *options)
{
    *run = (struct run){.options = options};
    TRY(load_scenario(run));
    struct gates gates;
    TRY(run_service_levels(&run->scenario, &run->arena, &run->levels));
    TRY(run_gates(&run->scenario, &run->arena, &gates));
    if (run->fork == NULL)
        TRY(scenario_open(&run->scenario, &run->source));
    if (run->fork == NULL && (options->out != NULL || options->keeps_arrivals))
        job_source_keep_arrivals(run->source);
    run->metrics = metrics_new();
    set_prices(run);
    return simulate(run);
}

/* ---- the record ---- */

/* Events of an earlier run do not belong to this record. */
static struct error commit_events(struct run *run)
{
    return run->events != NULL ? event_file_commit(&run->events) : folder_remove(run->folder, EVENT_FILE);
}

/* What a manifest borrows. */
struct manifest {
    struct result_manifest result;
    struct result_input *inputs;  /* owned */
    struct result_before *before; /* owned */
    struct result_file files[RECORD_FILE_COUNT + 1];
    char digests[RECORD_FILE_COUNT + 1][33];
    char fingerprint[17], arrivals[17];
};

/* The trace and the tables beside it; returns their number. */
static size_t fill_workload(const struct workload_spec *workload, const struct workload_facts *facts,
                            struct result_input *inputs)
{
    const uint32_t side_count = facts->sides != NULL ? facts->sides->count : 0;
    size_t count = 0;
    if (workload->trace != NULL)
        inputs[count++] = (struct result_input){.role = "trace", .name = workload->trace, .digest = facts->digest};
    for (uint32_t i = 0; i < side_count; i++)
        inputs[count++] = (struct result_input){
            .role = "table", .name = facts->sides->files[i].path, .digest = facts->sides->files[i].digest};
    return count;
}

static void fill_inputs(const struct run *run, struct manifest *manifest)
{
    const struct plugins *plugins = &run->scenario.plugins;
    const char *path = run->options->scenario.path;
    /* scenario, record, cluster, capacity; of a merge each part has its own */
    struct result_input *inputs = manifest->inputs =
        mem_zalloc(4 + (1 + WORKLOAD_PARTS_MAX) * (1 + SIDE_FILES_MAX) + PLUGINS_MAX, sizeof *inputs);
    size_t count = 0;
    if (run->scenario.digest[0] != '\0')
        inputs[count++] = (struct result_input){.role = "scenario", .name = path, .digest = run->scenario.digest};
    if (run->fork != NULL)
        inputs[count++] =
            (struct result_input){.role = "record", .name = run->fork->folder, .digest = run->fork->digest};
    if (run->scenario.cluster_path[0] != '\0')
        inputs[count++] = (struct result_input){
            .role = "cluster", .name = run->scenario.cluster_path, .digest = run->scenario.cluster_digest};
    const struct capacity_table *capacity = &run->scenario.world.capacity;
    if (capacity->path != NULL)
        inputs[count++] = (struct result_input){.role = "capacity", .name = capacity->path, .digest = capacity->digest};
    const struct workload_spec *workload = &run->scenario.workload;
    count += fill_workload(workload, job_source_facts(run->source), inputs + count);
    for (uint32_t p = 0; p < workload->part_count; p++)
        count +=
            fill_workload(&workload->parts[p].spec, job_source_facts(job_source_part(run->source, p)), inputs + count);
    for (uint32_t p = 0; p < plugins->set.count; p++) {
        struct plugin_file file = plugins_file(plugins, p);
        inputs[count++] = (struct result_input){.role = "plugin",
                                                .name = file.path,
                                                .digest = file.digest,
                                                .plugin = plugins->set.plugins[p]->name,
                                                .version = plugins->set.plugins[p]->version};
    }
    manifest->result.inputs = inputs;
    manifest->result.input_count = count;
}

static void fill_manifest(const struct run *run, struct manifest *manifest)
{
    const struct workload_facts *facts = job_source_facts(run->source);
    snprintf(manifest->fingerprint, sizeof manifest->fingerprint, "%016llx",
             (unsigned long long)run->result.fingerprint);
    snprintf(manifest->arrivals, sizeof manifest->arrivals, "%016llx",
             (unsigned long long)job_source_arrivals(run->source));
    manifest->result = (struct result_manifest){
        .version = run->options->version,
        .seed = run->scenario.seed,
        .fingerprint = manifest->fingerprint,
        .arrivals = manifest->arrivals,
        .levels = run->levels,
        .workload = {.format = facts->format,
                     .load_gpus = facts->load_gpus,
                     .gpu_h_per_day = rint(facts->gpu_h_per_day * 1000) / 1000,
                     .arrival_factor = run->scenario.workload.trace != NULL ? facts->arrival_factor : 0,
                     .duration_factor = run->scenario.workload.trace != NULL ? facts->duration_factor : 0,
                     .declared_count = facts->declared_count,
                     .declared_by_row = facts->declared_by_row,
                     .declared_row_count = facts->declared_row_count,
                     .assumed = run->assumed},
        .scenario_json = run->scenario.resolved};
    if (run->fork != NULL) {
        manifest->before = mem_zalloc(run->fork->part_count, sizeof *manifest->before);
        manifest->result.fork = fork_told(run->fork, &run->scenario, manifest->before);
    }
    fill_inputs(run, manifest);
}

/* The files must be sealed. */
static void fill_files(const struct run *run, struct manifest *manifest)
{
    size_t count = 0;
    for (; count < RECORD_FILE_COUNT; count++) {
        record_files_digest(run->files, (int)count, manifest->digests[count]);
        manifest->files[count] = (struct result_file){record_files_names[count], manifest->digests[count]};
    }
    if (run->events != NULL) {
        event_file_digest(run->events, manifest->digests[count]);
        manifest->files[count] = (struct result_file){EVENT_FILE, manifest->digests[count]};
        count++;
    }
    manifest->result.files = manifest->files;
    manifest->result.file_count = count;
}

struct error run_result_text(const struct run *run, const struct result_host *host, struct buffer *out)
{
    struct manifest manifest = {.before = NULL};
    fill_manifest(run, &manifest);
    result_text(&manifest.result, run->metrics, host, out);
    mem_free(manifest.inputs);
    mem_free(manifest.before);
    return ERROR_OK;
}

static struct error seal_rows(struct run *run)
{
    TRY(record_files_seal(run->files));
    return run->events != NULL ? event_file_seal(run->events) : ERROR_OK;
}

/* All files appear together: all steps that can fail for lack of space are done before the first file gets its name.
 * Without result.json the folder is no record: it goes before the first file of an earlier record does, and its
 * presence means that the record is complete. */
static struct error commit_all(struct run *run)
{
    TRY(folder_remove(run->folder, RESULT_FILE));
    TRY(commit_events(run));
    TRY(record_files_commit(&run->files));
    TRY(output_commit(&run->page));
    return output_commit(&run->summary);
}

static struct error commit(struct run *run, struct manifest *manifest, const struct result_host *host)
{
    struct result_host here = host != NULL ? *host : (struct result_host){0};
    char folder[PATH_MAX];
    here.folder = getcwd(folder, sizeof folder);
    const struct run_show options = {.title = scenario_title(&run->scenario),
                                     .cluster = run->scenario.cluster->name,
                                     .policy = run_policy_name(run),
                                     .arguments = run->options->arguments,
                                     .levels = &run->levels,
                                     .assumed = &run->assumed,
                                     .manifest = &manifest->result,
                                     .is_activity_assumed = run->scenario.workload.synth != NULL};
    fill_manifest(run, manifest);
    struct show *show = run_show_new(run->metrics, &options);
    show_page(show, NULL, output_buffer(run->page));
    show_free(show);
    TRY(output_seal(run->page));
    TRY(seal_rows(run));
    fill_files(run, manifest);
    result_text(&manifest->result, run->metrics, &here, output_buffer(run->summary));
    TRY(output_seal(run->summary));
    return commit_all(run);
}

struct error run_commit(struct run *run, const struct result_host *host)
{
    struct manifest manifest = {.before = NULL};
    struct error error = commit(run, &manifest, host);
    mem_free(manifest.inputs);
    mem_free(manifest.before);
    return error;
}

void run_release(struct run *run)
{
    error_release(&run->result.stall); /* it is set if the caller did not show it */
    record_files_discard(&run->files);
    event_file_discard(&run->events);
    if (run->fork == NULL)
        job_source_close(run->source);
    fork_release(&run->own_fork);
    process_close(&run->process);
    output_discard(&run->page);
    output_discard(&run->summary);
    folder_close(&run->folder);
    metrics_free(run->metrics);
    scenario_release(&run->scenario);
    arena_release(&run->arena);
}
