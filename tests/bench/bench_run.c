/* How fast a whole run is: synthesis, scheduler, engine and metrics, with and without the record's files, in CPU time
 * of one core (system time included), so that other load on the machine does not count but for what it takes from the
 * caches. Each run is a process of its own, so that peak memory is its own, and writes into a folder of its own, so
 * that it does not pay for freeing the files of another.  A run of 10^5 jobs takes a tenth of a second, in which
 * little disturbs much: every size is run so often that the jobs in all are the same, or ten seconds have passed; the
 * median is told, and the slowest and fastest.  Times judge nothing: what holds is the count of instructions
 * (bench_instructions.sh), of the same rows (rows.txt). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reports/metrics.h"
#include "sim/engine/engine.h"
#include "sim/record/record_files.h"
#include "sim/scenario/scenario.h"

#define ROWS_FILE "tests/bench/rows.txt"

enum { SETS_MAX = 8, RUNS_MAX = 100, SECONDS_ENOUGH = 10, LINES_MAX = 32 };

struct line {
    char label[32], scenario[64];
    const char *sets[SETS_MAX];
    char words[512]; /* what the sets point into */
};

static struct line lines[LINES_MAX];

struct figures {
    double seconds;
    uint64_t jobs, events, cycles, plans, evictions, pending;
    long peak_mb; /* filled in by the parent */
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

/* "scenarios/bench.json --set a=b --set c=d" */
static bool read_arguments(struct line *line, const char *arguments)
{
    size_t sets = 0;
    snprintf(line->words, sizeof line->words, "%s", arguments);
    const char *word = strtok(line->words, " \n");
    if (word == NULL)
        return false;
    snprintf(line->scenario, sizeof line->scenario, "%s", word);
    while ((word = strtok(NULL, " \n")) != NULL) {
        const char *set = strtok(NULL, " \n");
        if (strcmp(word, "--set") != 0 || set == NULL || sets == SETS_MAX)
            return false;
        line->sets[sets++] = set;
    }
    return true;
}

/* The rows of a group, each once though it stands there with and without the files of a record; how many. */
static size_t read_rows(const char *group)
{
    char text[1024], of[32], record[16], arguments[512];
    size_t count = 0;
    FILE *file = fopen(ROWS_FILE, "r");
    if (file == NULL)
        exit(4);
    while (fgets(text, sizeof text, file) != NULL) {
        struct line *line = &lines[count];
        if (text[0] == '#')
            continue;
        *line = (struct line){0};
        if (sscanf(text, "%31[a-z] | %31[^|] | %15[a-z] |%*[^|]|%*[^|]|%*[^|]| %511[^\n]", of, line->label, record,
                   arguments) != 4 ||
            !read_arguments(line, arguments)) {
            fprintf(stderr, "%s: a row is not as its head says: %s", ROWS_FILE, text);
            exit(3);
        }
        count += strcmp(of, group) == 0 && strcmp(record, "none") == 0;
        if (count == LINES_MAX)
            exit(3);
    }
    fclose(file);
    return count;
}

static struct error count_pending(void *self, const struct job_row *row)
{
    uint64_t *pending = self;
    *pending += row->state == END_PENDING;
    return ERROR_OK;
}

static void open_line(const struct line *line, const char *const more[2], struct scenario *scenario,
                      struct job_source **source)
{
    const char *sets[SETS_MAX + 2];
    size_t count = 0;
    for (size_t i = 0; i < SETS_MAX && line->sets[i] != NULL; i++)
        sets[count++] = line->sets[i];
    for (size_t i = 0; i < 2 && more[i] != NULL; i++)
        sets[count++] = more[i];
    struct scenario_options options = {.path = line->scenario, .sets = sets, .set_count = count};
    must(scenario_load(scenario, &options));
    must(scenario_open(scenario, source));
}

static struct figures run(const struct line *line, const char *const more[2], const char *folder)
{
    struct scenario scenario;
    struct job_source *source;
    struct engine_result result;
    struct figures figures = {0};
    open_line(line, more, &scenario, &source);
    struct metrics *metrics = metrics_new();
    struct record_sink sinks[3] = {metrics_sink(metrics), {.self = &figures.pending, .on_job = count_pending}};
    struct record_files *files = NULL;
    if (folder != NULL) {
        must(record_files_open(&files, folder, NULL));
        sinks[2] = record_files_sink(files);
    }
    struct engine_config config = {.cluster = scenario.cluster,
                                   .source = source,
                                   .policy = &scenario.policy,
                                   .world = scenario.world,
                                   .seed = scenario.seed,
                                   .sinks = sinks,
                                   .sink_count = folder != NULL ? 3 : 2};
    double start = now_s();
    must(engine_run(&config, &result));
    must(result.stall);
    metrics_finish(metrics);
    if (files != NULL)
        must(record_files_commit(&files));
    figures.seconds = now_s() - start;
    figures.jobs = result.submitted;
    figures.events = result.facts.events;
    figures.cycles = result.facts.cycles;
    figures.plans = result.plans;
    figures.evictions = result.evicted;
    metrics_free(metrics);
    job_source_close(source);
    scenario_release(&scenario);
    return figures;
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        exit(4);
}

/* In a child, so that its peak memory can be told. */
static struct figures measure(const struct line *line, uint64_t jobs, const char *more, bool has_files)
{
    int ends[2];
    char set[64], folder[] = "/tmp/windtunnel-bench-XXXXXX";
    struct figures figures = {0};
    struct rusage usage;
    int status;
    snprintf(set, sizeof set, "workload.synth.jobs=%llu", (unsigned long long)jobs);
    if (pipe(ends) != 0 || (has_files && mkdtemp(folder) == NULL))
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        figures = run(line, (const char *const[2]){set, more}, has_files ? folder : NULL);
        _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 4);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &figures, sizeof figures);
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0 || got != sizeof figures)
        exit(5);
    figures.peak_mb = usage.ru_maxrss / 1024;
    if (has_files)
        remove_folder(folder);
    return figures;
}

