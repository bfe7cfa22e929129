/* windtunnel run: one simulation, from scenario to table and record. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/output.h"
#include "reports/html.h"
#include "reports/metrics.h"
#include "reports/result.h"
#include "reports/table.h"
#include "reports/view.h"
#include "sim/live/event_file.h"
#include "sim/live/process.h"
#include "sim/plugins/guard.h"
#include "sim/record/record_files.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

enum { TIMEOUT_S = 10, TIMEOUT_S_MAX = 1000000 }; /* time for another program's answer to a cycle */

static volatile sig_atomic_t caught_signal;

/* The first signal ends the run with a partial report, the second ends the program. */
static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

struct run {
    const struct args *args;
    struct scenario scenario;
    struct job_source *source;
    struct metrics *metrics;
    struct record_files *files;    /* NULL without --out, like the next two */
    struct output *page, *summary; /* report.html and result.json */
    struct event_file *events;     /* NULL without --events */
    struct process *process;       /* NULL without --scheduler */
    struct engine_result result;
    struct progress_line progress;
    struct service_levels levels; /* in the arena */
    struct arena arena;
    const char *out; /* NULL: no record */
    char *const *arguments;
};

static struct error open_in(struct output **out, const char *folder, const char *name)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", folder, name);
    struct error error = output_open(out, buffer_c_string(&path), OUTPUT_PLAIN);
    buffer_release(&path);
    return error;
}

static struct error open_events(struct run *run)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", run->out, EVENT_FILE);
    struct error error = event_file_open(&run->events, buffer_c_string(&path), run->scenario.cluster,
                                         job_source_queues(run->source), text_of(run->scenario.policy_text));
    buffer_release(&path);
    return error;
}

static struct error open_process(struct run *run)
{
    int64_t timeout_s;
    struct process_options options = {.command = args_string(run->args, "scheduler"),
                                      .cluster = run->scenario.cluster,
                                      .queues = job_source_queues(run->source),
                                      .policy = text_of(run->scenario.policy_text),
                                      .gangs_are_whole = (run->scenario.policy.guarantees & GUARANTEE_GANG) != 0,
                                      .sharing = &run->scenario.policy};
    TRY(args_int64(run->args, "scheduler-timeout", 1, TIMEOUT_S_MAX, TIMEOUT_S, &timeout_s));
    options.timeout_ms = timeout_s * 1000;
    return options.command != NULL ? process_open(&run->process, &options) : ERROR_OK;
}

/* Called before the simulation, so that a record that cannot be written is reported at once. */
static struct error open_record(struct run *run, const char *const *model_names)
{
    if (run->out[0] == '\0')
        return error_new(ERROR_USAGE, "'--out' must name a folder, got an empty name");
    TRY(record_files_open(&run->files, run->out, model_names));
    if (args_flag(run->args, "events"))
        TRY(open_events(run));
    TRY(open_in(&run->page, run->out, HTML_FILE));
    return open_in(&run->summary, run->out, RESULT_FILE);
}

static struct error simulate(struct run *run)
{
    const char *model_names[CLUSTER_MODELS_MAX + 1] = {NULL};
    const struct cluster *cluster = run->scenario.cluster;
    for (uint32_t m = 0; m < cluster->model_count; m++)
        model_names[m] = cluster->models[m].name;
    struct record_sink sinks[2] = {metrics_sink(run->metrics)};
    size_t sink_count = 1;
    if (run->out != NULL) {
        TRY(open_record(run, model_names));
        sinks[sink_count++] = record_files_sink(run->files);
    }
    TRY(open_process(run));
    struct engine_config config = {.watch = &guard_watch,
                                   .cluster = cluster,
                                   .source = run->source,
                                   .policy = &run->scenario.policy,
                                   .world = run->scenario.world,
                                   .typical = run->scenario.typical,
                                   .typical_count = run->scenario.typical_count,
                                   .seed = run->scenario.seed,
                                   .sinks = sinks,
                                   .sink_count = sink_count,
                                   .is_checked = args_flag(run->args, "check"),
                                   .stop = &caught_signal,
                                   .on_progress = progress_line_show,
                                   .progress_self = &run->progress};
    if (run->process != NULL)
        config.decider = process_decider(run->process);
    if (run->events != NULL)
        config.listener = event_file_listener(run->events);
    TRY(engine_run(&config, &run->result));
    metrics_finish(run->metrics);
    return ERROR_OK;
}

