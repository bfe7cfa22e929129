/* windtunnel compare: the same jobs and the same chance on several sides, and the verdict of gates. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/input.h"
#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/comparison_show/comparison_folder.h"
#include "studies/run/kept_runs.h"
#include "tools/compare_sides.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

enum {
    WORKERS_MAX = 1024,
    GATES_BYTES_MAX = 16 << 20,
    STATUS_FAILED = 10,
    STATUS_OPEN = 11, /* inconclusive or incomplete */
};

/* A signal, or COMPARISON_TIME_IS_UP; 0: go on. */
static volatile sig_atomic_t stopped_by;

/* The first signal ends the comparison with what is done, the second ends the program. */
static void on_signal(int number)
{
    stopped_by = number;
    signal(number, SIG_DFL);
}

static void on_time(int number)
{
    (void)number;
    if (stopped_by == 0)
        stopped_by = COMPARISON_TIME_IS_UP;
}

static time_ns real_time(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * TIME_NS_PER_S + now.tv_nsec;
}

struct compare {
    const struct args *args;
    struct compare_sides sides;
    struct comparison_options options;
    struct comparison_show show;
    enum comparison_format format;
    struct gates gates;
    struct comparison_folder folder; /* of --out */
    struct verdicts verdicts;        /* of --assumptions */
    struct progress_line progress;
    time_ns time; /* of --time; 0: not given */
    struct buffer command;
    struct arena arena;
};

/* ---- other options ---- */

static struct error read_seeds(struct compare *compare)
{
    const char *value = args_string(compare->args, "seeds");
    int64_t count;
    const size_t of_gates = compare->options.gates != NULL ? compare->options.gates->seed_count : 0;
    compare->options.is_sequential = value == NULL ? of_gates == 0 : strcmp(value, "auto") == 0;
    TRY(args_int64(compare->args, "seeds-max", 1, COMPARISON_SEEDS_MAX, COMPARISON_SEEDS_SEQUENTIAL, &count));
    compare->options.seed_count = value == NULL && of_gates > 0 ? of_gates : (size_t)count;
    if (compare->options.is_sequential || value == NULL)
        return ERROR_OK;
    if (args_string(compare->args, "seeds-max") != NULL)
        return error_new(ERROR_USAGE,
                         "'--seeds %s' runs just so many; '--seeds-max' bounds the looks of '--seeds auto'", value);
    if (!text_to_int64(text_of(value), 1, COMPARISON_SEEDS_MAX, &count))
        return error_new(ERROR_USAGE, "'--seeds' must be 'auto' or an integer from 1 to %d, got '%s'",
                         COMPARISON_SEEDS_MAX, value);
    compare->options.seed_count = (size_t)count;
    return ERROR_OK;
}

static struct error read_format(const char *value, enum comparison_format *out)
{
    for (size_t f = 0; comparison_format_names[f] != NULL; f++)
        if (strcmp(value, comparison_format_names[f]) == 0) {
            *out = (enum comparison_format)f;
            return ERROR_OK;
        }
    return error_new(ERROR_USAGE, "the format must be text, markdown, json, junit or github, got '%s'", value);
}

static struct error read_gates(struct compare *compare)
{
    const char *path = args_string(compare->args, "gates");
    char *bytes;
    size_t length;
    if (compare->sides.is_change)
        compare->options.gates = &compare->sides.proposal.gates;
    if (path == NULL || compare->sides.is_change)
        return ERROR_OK;
    TRY(input_read_all(path, GATES_BYTES_MAX, &bytes, &length));
    struct error error = gates_of_file(path, (struct text){bytes, length}, &compare->arena, &compare->gates);
    mem_free(bytes);
    compare->options.gates = &compare->gates;
    return error;
}

static struct error read_metric(struct compare *compare)
{
    const char *name = args_string(compare->args, "by");
    compare->show.winner_metric = name != NULL ? name : "queue_time_p95_s";
    if (name == NULL || metric_find(name) != NULL)
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "there is no metric '%s'", name);
    error_set_hint(&error, "`windtunnel metrics` lists them");
    return error;
}

static void show_progress(void *self, size_t done, size_t total)
{
    progress_line_show_runs(self, done, total);
}

static struct error open_folder(struct compare *compare)
{
    const char *path = args_string(compare->args, "out");
    if (path == NULL)
        return ERROR_OK;
    TRY(comparison_folder_open(&compare->folder, path, compare->sides.list, compare->sides.count));
    compare->options.records = compare->folder.records;
    return ERROR_OK;
}

/* As for `windtunnel run`: while inputs are read, a signal ends the program at once. */
static struct error begin(void *self)
{
    const struct compare *compare = self;
    const struct itimerval timer = {.it_value = {.tv_sec = compare->time / TIME_NS_PER_S,
                                                 .tv_usec = compare->time % TIME_NS_PER_S / TIME_NS_PER_US}};
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGALRM, on_time);
    if (compare->time > 0)
        setitimer(ITIMER_REAL, &timer, NULL);
    return open_folder(self);
}

