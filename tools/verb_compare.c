/* windtunnel compare: the same jobs and the same chance on several sides, and the verdict of gates. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/baseline.h"
#include "studies/comparison_show.h"
#include "studies/divergence.h"
#include "tools/installed.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

enum {
    WORKERS_MAX = 1024,
    GATES_BYTES_MAX = 16 << 20,
    STATUS_FAILED = 10,
    STATUS_OPEN = 11, /* inconclusive or incomplete */
};

static volatile sig_atomic_t caught_signal;

/* The first signal ends the comparison with what is done, the second ends the program. */
static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

struct compare {
    const struct args *args;
    struct comparison_side_options sides[COMPARISON_SIDES_MAX];
    size_t side_count;
    struct comparison_options options;
    struct comparison_show show;
    enum comparison_format format;
    struct baseline baseline;
    struct gates gates;
    const char **sets; /* of all sides: --shake, then --set */
    size_t set_count;
    struct progress_line progress;
    struct arena arena;
};

/* ---- sides ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* Split "new=mine.json" into a name and a path; without a name, or if a file has that whole name, *name is NULL. */
static void split_name(struct compare *compare, const char *operand, const char **name, const char **path)
{
    const char *equals = strchr(operand, '='), *slash = strchr(operand, '/');
    *name = NULL;
    *path = operand;
    if (equals == NULL || equals == operand || (slash != NULL && slash < equals) || exists(operand))
        return;
    *name = arena_copy(&compare->arena, (struct text){operand, (size_t)(equals - operand)});
    *path = equals + 1;
}

/* "out/fifo/" -> "fifo", "scenarios/main.json" -> "main" */
static const char *base_name(struct compare *compare, const char *path)
{
    const struct text end = TEXT(".json");
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (length - start > end.length && memcmp(path + length - end.length, end.at, end.length) == 0)
        length -= end.length;
    return arena_copy(&compare->arena, (struct text){path + start, length - start});
}

static struct comparison_side_options *find_side(struct compare *compare, struct text name)
{
    for (size_t i = 0; i < compare->side_count; i++)
        if (text_is(name, compare->sides[i].name))
            return &compare->sides[i];
    return NULL;
}

/* name NULL: made from the path; another number is put behind it until it is new. */
static struct error add_side(struct compare *compare, const char *name, const char *path,
                             const struct comparison_side_options *options)
{
    if (compare->side_count == COMPARISON_SIDES_MAX)
        return error_new(ERROR_USAGE, "there may be at most %d sides", COMPARISON_SIDES_MAX);
    if (name != NULL && find_side(compare, text_of(name)) != NULL)
        return error_new(ERROR_USAGE, "two sides have the name '%s'", name);
    const char *wanted = name != NULL ? name : base_name(compare, path);
    const char *unique = wanted;
    for (int number = 2; find_side(compare, text_of(unique)) != NULL; number++) {
        struct buffer text = {0};
        buffer_format(&text, "%s-%d", wanted, number);
        unique = arena_copy(&compare->arena, (struct text){text.bytes, text.length});
        buffer_release(&text);
    }
    struct comparison_side_options *side = &compare->sides[compare->side_count++];
    *side = *options;
    side->name = unique;
    return ERROR_OK;
}

/* "5m,0.1": arrivals move by up to 5 minutes, run times by sigma 0.1. */
static struct error shake_assignment(struct compare *compare, const char *value, const char **out)
{
    struct text rest = text_of(value), arrivals, sigma = TEXT("0");
    double number;
    time_ns time;
    struct buffer text = {0};
    text_cut(&rest, ',', &arrivals);
    if (rest.at != NULL)
        sigma = rest;
    if (!text_to_double(sigma, &number) || !time_parse_duration(arrivals, &time))
        return error_new(ERROR_USAGE, "'--shake' wants ARRIVALS or ARRIVALS,SIGMA such as 5m,0.1, got '%s'", value);
    buffer_string(&text, "workload.shake={\"arrivals_s\": ");
    buffer_double(&text, time_to_seconds(time));
    buffer_string(&text, ", \"run_time_sigma\": ");
    buffer_double(&text, number);
    buffer_char(&text, '}');
    *out = arena_copy(&compare->arena, (struct text){text.bytes, text.length});
    buffer_release(&text);
    return ERROR_OK;
}

