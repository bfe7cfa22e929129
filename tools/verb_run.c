/* windtunnel run: one simulation, from scenario to table and record. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/worker_pool.h"
#include "reports/run_show.h"
#include "reports/view.h"
#include "studies/run/lengths.h"
#include "studies/run/run.h"
#include "studies/run/shakes.h"
#include "studies/run/unmeasured.h"
#include "studies/run/unread.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"
#include "workloads/readers/rows.h"

enum { SHAKES_MAX = 1000, WORKERS_MAX = 1024 };
enum { TIMEOUT_S = 10, TIMEOUT_S_MAX = 1000000 }; /* time for another program's answer to a cycle */

static volatile sig_atomic_t caught_signal;

/* The first signal ends the run with a partial report, the second ends the program. */
static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

/* While inputs are read, a signal ends the program at once: nothing is lost, and a pipe that nobody writes to would
 * never end. */
static void catch_signals(void)
{
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
}

static void fill_host(const struct progress_line *progress, struct result_host *host, char system[256],
                      char started[32])
{
    struct utsname name;
    struct rusage usage;
    time_t now = time(NULL) - (time_t)progress_line_elapsed_s(progress);
    struct tm utc;
    *host = (struct result_host){.arguments = (const char *const *)tool_arguments(),
                                 .compiler = __VERSION__,
                                 .wall_s = progress_line_elapsed_s(progress)};
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

static bool is_same_folder(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The operand is a record then. */
static struct error read_fork(const struct args *args, struct run_options *options)
{
    const char *at = args_string(args, "fork-at");
    if (at == NULL)
        return ERROR_OK;
    TRY(tool_fork_at(at, &options->fork_at));
    options->fork = args_operand(args, 0);
    options->scenario.path = NULL;
    if (options->fork == NULL)
        return error_new(ERROR_USAGE, "'--fork-at' needs the folder of the record to begin from");
    if (options->has_events)
        return error_new(ERROR_USAGE,
                         "'--events' cannot be used with --fork-at: the events of a fork cannot be replayed");
    if (options->scheduler != NULL)
        return error_new(ERROR_USAGE, "'--scheduler' cannot be used with --fork-at: another program cannot take over");
    if (options->out != NULL && is_same_folder(options->out, options->fork))
        return error_new(ERROR_USAGE, "'--out' must not be the folder of the record that is forked");
    return ERROR_OK;
}

/* 0: none are wanted. */
static struct error read_shakes(const struct args *args, int64_t *count, int64_t *workers)
{
    static const char *const others[] = {"fork-at", "scheduler"};
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), workers));
    TRY(args_int64(args, "shakes", 2, SHAKES_MAX, 0, count));
    for (size_t i = 0; *count > 0 && i < sizeof others / sizeof *others; i++)
        if (args_string(args, others[i]) != NULL)
            return error_new(ERROR_USAGE, "'--shakes' cannot be used with --%s", others[i]);
    return ERROR_OK;
}

static struct error read_options(const struct args *args, struct run_options *options)
{
    int64_t timeout_s;
    *options = (struct run_options){.version = WINDTUNNEL_VERSION,
                                    .scenario = tool_scenario_options(args),
                                    .out = args_string(args, "out"),
                                    .has_events = args_flag(args, "events"),
                                    .scheduler = args_string(args, "scheduler"),
                                    .is_checked = args_flag(args, "check"),
                                    .keeps_arrivals = !args_flag(args, "quiet"),
                                    .stop = &caught_signal,
                                    .on_begin = catch_signals,
                                    .on_progress = progress_line_show,
                                    .arguments = (const char *const *)tool_arguments()};
    tool_trust(args, &options->scenario);
    if (options->out == NULL && options->has_events)
        return error_new(ERROR_USAGE, "'--events' adds a file to the record: name its folder with --out");
    TRY(read_fork(args, options));
    int64_t count, workers;
    TRY(read_shakes(args, &count, &workers));
    if (options->fork == NULL && options->scenario.path == NULL && options->scenario.trace == NULL &&
        options->scenario.set_count == 0)
        return error_new(ERROR_USAGE, "there is nothing to run: name a scenario, or a trace with --trace");
    if (options->out != NULL && options->out[0] == '\0')
        return error_new(ERROR_USAGE, "'--out' must name a folder, got an empty name");
    TRY(args_int64(args, "scheduler-timeout", 1, TIMEOUT_S_MAX, TIMEOUT_S, &timeout_s));
    options->scheduler_timeout_ms = timeout_s * 1000;
    return ERROR_OK;
}