static void fill_host(const struct run *run, struct result_host *host, char system[256], char started[32])
{
    struct utsname name;
    struct rusage usage;
    time_t now = time(NULL) - (time_t)progress_line_elapsed_s(&run->progress);
    struct tm utc;
    *host = (struct result_host){.arguments = (const char *const *)run->arguments,
                                 .compiler = __VERSION__,
                                 .wall_s = progress_line_elapsed_s(&run->progress)};
    if (uname(&name) == 0) {
        snprintf(system, 256, "%s %s %s", name.sysname, name.release, name.machine);
        host->system = system;
    }
    if (gmtime_r(&now, &utc) != NULL && strftime(started, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        host->started = started;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        host->memory_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
        host->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
}

/* The name of what decides. */
static const char *policy_name(const struct run *run)
{
    const char *command = args_string(run->args, "scheduler");
    return command != NULL ? command : run->scenario.policy.name;
}

/* Events of an earlier run do not belong to this record. */
static struct error commit_events(struct run *run)
{
    struct buffer path = {0};
    if (run->events != NULL)
        return event_file_commit(&run->events);
    buffer_format(&path, "%s/%s", run->out, EVENT_FILE);
    bool is_gone = unlink(buffer_c_string(&path)) == 0 || errno == ENOENT;
    struct error error = is_gone ? ERROR_OK : error_io("remove", buffer_c_string(&path), errno);
    buffer_release(&path);
    return error;
}

/* All files appear together: all steps that can fail for lack of space are done before the first file gets its name. */
static struct error write_record(struct run *run, const struct result_manifest *manifest)
{
    struct result_host host;
    char system[256], started[32];
    struct html_options options = {.title = scenario_title(&run->scenario),
                                   .cluster = run->scenario.cluster->name,
                                   .policy = policy_name(run),
                                   .arguments = (const char *const *)run->arguments};
    fill_host(run, &host, system, started);
    html_text(run->metrics, manifest, &options, output_buffer(run->page));
    result_text(manifest, run->metrics, &host, output_buffer(run->summary));
    TRY(output_seal(run->page));
    TRY(output_seal(run->summary));
    if (run->events != NULL)
        TRY(event_file_seal(run->events));
    TRY(commit_events(run));
    TRY(record_files_commit(&run->files));
    TRY(output_commit(&run->page));
    return output_commit(&run->summary); /* last: its presence means that the record is complete */
}

static struct error finish_record(struct run *run)
{
    struct result_input inputs[3 + PLUGINS_MAX];
    const struct plugins *plugins = &run->scenario.plugins;
    size_t count = 0;
    char fingerprint[17], arrivals[17], scenario_digest[33];
    const char *path = tool_scenario_options(run->args).path;
    const struct workload_facts *facts = job_source_facts(run->source);
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)run->result.fingerprint);
    snprintf(arrivals, sizeof arrivals, "%016llx", (unsigned long long)job_source_arrivals(run->source));
    if (path != NULL) {
        TRY(input_digest(path, scenario_digest));
        inputs[count++] = (struct result_input){.role = "scenario", .name = path, .digest = scenario_digest};
    }
    if (run->scenario.cluster_path[0] != '\0')
        inputs[count++] = (struct result_input){
            .role = "cluster", .name = run->scenario.cluster_path, .digest = run->scenario.cluster_digest};
    const bool has_trace = run->scenario.workload.trace != NULL;
    if (has_trace)
        inputs[count++] =
            (struct result_input){.role = "trace", .name = run->scenario.workload.trace, .digest = facts->digest};
    for (uint32_t p = 0; p < plugins->set.count; p++) {
        struct plugin_file file = plugins_file(plugins, p);
        inputs[count++] = (struct result_input){.role = "plugin",
                                                .name = file.path,
                                                .digest = file.digest,
                                                .plugin = plugins->set.plugins[p]->name,
                                                .version = plugins->set.plugins[p]->version};
    }
    struct result_manifest manifest = {.version = WINDTUNNEL_VERSION,
                                       .seed = run->scenario.seed,
                                       .fingerprint = fingerprint,
                                       .arrivals = arrivals,
                                       .inputs = inputs,
                                       .input_count = count,
                                       .levels = run->levels,
                                       .workload = {.format = facts->format,
                                                    .load_gpus = facts->load_gpus,
                                                    .gpu_h_per_day = rint(facts->gpu_h_per_day * 1000) / 1000,
                                                    .arrival_factor = has_trace ? facts->arrival_factor : 0,
                                                    .declared_count = facts->declared_count,
                                                    .declared_by_row = facts->declared_by_row,
                                                    .declared_row_count = facts->declared_row_count},
                                       .scenario_json = run->scenario.resolved};
    return write_record(run, &manifest);
}