static struct error find_sets(struct compare *compare)
{
    size_t count;
    const char *shake = args_string(compare->args, "shake");
    const char *const *sets = args_list(compare->args, "set", &count);
    compare->sets = arena_alloc_array(&compare->arena, count + 1, const char *);
    if (shake != NULL)
        TRY(shake_assignment(compare, shake, &compare->sets[compare->set_count++]));
    for (size_t i = 0; i < count; i++)
        compare->sets[compare->set_count++] = sets[i];
    return ERROR_OK;
}

/* What all sides that are run have in common. */
static struct scenario_options shared_options(const struct compare *compare, const char *path)
{
    const struct args *args = compare->args;
    struct scenario_options options = {.path = installed_find(path, "scenarios"),
                                       .trace = installed_find(args_string(args, "trace"), "workloads/samples"),
                                       .cluster = installed_find(args_string(args, "cluster"), "topologies"),
                                       .seed = args_string(args, "seed"),
                                       .plugins = tool_plugin_options(args),
                                       .sets = compare->sets,
                                       .set_count = compare->set_count};
    return options;
}

static struct error add_operands(struct compare *compare)
{
    for (size_t i = 0; i < args_operand_count(compare->args); i++) {
        struct comparison_side_options side = {0};
        const char *name, *path;
        split_name(compare, args_operand(compare->args, i), &name, &path);
        if (strcmp(path, "-") == 0)
            return error_new(ERROR_USAGE, "a side is read once for each seed, so it cannot be standard input");
        if (is_folder(path))
            side.record = path;
        else
            side.scenario = shared_options(compare, path);
        TRY(add_side(compare, name, path, &side));
    }
    return ERROR_OK;
}

static struct error add_policies(struct compare *compare, const char *scenario)
{
    size_t count;
    const char *const *policies = args_list(compare->args, "policy", &count);
    for (size_t i = 0; i < count; i++) {
        const char *name, *policy;
        struct comparison_side_options side = {.scenario = shared_options(compare, scenario)};
        split_name(compare, policies[i], &name, &policy);
        side.scenario.policy = policy;
        TRY(add_side(compare, name, policy, &side));
    }
    return ERROR_OK;
}