static struct error run_all(const struct args *args, struct run_options *options, struct run *run,
                            struct progress_line *progress)
{
    struct result_host host;
    char system[256], started[32];
    TRY(read_options(args, options));
    options->progress_self = progress;
    TRY(run_simulate(run, options));
    if (options->out == NULL)
        return ERROR_OK;
    fill_host(progress, &host, system, started);
    return run_commit(run, &host);
}

enum { JOBS_TEXT_BYTES = 32 };
#define RATE_SHOWN_FROM_S 0.5 /* a shorter run measures only how fast files are opened */

static const char *jobs_text(uint64_t count, char text[JOBS_TEXT_BYTES])
{
    snprintf(text, JOBS_TEXT_BYTES, "%llu job%s", (unsigned long long)count, count == 1 ? "" : "s");
    return text;
}

/* The runs that differ by chance alone, behind the table. */
static struct error add_shakes(const struct args *args, const struct run *run, struct show *show)
{
    int64_t count, workers;
    TRY(read_shakes(args, &count, &workers));
    if (count == 0 || caught_signal != 0)
        return ERROR_OK;
    struct shakes shakes;
    struct values own;
    struct buffer text = {0};
    const struct shakes_options options = {.version = WINDTUNNEL_VERSION,
                                           .scenario = run->options->scenario,
                                           .resolved = run->scenario.resolved,
                                           .seed = run->scenario.seed,
                                           .count = (size_t)count,
                                           .worker_count = (size_t)workers,
                                           .stop = &caught_signal};
    TRY(run_result_text(run, NULL, &text));
    struct error error = values_read_text(&own, "the result of the run", (struct text){text.bytes, text.length});
    buffer_release(&text);
    TRY(error);
    error = shakes_run(&shakes, &options);
    if (!error_is(error))
        shakes_add(show, &shakes, &own);
    shakes_release(&shakes);
    values_release(&own);
    return error;
}

static int print_table(const struct args *args, const struct run *run, double elapsed)
{
    struct buffer out = {0};
    const struct run_show options = {.cluster = run->scenario.cluster->name,
                                     .policy = run_policy_name(run),
                                     .levels = &run->levels,
                                     .assumed = &run->assumed,
                                     .is_activity_assumed = run->scenario.workload.synth != NULL};
    struct show *show = run_show_new(run->metrics, &options);
    char jobs[JOBS_TEXT_BYTES];
    struct error error = add_shakes(args, run, show);
    show_text(show, &out);
    show_free(show);
    if (!args_flag(args, "quiet")) {
        tool_say("%s in %.2f s", jobs_text(run->result.submitted, jobs), elapsed);
        if (elapsed >= RATE_SHOWN_FROM_S)
            tool_say(": %.0f thousand jobs/s", (double)run->result.submitted / elapsed / 1e3);
        tool_say("; fingerprint %016llx, arrivals %016llx\n", (unsigned long long)run->result.fingerprint,
                 (unsigned long long)job_source_arrivals(run->source));
        if (run->options->out != NULL)
            tool_say("record in %s\n", run->options->out);
    }
    const int status = tool_print(&out);
    return error_is(error) ? tool_fail(&error) : status;
}

/* Warn of classes in which more than a few jobs were rejected. */
static void warn_of_classes(const struct run *run)
{
    for (size_t i = 0; metrics_cut_key(run->metrics, "class", i) != NULL; i++) {
        struct buffer text = {0};
        if (view_class_rejections(&text, run->metrics, i))
            tool_say("warning: %s\n", buffer_c_string(&text));
        buffer_release(&text);
    }
}