static struct error run_all(struct run *run)
{
    struct scenario_options options = tool_scenario_options(run->args);
    if (run->out == NULL && args_flag(run->args, "events"))
        return error_new(ERROR_USAGE, "'--events' adds a file to the record: name its folder with --out");
    if (options.path == NULL && options.trace == NULL && options.set_count == 0)
        return error_new(ERROR_USAGE, "there is nothing to run: name a scenario, or a trace with --trace");
    TRY(scenario_load(&run->scenario, &options));
    struct gates gates; /* `compare` judges by them */
    TRY(tool_service_levels(&run->scenario, &run->arena, &run->levels));
    TRY(tool_gates(&run->scenario, &run->arena, &gates));
    TRY(scenario_open(&run->scenario, &run->source));
    if (run->out != NULL || !args_flag(run->args, "quiet"))
        job_source_keep_arrivals(run->source);
    run->metrics = metrics_new();
    TRY(simulate(run));
    return run->out != NULL ? finish_record(run) : ERROR_OK;
}

enum { JOBS_TEXT_BYTES = 32 };
#define RATE_SHOWN_FROM_S 0.5 /* a shorter run measures only how fast files are opened */

static const char *jobs_text(uint64_t count, char text[JOBS_TEXT_BYTES])
{
    snprintf(text, JOBS_TEXT_BYTES, "%llu job%s", (unsigned long long)count, count == 1 ? "" : "s");
    return text;
}

static int print_table(const struct run *run)
{
    struct buffer out = {0};
    struct table_options options = {.cluster = run->scenario.cluster->name,
                                    .policy = policy_name(run),
                                    .levels = &run->levels,
                                    .is_activity_assumed = run->scenario.workload.synth != NULL};
    double elapsed = progress_line_elapsed_s(&run->progress);
    char jobs[JOBS_TEXT_BYTES];
    table_run(run->metrics, &options, &out);
    if (!args_flag(run->args, "quiet")) {
        fprintf(stderr, "%s in %.2f s", jobs_text(run->result.submitted, jobs), elapsed);
        if (elapsed >= RATE_SHOWN_FROM_S)
            fprintf(stderr, ": %.0f thousand jobs/s", (double)run->result.submitted / elapsed / 1e3);
        fprintf(stderr, "; fingerprint %016llx, arrivals %016llx\n", (unsigned long long)run->result.fingerprint,
                (unsigned long long)job_source_arrivals(run->source));
        if (run->out != NULL)
            fprintf(stderr, "record in %s\n", run->out);
    }
    return tool_print(&out);
}

/* Warn of classes in which more than a few jobs were rejected. */
static void warn_of_classes(const struct run *run)
{
    for (size_t i = 0; metrics_cut_key(run->metrics, "class", i) != NULL; i++) {
        struct buffer text = {0};
        if (view_class_rejections(&text, run->metrics, i))
            fprintf(stderr, "warning: %s\n", buffer_c_string(&text));
        buffer_release(&text);
    }
}

