#include "tools/compare_sides.h"

#include <string.h>
#include <sys/stat.h>

#include "tools/installed.h"
#include "tools/verbs.h"

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
static void split_name(struct compare_sides *sides, const char *operand, const char **name, const char **path)
{
    const char *equals = strchr(operand, '='), *slash = strchr(operand, '/');
    *name = NULL;
    *path = operand;
    if (equals == NULL || equals == operand || (slash != NULL && slash < equals) || exists(operand))
        return;
    *name = arena_copy(&sides->arena, (struct text){operand, (size_t)(equals - operand)});
    *path = equals + 1;
}

/* "out/fifo/" -> "fifo", "scenarios/main.json" -> "main" */
static const char *base_name(struct compare_sides *sides, const char *path)
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
    return arena_copy(&sides->arena, (struct text){path + start, length - start});
}

static struct comparison_side_options *find_side(struct compare_sides *sides, struct text name)
{
    for (size_t i = 0; i < sides->count; i++)
        if (text_is(name, sides->list[i].name))
            return &sides->list[i];
    return NULL;
}

/* name NULL: made from the path; another number is put behind it until it is new. */
static struct error add_side(struct compare_sides *sides, const char *name, const char *path,
                             const struct comparison_side_options *options)
{
    if (sides->count == COMPARISON_SIDES_MAX)
        return error_new(ERROR_USAGE, "there may be at most %d sides", COMPARISON_SIDES_MAX);
    if (name != NULL && find_side(sides, text_of(name)) != NULL)
        return error_new(ERROR_USAGE, "two sides have the name '%s'", name);
    const char *wanted = name != NULL ? name : base_name(sides, path);
    const char *unique = wanted;
    for (int number = 2; find_side(sides, text_of(unique)) != NULL; number++) {
        struct buffer text = {0};
        buffer_format(&text, "%s-%d", wanted, number);
        unique = arena_copy(&sides->arena, (struct text){text.bytes, text.length});
        buffer_release(&text);
    }
    struct comparison_side_options *side = &sides->list[sides->count++];
    *side = *options;
    side->name = unique;
    return ERROR_OK;
}

/* "5m,0.1": arrivals move by up to 5 minutes, run times by sigma 0.1. */
static struct error shake_assignment(struct compare_sides *sides, const char *value, const char **out)
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
    *out = arena_copy(&sides->arena, (struct text){text.bytes, text.length});
    buffer_release(&text);
    return ERROR_OK;
}

static struct error blocks_assignment(struct compare_sides *sides, const char *value, const char **out)
{
    struct buffer text = {0};
    bool is_known = false;
    for (const char *const *name = blocks_names; *name != NULL; name++)
        is_known = is_known || strcmp(*name, value) == 0;
    if (!is_known)
        return error_new(ERROR_USAGE, "'--blocks' wants users or weeks, got '%s'", value);
    buffer_format(&text, "workload.blocks=\"%s\"", value);
    *out = arena_copy(&sides->arena, (struct text){text.bytes, text.length});
    buffer_release(&text);
    return ERROR_OK;
}

static struct error find_sets(struct compare_sides *sides)
{
    size_t count;
    const char *shake = args_string(sides->args, "shake"), *blocks = args_string(sides->args, "blocks");
    const char *const *sets = args_list(sides->args, "set", &count);
    sides->sets = arena_alloc_array(&sides->arena, count + 2, const char *);
    if (blocks != NULL)
        TRY(blocks_assignment(sides, blocks, &sides->sets[sides->set_count++]));
    if (shake != NULL)
        TRY(shake_assignment(sides, shake, &sides->sets[sides->set_count++]));
    for (size_t i = 0; i < count; i++)
        sides->sets[sides->set_count++] = sets[i];
    return ERROR_OK;
}

/* What all sides that are run have in common. */
static struct scenario_options shared_options(const struct compare_sides *sides, const char *path)
{
    const struct args *args = sides->args;
    struct scenario_options options = {.path = args_string(args, "fork-at") == NULL ? installed_find(path, "scenarios")
                                                                                    : NULL,
                                       .trace = installed_find(args_string(args, "trace"), "workloads/samples"),
                                       .cluster = installed_find(args_string(args, "cluster"), "topologies"),
                                       .seed = args_string(args, "seed"),
                                       .plugins = tool_plugin_options(args),
                                       .sets = sides->sets,
                                       .set_count = sides->set_count};
    tool_trust(args, &options);
    return options;
}