/* What was typed, but for what it writes, where, and on how many cores: the same verdict is had with it again. */
static void write_command(struct compare *compare)
{
    static const char *const dropped[] = {"--format", "-f", "--write", "--out", "-o", "--jobs", "-j", NULL};
    buffer_string(&compare->command, "windtunnel");
    for (char *const *word = tool_arguments(); word != NULL && *word != NULL; word++) {
        bool is_dropped = strcmp(*word, "--quiet") == 0 || strcmp(*word, "-q") == 0, has_next = false;
        for (const char *const *name = dropped; *name != NULL && !is_dropped; name++) {
            const size_t length = strlen(*name);
            const bool is_long = (*name)[1] == '-';
            has_next = strcmp(*word, *name) == 0;
            is_dropped = has_next || (strncmp(*word, *name, length) == 0 && (!is_long || (*word)[length] == '='));
        }
        word += has_next && word[1] != NULL;
        if (is_dropped)
            continue;
        buffer_char(&compare->command, ' ');
        buffer_shell(&compare->command, text_of(*word));
    }
}

static struct error read_time(struct compare *compare)
{
    const char *value = args_string(compare->args, "time");
    if (value == NULL || (time_parse_duration(text_of(value), &compare->time) && compare->time >= TIME_NS_PER_S))
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "'--time' must be a duration of at least a second, got '%s'", value);
    error_set_hint(&error, "a number of seconds, or one with a unit: 90s, 10m, 2h");
    return error;
}

static struct error read_alpha(struct compare *compare)
{
    const char *value = args_string(compare->args, "alpha");
    double *alpha = &compare->options.alpha;
    if (compare->options.gates != NULL && compare->options.gates->alpha > 0)
        *alpha = compare->options.gates->alpha;
    if (value == NULL ||
        (text_to_double(text_of(value), alpha) && *alpha >= GATES_ALPHA_MIN && *alpha <= GATES_ALPHA_MAX))
        return ERROR_OK;
    return error_new(ERROR_USAGE, "'--alpha' must be a number from 0.000001 to 0.5, got '%s'", value);
}

/* All sides go on from a moment of the record that stands in place of the scenario. */
static struct error read_fork(struct compare *compare)
{
    static const char *const others[] = {"seed",  "seeds",    "trace",      "cluster",      "blocks",
                                         "shake", "baseline", "rerun-base", "save-baseline"};
    const char *at = args_string(compare->args, "fork-at");
    if (at == NULL)
        return ERROR_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_string(compare->args, others[i]) != NULL)
            return error_new(ERROR_USAGE, "'--%s' cannot be used with --fork-at: all sides go on from one run",
                             others[i]);
    compare->options.fork = args_string(compare->args, "scenario");
    compare->options.finds_first = false;
    if (compare->options.fork == NULL)
        return error_new(ERROR_USAGE, "'--fork-at' needs the folder of a record: name it with --scenario");
    return tool_fork_at(at, &compare->options.fork_at);
}

static struct error read_options(struct compare *compare)
{
    const struct args *args = compare->args;
    const char *format = args_string(args, "format");
    const char *scratch = getenv("TMPDIR");
    int64_t workers;
    compare->options = (struct comparison_options){.version = WINDTUNNEL_VERSION,
                                                   .sides = compare->sides.list,
                                                   .alpha = 0.05,
                                                   .finds_first = !args_flag(args, "no-why"),
                                                   .scratch = scratch != NULL ? scratch : "/tmp",
                                                   .stop = &stopped_by,
                                                   .clock = real_time,
                                                   .on_begin = begin,
                                                   .begin_self = compare,
                                                   .on_progress = show_progress,
                                                   .progress_self = &compare->progress};
    if (format != NULL)
        TRY(read_format(format, &compare->format));
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), &workers));
    compare->options.worker_count = (size_t)workers;
    compare->options.kept = args_string(args, "keep");
    if (compare->options.kept != NULL)
        TRY(kept_runs_open(compare->options.kept));
    compare->show.is_all = args_flag(args, "all");
    compare->options.is_unshaken = args_flag(args, "exact");
    TRY(read_metric(compare));
    TRY(read_time(compare));
    TRY(read_fork(compare));
    TRY(compare_sides_read(&compare->sides, args));
    TRY(read_gates(compare));
    TRY(read_seeds(compare));
    TRY(read_alpha(compare));
    write_command(compare);
    compare->options.command = buffer_c_string(&compare->command);
    compare->options.proposal = compare->sides.is_change ? &compare->sides.proposal : NULL;
    compare->options.side_count = compare->sides.count;
    return ERROR_OK;
}

/* ---- results ---- */

/* "junit=report.xml" */
static struct error write_file(const struct compare *compare, const struct comparison *comparison, const char *value)
{
    const char *equals = strchr(value, '=');
    enum comparison_format format = COMPARISON_TEXT;
    struct output *output;
    struct buffer name = {0};
    if (equals == NULL || equals[1] == '\0')
        return error_new(ERROR_USAGE, "'--write' wants FORMAT=FILE, got '%s'", value);
    buffer_bytes(&name, value, (size_t)(equals - value));
    struct error error = read_format(buffer_c_string(&name), &format);
    buffer_release(&name);
    TRY(error);
    if (comparison == NULL)
        return ERROR_OK; /* only checked */
    TRY(output_open(&output, equals + 1, OUTPUT_PLAIN));
    comparison_write(comparison, format, &compare->show, output_buffer(output));
    return output_commit(&output);
}