static double rate_k(uint64_t count, double seconds)
{
    return (double)count / seconds / 1e3;
}

static int by_seconds(const void *a, const void *b)
{
    const struct figures *one = a, *other = b;
    return (one->seconds > other->seconds) - (one->seconds < other->seconds);
}

static void row(const struct line *line, uint64_t jobs, uint64_t runs_max, bool has_files)
{
    struct figures all[RUNS_MAX];
    uint64_t runs = 0;
    for (double seconds = 0; runs < runs_max && seconds < SECONDS_ENOUGH; runs++) {
        all[runs] = measure(line, jobs, NULL, has_files);
        seconds += all[runs].seconds;
    }
    qsort(all, runs, sizeof *all, by_seconds);
    const struct figures *f = &all[runs / 2];
    char range[32];
    snprintf(range, sizeof range, "%.0f..%.0f", rate_k(f->jobs, all[runs - 1].seconds),
             rate_k(f->jobs, all[0].seconds));
    printf("%-28s %9llu %-6s %4llu %8.1f %11s %10.1f %10llu %9llu %9llu %8ld\n", line->label,
           (unsigned long long)f->jobs, has_files ? "files" : "none", (unsigned long long)runs,
           rate_k(f->jobs, f->seconds), range, rate_k(f->events, f->seconds), (unsigned long long)f->cycles,
           (unsigned long long)f->plans, (unsigned long long)f->evictions, f->peak_mb);
    fflush(stdout);
}

static void table(const char *title, const char *group, uint64_t most)
{
    const size_t count = read_rows(group);
    printf("%-28s %9s %-6s %4s %8s %11s %10s %10s %9s %9s %8s\n", title, "jobs", "record", "runs", "k jobs/s",
           "of all runs", "k events/s", "cycles", "plans", "evictions", "peak MB");
    for (size_t i = 0; i < count; i++)
        for (uint64_t jobs = most < 100000 ? most : 100000; jobs <= most; jobs *= 10)
            for (int has_files = 0; has_files < 2; has_files++)
                row(&lines[i], jobs, most / jobs, has_files != 0);
    printf("\n");
}

/* Up to a time when all are there and nearly none has ended; then the same again to the end: what that takes longer is
 * the drain. */
static void bursts(uint64_t waiting)
{
    enum { RUNNING_ABOUT = 1500 };
    printf("%-28s %9s %-6s %8s %10s %10s %9s %9s %8s\n", "A burst, then no more", "waiting", "record", "k subm/s",
           "k drain/s", "cycles", "plans", "evictions", "peak MB");
    const size_t count = read_rows("burst");
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[i];
        struct figures come = measure(line, waiting + RUNNING_ABOUT, "world.end=300", false);
        struct figures all = measure(line, waiting + RUNNING_ABOUT, NULL, false);
        printf("%-28s %9llu %-6s %8.1f %10.1f %10llu %9llu %9llu %8ld\n", line->label, (unsigned long long)come.pending,
               "none", rate_k(come.jobs, come.seconds), rate_k(come.pending, all.seconds - come.seconds),
               (unsigned long long)all.cycles, (unsigned long long)all.plans, (unsigned long long)all.evictions,
               all.peak_mb);
        fflush(stdout);
    }
}

int main(void)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    bool is_small = size != NULL && strcmp(size, "small") == 0;
    table("fifo, best fit, 4,000 GPUs", "fifo", is_small ? 100000 : 10000000);
    table("windtunnel, 200 projects", "windtunnel", is_small ? 10000 : 1000000);
    bursts(is_small ? 10000 : 100000);
    return 0;
}