static struct error add_operands(struct compare_sides *sides)
{
    for (size_t i = 0; i < args_operand_count(sides->args); i++) {
        struct comparison_side_options side = {0};
        const char *name, *path;
        split_name(sides, args_operand(sides->args, i), &name, &path);
        if (strcmp(path, "-") == 0)
            return error_new(ERROR_USAGE, "a side is read once for each seed, so it cannot be standard input");
        if (is_folder(path))
            side.record = path;
        side.scenario = shared_options(sides, path); /* of a record its plug-ins and what is trusted */
        TRY(add_side(sides, name, path, &side));
    }
    return ERROR_OK;
}

static struct error add_policies(struct compare_sides *sides, const char *scenario)
{
    size_t count;
    const char *const *policies = args_list(sides->args, "policy", &count);
    for (size_t i = 0; i < count; i++) {
        const char *name, *policy;
        struct comparison_side_options side = {.scenario = shared_options(sides, scenario)};
        split_name(sides, policies[i], &name, &policy);
        side.scenario.policy = policy;
        TRY(add_side(sides, name, policy, &side));
    }
    return ERROR_OK;
}

/* Append an override to those of the side. */
static void add_set(struct compare_sides *sides, struct comparison_side_options *side, const char *assignment)
{
    const size_t count = side->scenario.set_count;
    const char **sets = arena_alloc_array(&sides->arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        sets[i] = side->scenario.sets[i];
    sets[count] = assignment;
    side->scenario.sets = sets;
    side->scenario.set_count = count + 1;
}

static struct error no_such_side(const struct compare_sides *sides, struct text name)
{
    const char *names[COMPARISON_SIDES_MAX + 1] = {NULL};
    struct buffer list = {0};
    struct error error =
        error_new(ERROR_USAGE, "'--side' names the side '%.*s', which is not there", (int)name.length, name.at);
    for (size_t i = 0; i < sides->count; i++) {
        names[i] = sides->list[i].name;
        buffer_format(&list, "%s'%s'", i == 0 ? "" : ", ", names[i]);
    }
    if (!error_hint_nearest(&error, name, names))
        error_set_hint(&error, "the sides are %s", buffer_c_string(&list));
    buffer_release(&list);
    return error;
}

/* --side NAME or --side NAME:PATH=VALUE; may_add: a new name is a new side of the scenario. */
static struct error apply_side(struct compare_sides *sides, const char *value, const char *scenario, bool may_add)
{
    const char *colon = strchr(value, ':');
    const struct text name = {value, colon != NULL ? (size_t)(colon - value) : strlen(value)};
    struct comparison_side_options *side = find_side(sides, name);
    if (name.length == 0 || memchr(name.at, '=', name.length) != NULL)
        return error_new(ERROR_USAGE, "'--side' wants NAME or NAME:PATH=VALUE, got '%s'", value);
    if (side == NULL && !may_add)
        return no_such_side(sides, name);
    if (side == NULL) {
        struct comparison_side_options options = {.scenario = shared_options(sides, scenario)};
        TRY(add_side(sides, arena_copy(&sides->arena, name), scenario, &options));
        side = &sides->list[sides->count - 1];
    }
    if (side->record != NULL || side->baseline != NULL)
        return error_new(ERROR_USAGE, "'%s' has been run: nothing of it can be set", side->name);
    if (colon != NULL)
        add_set(sides, side, colon + 1);
    return ERROR_OK;
}

/* --rerun-base: another program runs the base. */
static struct error apply_program(struct compare_sides *sides)
{
    const char *program = args_string(sides->args, "rerun-base");
    struct comparison_side_options *base = &sides->list[0];
    if (program == NULL)
        return ERROR_OK;
    if (base->baseline != NULL)
        return error_new(ERROR_USAGE, "'--rerun-base' runs the base again, and '--baseline' takes what was kept of it: "
                                      "leave out one of them");
    if (base->record != NULL)
        return error_new(ERROR_USAGE, "'--rerun-base' runs the base again, and '%s' is a record: name its scenario",
                         base->name);
    if (program[0] == '\0')
        return error_new(ERROR_USAGE, "'--rerun-base' must name a program, got an empty name");
    base->program = program;
    return ERROR_OK;
}

static struct error check_records(const struct compare_sides *sides)
{
    static const char *const names[] = {"set", "blocks", "shake", "trace", "cluster", "seed"};
    bool has_scenario = false;
    for (size_t i = 0; i < sides->count; i++)
        has_scenario = has_scenario || (sides->list[i].record == NULL && sides->list[i].baseline == NULL);
    for (size_t n = 0; n < sizeof names / sizeof *names && !has_scenario; n++)
        if (args_string(sides->args, names[n]) != NULL)
            return error_new(ERROR_USAGE, "'--%s' is for scenarios, and all sides are records", names[n]);
    return ERROR_OK;
}

/* What stands in the scenario of each folder cannot be named for both at once. */
static struct error find_change(struct compare_sides *sides, const char *folder)
{
    static const char *const others[] = {"policy",     "side",          "trace",   "cluster", "baseline",
                                         "rerun-base", "save-baseline", "fork-at", "plugin"};
    const struct args *args = sides->args;
    const char *jobs = args_string(args, "jobs-of");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_string(args, others[i]) != NULL)
            return error_new(ERROR_USAGE, "'--%s' cannot be used with --base-dir: each side has that of its folder",
                             others[i]);
    if (args_operand_count(args) > 0)
        return error_new(ERROR_USAGE, "with --base-dir the sides are two folders: name the scenario with --scenario");
    if (jobs != NULL && strcmp(jobs, "base") != 0 && strcmp(jobs, "change") != 0)
        return error_new(ERROR_USAGE, "'--jobs-of' must be base or change, got '%s'", jobs);
    struct proposal_options options = {.folder = folder,
                                       .scenario = shared_options(sides, NULL),
                                       .gates = args_string(args, "gates"),
                                       .runs_base_jobs = jobs != NULL && strcmp(jobs, "base") == 0};
    options.scenario.path = args_string(args, "scenario");
    sides->is_change = true;
    TRY(proposal_open(&sides->proposal, &options));
    for (size_t i = 0; i < PROPOSAL_SIDES; i++)
        TRY(add_side(sides, sides->proposal.sides[i].name, folder, &sides->proposal.sides[i]));
    return ERROR_OK;
}