/* Append an override to those of the side. */
static void add_set(struct compare *compare, struct comparison_side_options *side, const char *assignment)
{
    const size_t count = side->scenario.set_count;
    const char **sets = arena_alloc_array(&compare->arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        sets[i] = side->scenario.sets[i];
    sets[count] = assignment;
    side->scenario.sets = sets;
    side->scenario.set_count = count + 1;
}

static struct error no_such_side(const struct compare *compare, struct text name)
{
    const char *names[COMPARISON_SIDES_MAX + 1] = {NULL};
    struct buffer list = {0};
    struct error error =
        error_new(ERROR_USAGE, "'--side' names the side '%.*s', which is not there", (int)name.length, name.at);
    for (size_t i = 0; i < compare->side_count; i++) {
        names[i] = compare->sides[i].name;
        buffer_format(&list, "%s'%s'", i == 0 ? "" : ", ", names[i]);
    }
    const char *near = text_nearest(name, names);
    if (near != NULL)
        error_set_hint(&error, "did you mean '%s'?", near);
    else
        error_set_hint(&error, "the sides are %s", buffer_c_string(&list));
    buffer_release(&list);
    return error;
}

/* --side NAME or --side NAME:PATH=VALUE; may_add: a new name is a new side of the scenario. */
static struct error apply_side(struct compare *compare, const char *value, const char *scenario, bool may_add)
{
    const char *colon = strchr(value, ':');
    const struct text name = {value, colon != NULL ? (size_t)(colon - value) : strlen(value)};
    struct comparison_side_options *side = find_side(compare, name);
    if (name.length == 0 || memchr(name.at, '=', name.length) != NULL)
        return error_new(ERROR_USAGE, "'--side' wants NAME or NAME:PATH=VALUE, got '%s'", value);
    if (side == NULL && !may_add)
        return no_such_side(compare, name);
    if (side == NULL) {
        struct comparison_side_options options = {.scenario = shared_options(compare, scenario)};
        TRY(add_side(compare, arena_copy(&compare->arena, name), scenario, &options));
        side = &compare->sides[compare->side_count - 1];
    }
    if (side->record != NULL || side->baseline != NULL)
        return error_new(ERROR_USAGE, "'%s' has been run: nothing of it can be set", side->name);
    if (colon != NULL)
        add_set(compare, side, colon + 1);
    return ERROR_OK;
}

static struct error check_records(const struct compare *compare)
{
    static const char *const names[] = {"set", "shake", "trace", "cluster", "seed", "plugin"};
    bool has_scenario = false;
    for (size_t i = 0; i < compare->side_count; i++)
        has_scenario = has_scenario || (compare->sides[i].record == NULL && compare->sides[i].baseline == NULL);
    for (size_t n = 0; n < sizeof names / sizeof *names && !has_scenario; n++)
        if (args_string(compare->args, names[n]) != NULL)
            return error_new(ERROR_USAGE, "'--%s' is for scenarios, and all sides are records", names[n]);
    return ERROR_OK;
}

static struct error find_sides(struct compare *compare)
{
    size_t policy_count, value_count;
    const char *scenario = args_string(compare->args, "scenario"), *baseline = args_string(compare->args, "baseline");
    const char *const *values = args_list(compare->args, "side", &value_count);
    args_list(compare->args, "policy", &policy_count);
    if (scenario == NULL && policy_count > 0)
        return error_new(ERROR_USAGE, "'--policy' makes a side of one scenario: name it with --scenario");
    if (scenario != NULL && args_operand_count(compare->args) > 0)
        return error_new(ERROR_USAGE, "the sides are either operands or those of --scenario, not both");
    if (baseline != NULL) {
        TRY(baseline_read(&compare->baseline, baseline));
        TRY(add_side(compare, "baseline", baseline, &(struct comparison_side_options){.baseline = &compare->baseline}));
    }
    TRY(add_operands(compare));
    TRY(add_policies(compare, scenario));
    for (size_t i = 0; i < value_count; i++)
        TRY(apply_side(compare, values[i], scenario, scenario != NULL && policy_count == 0));
    if (scenario != NULL && policy_count == 0 && value_count == 0)
        TRY(add_side(compare, NULL, scenario,
                     &(struct comparison_side_options){.scenario = shared_options(compare, scenario)}));
    const size_t least = args_string(compare->args, "save-baseline") != NULL ? 1 : 2;
    if (compare->side_count < least) {
        struct error error = error_new(ERROR_USAGE, "a comparison needs two sides, and there %s",
                                       compare->side_count == 0 ? "is none" : "is one");
        error_set_hint(&error,
                       "name two scenarios or record folders, or one with --scenario and --policy P --policy Q");
        return error;
    }
    return check_records(compare);
}

/* ---- other options ---- */

static struct error read_seeds(struct compare *compare)
{
    const char *value = args_string(compare->args, "seeds");
    int64_t count;
    compare->options.is_sequential = value == NULL || strcmp(value, "auto") == 0;
    compare->options.seed_count = COMPARISON_SEEDS_SEQUENTIAL;
    if (compare->options.is_sequential)
        return ERROR_OK;
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
    if (path == NULL)
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

/* --why runs both sides again and adds to the text. */
static struct error check_why(const struct compare *compare)
{
    if (!args_flag(compare->args, "why"))
        return ERROR_OK;
    if (compare->format != COMPARISON_TEXT)
        return error_new(ERROR_USAGE, "'--why' adds to the text: leave out '--format'");
    for (size_t s = 0; s < compare->side_count; s++)
        if (compare->sides[s].record != NULL || compare->sides[s].baseline != NULL)
            return error_new(ERROR_USAGE, "'--why' runs both sides again: '%s' is not a scenario",
                             compare->sides[s].name);
    return ERROR_OK;
}

static struct error read_options(struct compare *compare)
{
    const struct args *args = compare->args;
    const char *alpha = args_string(args, "alpha"), *format = args_string(args, "format");
    int64_t workers;
    compare->options = (struct comparison_options){.version = WINDTUNNEL_VERSION,
                                                   .sides = compare->sides,
                                                   .alpha = 0.05,
                                                   .stop = &caught_signal,
                                                   .on_progress = show_progress,
                                                   .progress_self = &compare->progress};
    if (alpha != NULL && (!text_to_double(text_of(alpha), &compare->options.alpha) ||
                          !(compare->options.alpha >= 1e-6 && compare->options.alpha <= 0.5)))
        return error_new(ERROR_USAGE, "'--alpha' must be a number from 0.000001 to 0.5, got '%s'", alpha);
    if (format != NULL)
        TRY(read_format(format, &compare->format));
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), &workers));
    compare->options.worker_count = (size_t)workers;
    compare->show.is_all = args_flag(args, "all");
    TRY(read_metric(compare));
    TRY(read_seeds(compare));
    TRY(read_gates(compare));
    TRY(find_sets(compare));
    TRY(find_sides(compare));
    compare->options.side_count = compare->side_count;
    return check_why(compare);
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