/* comparison NULL: check the values of --write. */
static struct error write_files(const struct compare *compare, const struct comparison *comparison)
{
    size_t count;
    const char *const *values = args_list(compare->args, "write", &count);
    for (size_t i = 0; i < count; i++)
        TRY(write_file(compare, comparison, values[i]));
    return ERROR_OK;
}

/* The last side. */
static struct error save_baseline(const struct compare *compare, const struct comparison *comparison)
{
    const char *path = args_string(compare->args, "save-baseline");
    const size_t side = comparison->side_count - 1;
    if (path == NULL)
        return ERROR_OK;
    if (!comparison_is_complete(comparison))
        return error_new(ERROR_DATA, "%s is not written: not all runs succeeded", path);
    return baseline_save(path, comparison, side);
}

static void print_failure(const struct comparison_run *run, const char *side, const char *what)
{
    if (run->state != COMPARISON_RUN_FAILED)
        return;
    tool_say("error: the %s of '%s' with seed %llu failed: %s\n", what, side, (unsigned long long)run->seed,
             run->failure);
    struct text rest = text_of(run->said), line;
    while (rest.length > 0 && text_cut(&rest, '\n', &line))
        tool_say("  | %.*s\n", (int)line.length, line.at);
}

static void print_failures(const struct comparison *comparison)
{
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        for (size_t side = 0; side < comparison->side_count; side++)
            print_failure(&comparison->sides[side].runs[seed], comparison->sides[side].name, "run");
    for (size_t side = 0; side < comparison->side_count; side++)
        print_failure(&comparison->sides[side].replay, comparison->sides[side].name, "replay as it is");
    for (size_t i = 0; i < comparison->warning_count; i++)
        tool_say("warning: %s\n", comparison->warnings[i]);
}

static int verdict_status(const struct comparison *comparison)
{
    const enum gate_state state = comparison_state(comparison);
    if (state == GATE_FAILED)
        return STATUS_FAILED;
    return state == GATE_PASSED && comparison_is_complete(comparison) ? 0 : STATUS_OPEN;
}

/* After a signal there is a page if there is something to compare. */
static struct error write_page(struct compare *compare, const struct comparison *comparison)
{
    bool has_pairs = !comparison->is_partial;
    if (args_string(compare->args, "out") != NULL && comparison->is_same)
        tool_say("no page in %s: nothing differs between the sides\n", args_string(compare->args, "out"));
    if (compare->folder.path == NULL)
        return ERROR_OK;
    for (size_t side = 1; side < comparison->side_count; side++)
        has_pairs = has_pairs || comparison_pair_count(comparison, side) > 0;
    if (!has_pairs) {
        tool_say("no page in %s: no two runs are done\n", compare->folder.path);
        return ERROR_OK;
    }
    TRY(comparison_folder_commit(&compare->folder, comparison, &compare->show));
    if (!args_flag(compare->args, "quiet"))
        tool_say("page in %s/report.html\n", compare->folder.path);
    return ERROR_OK;
}

static int report(struct compare *compare, const struct comparison *comparison)
{
    struct buffer out = {0};
    print_failures(comparison);
    comparison_write(comparison, compare->format, &compare->show, &out);
    int status = tool_print(&out);
    struct error error = write_page(compare, comparison);
    if (!error_is(error))
        error = write_files(compare, comparison);
    if (!error_is(error))
        error = save_baseline(compare, comparison);
    if (error_is(error))
        status = tool_fail(&error);
    return status != 0 ? status : verdict_status(comparison);
}

static struct error run_all(struct compare *compare, struct comparison *comparison)
{
    TRY(write_files(compare, NULL));
    TRY(read_options(compare));
    if (args_flag(compare->args, "assumptions"))
        TRY(verdicts_check(&compare->options));
    TRY(comparison_run(comparison, &compare->options));
    if (!args_flag(compare->args, "assumptions"))
        return ERROR_OK;
    compare->show.verdicts = &compare->verdicts;
    return verdicts_run(&compare->verdicts, comparison, compare->show.winner_metric);
}

int verb_compare(const struct args *args)
{
    struct compare compare = {.args = args};
    struct comparison comparison = {0};
    progress_line_begin(&compare.progress, !args_flag(args, "quiet"));
    struct error error = run_all(&compare, &comparison);
    progress_line_end(&compare.progress);
    int status = error_is(error) ? tool_fail(&error) : report(&compare, &comparison);
    verdicts_release(&compare.verdicts);
    comparison_release(&comparison);
    comparison_folder_release(&compare.folder);
    compare_sides_release(&compare.sides);
    buffer_release(&compare.command);
    arena_release(&compare.arena);
    if (stopped_by != 0 && stopped_by != COMPARISON_TIME_IS_UP) {
        signal(stopped_by, SIG_DFL);
        raise(stopped_by);
    }
    return status;
}