static struct error find_all(struct compare_sides *sides)
{
    size_t policy_count, value_count;
    const char *scenario = args_string(sides->args, "scenario"), *baseline = args_string(sides->args, "baseline");
    const char *const *values = args_list(sides->args, "side", &value_count);
    args_list(sides->args, "policy", &policy_count);
    const char *trace = args_string(sides->args, "trace");
    const bool has_one = scenario != NULL || (trace != NULL && args_operand_count(sides->args) == 0);
    if (!has_one && policy_count > 0)
        return error_new(ERROR_USAGE,
                         "'--policy' makes a side of one scenario: name it with --scenario, or a trace and "
                         "a cluster with --trace and --cluster");
    if (scenario != NULL && args_operand_count(sides->args) > 0)
        return error_new(ERROR_USAGE, "the sides are either operands or those of --scenario, not both");
    if (scenario == NULL && has_one && args_string(sides->args, "cluster") == NULL)
        return error_new(ERROR_USAGE, "a trace without a scenario needs a cluster: name it with --cluster");
    if (baseline != NULL) {
        TRY(baseline_read(&sides->baseline, baseline));
        TRY(add_side(sides, "baseline", baseline, &(struct comparison_side_options){.baseline = &sides->baseline}));
    }
    TRY(add_operands(sides));
    if (args_string(sides->args, "fork-at") != NULL)
        TRY(add_side(sides, NULL, scenario,
                     &(struct comparison_side_options){.scenario = shared_options(sides, scenario)}));
    TRY(add_policies(sides, scenario));
    for (size_t i = 0; i < value_count; i++)
        TRY(apply_side(sides, values[i], scenario, has_one && policy_count == 0));
    if (has_one && policy_count == 0 && value_count == 0 && sides->count == 0)
        TRY(add_side(sides, NULL, scenario != NULL ? scenario : trace,
                     &(struct comparison_side_options){.scenario = shared_options(sides, scenario)}));
    const size_t least = args_string(sides->args, "save-baseline") != NULL ? 1 : 2;
    if (sides->count < least) {
        struct error error = error_new(ERROR_USAGE, "a comparison needs two sides, and there %s",
                                       sides->count == 0 ? "is none" : "is one");
        error_set_hint(
            &error,
            "name two scenarios or record folders, or one with --scenario, or --trace and --cluster, and --policy P "
            "--policy Q");
        return error;
    }
    TRY(apply_program(sides));
    return check_records(sides);
}

struct error compare_sides_read(struct compare_sides *sides, const struct args *args)
{
    *sides = (struct compare_sides){.args = args};
    const char *folder = args_string(args, "base-dir");
    TRY(find_sets(sides));
    if (folder != NULL)
        return find_change(sides, folder);
    if (args_string(args, "jobs-of") != NULL)
        return error_new(ERROR_USAGE, "'--jobs-of' is for --base-dir");
    return find_all(sides);
}

void compare_sides_release(struct compare_sides *sides)
{
    baseline_release(&sides->baseline);
    proposal_release(&sides->proposal);
    arena_release(&sides->arena);
    *sides = (struct compare_sides){0};
}