static void print_failures(const struct comparison *comparison)
{
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        for (size_t side = 0; side < comparison->side_count; side++) {
            const struct comparison_run *run = &comparison->sides[side].runs[seed];
            if (run->state != COMPARISON_RUN_FAILED)
                continue;
            fprintf(stderr, "error: the run of '%s' with seed %llu failed: %s\n", comparison->sides[side].name,
                    (unsigned long long)run->seed, run->failure);
            struct text rest = text_of(run->said), line;
            while (rest.length > 0 && text_cut(&rest, '\n', &line))
                fprintf(stderr, "  | %.*s\n", (int)line.length, line.at);
        }
    for (size_t i = 0; i < comparison->warning_count; i++)
        fprintf(stderr, "warning: %s\n", comparison->warnings[i]);
}

static int verdict_status(const struct comparison *comparison)
{
    const enum gate_state state = comparison_state(comparison);
    if (state == GATE_FAILED)
        return STATUS_FAILED;
    return state == GATE_PASSED && comparison_is_complete(comparison) ? 0 : STATUS_OPEN;
}

/* Append the first decision in which each candidate differs from the base, with the first seed. */
static struct error tell_first_decisions(const struct compare *compare, const struct comparison *comparison,
                                         struct buffer *out)
{
    const struct divergence_options options = {.stop = &caught_signal};
    const struct comparison_side_options *sides = compare->sides;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)comparison->sides[0].runs[0].seed);
    for (size_t s = 1; s < compare->side_count && caught_signal == 0; s++) {
        struct divergence divergence;
        struct scenario_options base = sides[0].scenario, candidate = sides[s].scenario;
        base.seed = candidate.seed = seed;
        TRY(divergence_find(&base, &candidate, &options, &divergence));
        buffer_format(out, "\nThe first decision in which %s and %s differ, with seed %s:\n", sides[0].name,
                      sides[s].name, seed);
        divergence_text(&divergence, sides[0].name, sides[s].name, out);
        divergence_release(&divergence);
    }
    return ERROR_OK;
}

static int report(const struct compare *compare, const struct comparison *comparison)
{
    struct buffer out = {0};
    struct error why = ERROR_OK;
    print_failures(comparison);
    comparison_write(comparison, compare->format, &compare->show, &out);
    if (args_flag(compare->args, "why") && comparison->seed_count > 0)
        why = tell_first_decisions(compare, comparison, &out);
    if (error_is(why)) {
        buffer_release(&out);
        return tool_fail(&why);
    }
    int status = tool_print(&out);
    struct error error = write_files(compare, comparison);
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
    return comparison_run(comparison, &compare->options);
}

static int run_verb(const struct args *args)
{
    struct compare compare = {.args = args};
    struct comparison comparison = {0};
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    progress_line_begin(&compare.progress, !args_flag(args, "quiet"));
    struct error error = run_all(&compare, &comparison);
    progress_line_end(&compare.progress);
    int status = error_is(error) ? tool_fail(&error) : report(&compare, &comparison);
    comparison_release(&comparison);
    baseline_release(&compare.baseline);
    arena_release(&compare.arena);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}