/* Dated sizes that all begin after the run: likely the times of the trace are no dates. */
static void warn_of_sizes(const struct run *run)
{
    const struct capacity_table *sizes = &run->scenario.world.capacity;
    const struct workload_facts *facts = job_source_facts(run->source);
    if (sizes->count == 0 || !sizes->is_dated || run->result.facts.is_partial)
        return;
    if (capacity_step_at(sizes, 0, facts) > run->result.facts.end)
        tool_say("warning: the first date of %s is after the run, so all nodes were in service: are the times of the "
                 "trace dates?\n",
                 sizes->path);
}

static void warn_of_lengths(const struct run *run)
{
    const struct lengths_told told = {run->result.submitted, run->result.limits, run->result.estimates};
    struct buffer text = {0};
    if (run->options->fork == NULL && run->options->scheduler == NULL && lengths_say(&run->scenario, &told, &text))
        tool_say("warning: %s\n", buffer_c_string(&text));
    buffer_release(&text);
}

static void say_warning(void *self, const char *text)
{
    (void)self;
    tool_say("warning: %s\n", text);
}

/* Warn, once, of jobs that were rejected or skipped. */
static int warn(const struct args *args, const struct run *run)
{
    const struct workload_facts *facts = job_source_facts(run->source);
    char jobs[JOBS_TEXT_BYTES];
    if (facts->bad_line_count > 0)
        tool_say("warning: %llu unreadable line%s of the trace %s skipped\n", (unsigned long long)facts->bad_line_count,
                 facts->bad_line_count == 1 ? "" : "s", facts->bad_line_count == 1 ? "was" : "were");
    for (uint32_t i = 0; i < facts->skipped.reason_count; i++)
        if (strcmp(facts->skipped.reasons[i].why, READER_NO_DELAY) == 0)
            tool_say("warning: %llu jobs of the trace are left out: %s\n",
                     (unsigned long long)facts->skipped.reasons[i].count, READER_NO_DELAY);
    if (facts->guessed_hours > 0)
        tool_say("warning: %llu rows of the trace have a time in an hour that comes twice: the first was taken\n",
                 (unsigned long long)facts->guessed_hours);
    if (job_source_dropped_waits(run->source) > 0)
        tool_say("note: the waits that the trace records are not compared: 'workload.%s' makes other work of it\n",
                 facts->unrecorded);
    if (run->options->scheduler == NULL)
        unread_list(&run->scenario, run->source, say_warning, NULL);
    unmeasured_list(&run->scenario, run->source, say_warning, NULL);
    warn_of_lengths(run);
    warn_of_sizes(run);
    warn_of_classes(run);
    if (run->result.facts.stuck_jobs > 0)
        tool_say("warning: %s\n", run->result.facts.stuck);
    if (run->result.never_fits == 0 && run->result.refused == 0)
        return 0;
    if (run->result.refused != 0)
        tool_say("warning: %s refused by the scheduler '%s'\n", jobs_text(run->result.refused, jobs),
                 run_policy_name(run));
    else
        tool_say("warning: %s rejected (NeverFits): no state of this cluster could hold %s\n",
                 jobs_text(run->result.never_fits, jobs), run->result.never_fits == 1 ? "it" : "them");
    return args_flag(args, "strict") ? error_exit_status(ERROR_DATA) : 0;
}

int verb_run(const struct args *args)
{
    struct run_options run_options;
    struct run run = {0};
    struct progress_line progress;
    progress_line_begin(&progress, !args_flag(args, "quiet"));
    struct error error = run_all(args, &run_options, &run, &progress);
    progress_line_end(&progress);
    int status;
    if (error_is(error)) {
        status = tool_fail(&error);
    } else {
        status = print_table(args, &run, progress_line_elapsed_s(&progress));
        int warned = warn(args, &run);
        if (error_is(run.result.stall))
            warned = tool_fail(&run.result.stall);
        status = status != 0 ? status : warned;
    }
    run_release(&run);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}