/* Warn, once, of jobs that were rejected or skipped. */
static int warn(const struct run *run)
{
    const struct workload_facts *facts = job_source_facts(run->source);
    char jobs[JOBS_TEXT_BYTES];
    if (facts->bad_line_count > 0)
        fprintf(stderr, "warning: %llu unreadable line%s of the trace %s skipped\n",
                (unsigned long long)facts->bad_line_count, facts->bad_line_count == 1 ? "" : "s",
                facts->bad_line_count == 1 ? "was" : "were");
    warn_of_classes(run);
    if (run->result.never_fits == 0 && run->result.refused == 0)
        return 0;
    if (run->result.refused != 0)
        fprintf(stderr, "warning: %s refused by the scheduler '%s'\n", jobs_text(run->result.refused, jobs),
                policy_name(run));
    else
        fprintf(stderr, "warning: %s rejected (NeverFits): no state of this cluster could hold %s\n",
                jobs_text(run->result.never_fits, jobs), run->result.never_fits == 1 ? "it" : "them");
    return args_flag(run->args, "strict") ? error_exit_status(ERROR_DATA) : 0;
}

static void release(struct run *run)
{
    error_release(&run->result.stall); /* it is set if the record could not be written */
    record_files_discard(&run->files);
    event_file_discard(&run->events);
    process_close(&run->process);
    output_discard(&run->page);
    output_discard(&run->summary);
    metrics_free(run->metrics);
    job_source_close(run->source);
    scenario_release(&run->scenario);
    arena_release(&run->arena);
}

static int run_verb(const struct args *args)
{
    struct run run = {.args = args, .out = args_string(args, "out"), .arguments = tool_arguments()};
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    progress_line_begin(&run.progress, !args_flag(args, "quiet"));
    struct error error = run_all(&run);
    progress_line_end(&run.progress);
    int status;
    if (error_is(error)) {
        status = tool_fail(&error);
    } else {
        status = print_table(&run);
        int warned = warn(&run);
        if (error_is(run.result.stall))
            warned = tool_fail(&run.result.stall);
        status = status != 0 ? status : warned;
    }
    release(&run);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}

static const struct args_option options[] = {
    SCENARIO_OPTIONS,
    {.name = "out",
     .letter = 'o',
     .metavar = "DIR",
     .help = "Write the record of the run there: result.json, jobs.csv.zst, attempts.csv.zst, "
             "timeline.csv.zst and report.html. Files of an earlier record are replaced."},
    {.name = "events",
     .help = "Write every fact and decision to events.jsonl.zst in the record, for 'windtunnel "
             "decide'."},
    {.name = "scheduler",
     .metavar = "COMMAND",
     .help = "Let another program decide: the shell starts COMMAND, which reads facts and writes "
             "decisions as docs/decide.md describes."},
    {.name = "scheduler-timeout",
     .metavar = "SECONDS",
     .help = "The real time that COMMAND may take for a cycle; 10 by default."},
    {.name = "check", .help = "Verify every invariant at every instant of simulated time; slow."},
    {.name = "strict",
     .help = "Exit with status 3 if a job was rejected because it can never fit, or COMMAND "
             "refused one."},
    {.name = "quiet", .letter = 'q', .help = "Print the table only: no progress, no summary."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel run scenarios/h100-500x8.json --out out/main", "The main scenario, with its record."},
    {"windtunnel run --trace jobs.csv.zst --cluster topologies/dgx-h100-500.json --policy fifo "
     "--set workload.load=0.9",
     "A trace of your own at 90 % load."},
    {"windtunnel run scenarios/h100-500x8.json --set cluster.pools.h100.nodes=550",
     "The same jobs with 50 more nodes."},
    {0},
};

const struct args_verb verb_run = {
    .name = "run",
    .summary = "simulate a scenario and report",
    .synopsis = "[SCENARIO] [OPTION]...",
    .description =
        (const char *const[]){"Replays or synthesizes the workload of a scenario on its cluster under its policy and "
                              "prints the results. SCENARIO is a file, or the name of an installed scenario "
                              "('windtunnel help' says where these are), such as h100-500x8. Without it the options "
                              "must name at least a trace and a cluster.",
                              "On SIGINT or SIGTERM the run ends at once, the table and the record say that they are "
                              "partial, and the signal is raised again.",
                              "A run that makes no progress for world.stall_steps cycles or evictions ends likewise, "
                              "with status 5.",
                              NULL},
    .options = options,
    .examples = examples,
    .operands_max = 1,
    .run = run_verb,
};