static const struct args_option options[] = {
    {.name = "scenario",
     .metavar = "SCENARIO",
     .help = "One scenario for all sides, which differ by --policy or --side."},
    {.name = "policy",
     .letter = 'p',
     .metavar = "[NAME=]PRESET|FILE",
     .help = "A side of --scenario with this policy: a preset's name, or a file if it holds '/' or ends in .json.",
     .is_repeatable = true},
    {.name = "side",
     .metavar = "NAME[:PATH=VALUE]",
     .help = "Override a field on the side NAME alone. With --scenario and no --policy, a new NAME is a new side.",
     .is_repeatable = true},
    {.name = "set",
     .metavar = "PATH=VALUE",
     .help = "Override a field of the scenario on all sides, as for 'windtunnel run'.",
     .is_repeatable = true},
    {.name = "trace",
     .letter = 't',
     .metavar = "FILE",
     .help = "Replay this trace in place of the scenario's workload, on all sides."},
    {.name = "shake",
     .metavar = "ARRIVALS[,SIGMA]",
     .help = "Give a replayed trace seeds: its jobs come up to ARRIVALS earlier or later (5m), and run times get a "
             "lognormal factor of mean 1 and this SIGMA. Sets workload.shake on all sides."},
    {.name = "cluster", .letter = 'c', .metavar = "FILE", .help = "The cluster of all sides."},
    {.name = "seed", .letter = 's', .metavar = "N", .help = "The first seed; by default that of the base's scenario."},
    {.name = "seeds",
     .metavar = "N|auto",
     .help = "The number of seeds: each side runs with each of them. auto, the default: with gates 5, then 10, 20 and "
             "40 as long as a gate is inconclusive; without gates 5."},
    {.name = "jobs", .letter = 'j', .metavar = "N", .help = "Runs at the same time; by default one for each core."},
    PLUGIN_OPTIONS,
    {.name = "gates", .metavar = "FILE", .help = "Gates, in place of those of the scenarios (docs/compare.md)."},
    {.name = "alpha",
     .metavar = "P",
     .help = "The probability that any verdict of the gates is wrong, and 1 - the level of the intervals; 0.05."},
    {.name = "baseline",
     .metavar = "FILE",
     .help = "The base is what --save-baseline kept; its scenario must be that of the other sides but for the policy."},
    {.name = "save-baseline",
     .metavar = "FILE",
     .help = "Keep the values of the last side by seed, for --baseline. Then one side is enough."},
    {.name = "format", .letter = 'f', .metavar = "NAME", .help = "text, markdown, json, junit or github; text."},
    {.name = "write",
     .metavar = "FORMAT=FILE",
     .help = "Write another format to a file as well.",
     .is_repeatable = true},
    {.name = "all", .letter = 'a', .help = "List all metrics of the whole run and of all cuts."},
    {.name = "why",
     .help =
         "Tell the first decision in which each side differs from the base, with the first seed, and why. Runs both "
         "sides twice more."},
    {.name = "by",
     .metavar = "METRIC",
     .help = "The metric by which classes, queues and sizes win and lose; queue_time_p95_s."},
    {.name = "quiet", .letter = 'q', .help = "No progress."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel compare --scenario h100-500x8 --policy fifo --policy windtunnel",
     "Two policies on the main scenario, with 5 seeds."},
    {"windtunnel compare --scenario h100-500x8 --side now --side grace60:policy.preemption.grace_s=60",
     "One change to one policy."},
    {"windtunnel compare old.json new=mine.json --gates gates.json --write junit=gates.xml",
     "Two scenarios, judged by gates, with a report for CI."},
    {"windtunnel compare --scenario h100-500x8 --policy fifo --policy easy --why",
     "Where the two policies part, and the reason that each gives."},
    {"windtunnel compare out/fifo out/windtunnel", "Two records."},
    {0},
};

const struct args_verb verb_compare = {
    .name = "compare",
    .summary = "run several sides on the same jobs, and judge the differences",
    .synopsis = "[[NAME=]SCENARIO|RECORD]... [OPTION]...",
    .description =
        (const char *const[]){
            "Runs each side with the same seeds, so that all sides get the same jobs and the same chance, and shows "
            "what "
            "moved: for each metric both values, the difference, and its interval over the seeds. The first side is "
            "the "
            "base. A side is a scenario, a record folder, or one --scenario with a policy or a setting of its own.",
            "A mark tells what the difference means: + better, - worse, * moved (neither is better), ~ no clear "
            "difference, = equal to the last bit, ? not defined on both sides.",
            "Gates are bounds on what a change may do. They pass or fail when the interval lies within or beyond the "
            "bound, else they are inconclusive. The exit status is 0 if all pass or there are none, 10 if one fails, "
            "11 "
            "if one is inconclusive or a run failed.",
            "A replayed trace without a random part is run once on each side: exact, n = 1.",
            "A run that crashes is told with its side and seed, and the others go on. On SIGINT or SIGTERM what is "
            "done "
            "is shown, marked as partial, and the signal is raised again.",
            NULL},
    .options = options,
    .examples = examples,
    .operands_max = COMPARISON_SIDES_MAX,
    .run = run_verb,
};
