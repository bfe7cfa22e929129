/* How fast a whole run is: synthesis, scheduler, engine and metrics, with and without the record's files, in CPU time of
 * one core (system time included), so that other load on the machine does not count.
 * Each line is a run in a process of its own, so that peak memory is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reports/metrics.h"
#include "sim/engine.h"
#include "sim/record_files.h"
#include "sim/scenario.h"

struct line {
    const char *label;
    const char *sets[4];
    size_t set_count;
    const char *promise; /* thousand jobs/s without / with files, from the design */
};

static const struct line lines[] = {
    {"strict fifo, load 0.70", {"workload.synth.load_whole_gpu=0.70"}, 1, "1500 / 900"},
    {"fifo that skips, load 0.95", {"policy.blocking=skip"}, 1, "1500 / 900"},
    {"fifo that skips, load 1.10",
     {"policy.blocking=skip", "workload.synth.load_whole_gpu=1.1"},
     2,
     "1500 / 900"},
};

struct figures {
    double seconds;
    uint64_t jobs, events;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must(struct error error)
{
    if (!error_is(error))
        return;
    char *text = error_text_new(&error);
    fputs(text, stderr);
    exit(error_exit_status(error.kind));
}

static struct figures run(const struct line *line, const char *jobs, const char *folder)
{
    const char *sets[8];
    size_t count = 0;
    for (size_t i = 0; i < line->set_count; i++)
        sets[count++] = line->sets[i];
    sets[count++] = jobs;
    struct scenario_options options = {
        .path = "scenarios/bench.json", .sets = sets, .set_count = count};
    struct scenario scenario;
    struct job_source *source;
    struct engine_result result;
    must(scenario_load(&scenario, &options));
    must(scenario_open(&scenario, &source));
    struct metrics *metrics = metrics_new();
    struct record_sink sinks[2] = {metrics_sink(metrics)};
    struct record_files *files = NULL;
    if (folder != NULL) {
        must(record_files_open(&files, folder, NULL));
        sinks[1] = record_files_sink(files);
    }
    struct engine_config config = {.cluster = scenario.cluster,
                                   .source = source,
                                   .policy = &scenario.policy,
                                   .world = scenario.world,
                                   .seed = scenario.seed,
                                   .sinks = sinks,
                                   .sink_count = folder != NULL ? 2 : 1};
    double start = now_s();
    must(engine_run(&config, &result));
    metrics_finish(metrics);
    if (files != NULL)
        must(record_files_commit(&files));
    struct figures figures = {now_s() - start, result.submitted, result.facts.events};
    metrics_free(metrics);
    job_source_close(source);
    scenario_release(&scenario);
    return figures;
}

/* In a child, so that its peak memory can be told. */
static struct figures measure(const struct line *line, uint64_t jobs, const char *folder,
                              long *peak_mb)
{
    int ends[2];
    char set[64];
    struct figures figures = {0};
    struct rusage usage;
    int status;
    snprintf(set, sizeof set, "workload.synth.jobs=%llu", (unsigned long long)jobs);
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        figures = run(line, set, folder);
        _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 4);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &figures, sizeof figures);
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0 ||
        got != sizeof figures)
        exit(5);
    *peak_mb = usage.ru_maxrss / 1024;
    return figures;
}

static void row(const struct line *line, uint64_t jobs, const char *folder)
{
    long peak_mb;
    struct figures figures = measure(line, jobs, folder, &peak_mb);
    printf("%-28s %9llu %-8s %10.0f %10.0f %8ld  %s\n", line->label,
           (unsigned long long)figures.jobs, folder != NULL ? "files" : "none",
           (double)figures.jobs / figures.seconds / 1e3,
           (double)figures.events / figures.seconds / 1e3, peak_mb, line->promise);
    fflush(stdout);
}

int main(void)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    uint64_t most = size != NULL && strcmp(size, "small") == 0 ? 100000 : 10000000;
    char folder[] = "/tmp/windtunnel-bench-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 4;
    printf("%-28s %9s %-8s %10s %10s %8s  %s\n", "500 x 8 GPUs, best fit", "jobs", "record",
           "k jobs/s", "k events/s", "peak MB", "promise (none / files)");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (uint64_t jobs = 100000; jobs <= most; jobs *= 10) {
            row(&lines[i], jobs, NULL);
            row(&lines[i], jobs, folder);
        }
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 4;
}
