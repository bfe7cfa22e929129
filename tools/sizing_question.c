#include "tools/sizing_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "studies/run/assumptions.h"
#include "studies/sizing/sizing_growth.h"
#include "tools/verbs.h"

enum {
    RUNS = 80,
    RUNS_MAX = 100000,
    SEEDS = 40,
    SEEDS_MAX = 1000,
    QUARTERS = 4,
    STEPS_MAX = 1000000000,
    MIXES = 5,
    BUDGET_POOLS = 2,
};

static const char *keep(struct sizing_asked *asked, struct buffer *text)
{
    const char *copy = arena_copy(&asked->arena, (struct text){text->bytes, text->length});
    buffer_release(text);
    return copy;
}

static const char *format_setting(struct sizing_asked *asked, const char *path, double number)
{
    struct buffer text = {0};
    buffer_format(&text, "%s=%.12g", path, number);
    return keep(asked, &text);
}

/* ---- Levels ---- */

/* "queue_time_p95_s:class=training<=1h" as a service level in JSON. */
static struct error write_level(const char *level, struct buffer *out)
{
    const char *bound = NULL;
    for (const char *at = level; *at != '\0'; at++)
        if ((at[0] == '<' || at[0] == '>') && at[1] == '=')
            bound = at;
    if (bound == NULL || bound == level || bound[2] == '\0') {
        struct error error =
            error_new(ERROR_USAGE, "'--level' wants METRIC[:CUT=KEY]<=BOUND or >=BOUND, got '%s'", level);
        error_set_hint(&error,
                       "for example 'queue_time_p95_s:class=training<=1h'; `windtunnel metrics` lists the names");
        return error;
    }
    const struct text whole = {level, (size_t)(bound - level)};
    const char *colon = memchr(level, ':', whole.length);
    const char *equals = colon != NULL ? memchr(colon, '=', (size_t)(bound - colon)) : NULL;
    double number;
    if (colon != NULL && equals == NULL)
        return error_new(ERROR_USAGE, "'--level' wants CUT=KEY behind the colon, such as class=training, got '%s'",
                         level);
    buffer_string(out, "{\"metric\": ");
    buffer_json(out, (struct text){level, colon != NULL ? (size_t)(colon - level) : whole.length});
    if (colon != NULL) {
        buffer_string(out, ", ");
        buffer_json(out, (struct text){colon + 1, (size_t)(equals - colon - 1)});
        buffer_string(out, ": ");
        buffer_json(out, (struct text){equals + 1, (size_t)(bound - equals - 1)});
    }
    buffer_string(out, bound[0] == '<' ? ", \"max\": " : ", \"min\": ");
    if (text_to_double(text_of(bound + 2), &number))
        buffer_double(out, number);
    else
        buffer_json(out, text_of(bound + 2));
    buffer_char(out, '}');
    return ERROR_OK;
}

static struct error read_levels(struct sizing_asked *asked, const char *const *levels, size_t count,
                                struct service_levels *out)
{
    struct buffer text = {0};
    struct error error = ERROR_OK;
    buffer_string(&text, "{\"service_levels\": [");
    for (size_t l = 0; l < count && !error_is(error); l++) {
        buffer_string(&text, l > 0 ? ", " : "");
        error = write_level(levels[l], &text);
    }
    buffer_string(&text, "]}");
    if (!error_is(error))
        error = service_levels_of_scenario(buffer_c_string(&text), &asked->arena, out);
    buffer_release(&text);
    return error;
}

struct error sizing_asked_levels(struct sizing_asked *asked, struct service_levels *out)
{
    size_t count;
    const char *const *levels = args_list(asked->args, "level", &count);
    if (count > 0)
        return read_levels(asked, levels, count, out);
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(asked->scenario.doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "service_levels");
    *out = service_levels_read(&value, &asked->arena);
    return error;
}

/* ---- The question ---- */

static bool read_number(const char *from, const char *to, double *out)
{
    return text_to_double((struct text){from, (size_t)(to - from)}, out);
}

/* "PATH=LOW..HIGH[/STEP]"; what follows the path may be left out. */
static struct error read_range(const char *option, const char *value, struct sizing_question *question)
{
    const char *equals = strchr(value, '=');
    const char *dots = equals != NULL ? strstr(equals, "..") : NULL;
    const char *slash = dots != NULL ? strchr(dots, '/') : NULL;
    if (equals == NULL)
        return ERROR_OK;
    const char *high = dots != NULL ? dots + strlen("..") : NULL;
    const bool is_read = dots != NULL && read_number(equals + 1, dots, &question->low) &&
                         read_number(high, slash != NULL ? slash : high + strlen(high), &question->high) &&
                         (slash == NULL || read_number(slash + 1, slash + strlen(slash), &question->step));
    if (is_read && question->step > 0 && question->low <= question->high &&
        (question->high - question->low) / question->step <= STEPS_MAX)
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "'--%s' has no range that can be searched: '%s'", option, value);
    error_set_hint(&error, "a range is LOW..HIGH or LOW..HIGH/STEP, such as 1..800 or 0.5..1.5/0.01");
    return error;
}

static const char *path_of(struct sizing_asked *asked, const char *value)
{
    struct buffer name = {0}, path = {0};
    buffer_bytes(&name, value, strcspn(value, "="));
    setting_path(buffer_c_string(&name), &path);
    buffer_release(&name);
    return keep(asked, &path);
}

/* The step of a load: at most a fortieth of it, a power of ten. */
static double load_step(double load)
{
    return pow(10, floor(log10(load / 40) + 1e-9));
}

static struct error ask_capacity(struct sizing_asked *asked)
{
    enum { TIMES = 4 };
    struct sizing_question *question = &asked->options.question;
    double load;
    TRY(setting_load(&asked->scenario, &asked->options.scenario, &question->path, &load));
    const double step = load_step(load);
    question->aim = SIZING_LARGEST;
    question->start = load;
    question->step = step;
    question->low = step;
    question->high = ceil(TIMES * load / step) * step;
    return ERROR_OK;
}

static struct error ask_nodes(struct sizing_asked *asked, const char *value)
{
    enum { TIMES = 4, MORE = 16 };
    struct sizing_question *question = &asked->options.question;
    struct buffer name = {0}, path = {0};
    if (value != NULL)
        buffer_bytes(&name, value, strcspn(value, "="));
    struct error error = setting_pool(&asked->scenario, value != NULL ? buffer_c_string(&name) : NULL, &path);
    buffer_release(&name);
    question->path = keep(asked, &path);
    TRY(error);
    TRY(setting_number(&asked->scenario, question->path, &question->start));
    question->aim = SIZING_SMALLEST;
    question->step = 1;
    question->low = 1;
    question->high = TIMES * question->start + MORE;
    return value != NULL ? read_range("nodes", value, question) : ERROR_OK;
}

static struct error ask_path(struct sizing_asked *asked, const char *option, const char *value, enum sizing_aim aim)
{
    struct sizing_question *question = &asked->options.question;
    *question = (struct sizing_question){.path = path_of(asked, value), .aim = aim, .step = 1, .low = 1, .high = -1};
    TRY(read_range(option, value, question));
    if (question->low > question->high)
        return error_new(ERROR_USAGE, "'--%s' wants PATH=LOW..HIGH[/STEP], got '%s'", option, value);
    if (json_is_number(json_doc_at(asked->scenario.doc, question->path)))
        return setting_number(&asked->scenario, question->path, &question->start);
    question->start = (question->low + question->high) / 2;
    return ERROR_OK;
}

static struct error read_question(struct sizing_asked *asked)
{
    const struct args *args = asked->args;
    const char *nodes = args_string(args, "nodes"), *smallest = args_string(args, "smallest");
    const char *largest = args_string(args, "largest");
    const bool is_capacity = args_flag(args, "capacity") || args_string(args, "budget") != NULL;
    if ((nodes != NULL) + (smallest != NULL) + (largest != NULL) + is_capacity > 1)
        return error_new(ERROR_USAGE, "one question at a time: --nodes, --capacity, --budget, --smallest or --largest");
    if (smallest != NULL)
        return ask_path(asked, "smallest", smallest, SIZING_SMALLEST);
    if (largest != NULL)
        return ask_path(asked, "largest", largest, SIZING_LARGEST);
    return is_capacity ? ask_capacity(asked) : ask_nodes(asked, nodes);
}

/* ---- Cases ---- */

static struct error add_case(struct sizing_asked *asked, struct buffer *name, const char *first, const char *second)
{
    if (asked->options.case_count == SIZING_CASES_MAX) {
        buffer_release(name);
        return error_new(ERROR_USAGE, "there may be at most %d cases", SIZING_CASES_MAX);
    }
    asked->cases[asked->options.case_count++] =
        (struct sizing_case){.name = keep(asked, name), .sets = {first, second}};
    return ERROR_OK;
}

static struct error read_lead_time(struct sizing_asked *asked)
{
    const char *lead = args_string(asked->args, "lead-time");
    if (lead == NULL || sizing_read_quarters(lead, &asked->options.lead_quarters))
        return ERROR_OK;
    return error_new(ERROR_USAGE, "'--lead-time' must be a time such as 6mo, 2q, 1y, 12w or 90d, got '%s'", lead);
}

static struct error read_growth(struct sizing_asked *asked, const char *growth)
{
    const struct sizing_question *question = &asked->options.question;
    const char *path;
    int64_t quarters;
    char *end;
    double load;
    const double percent = strtod(growth, &end);
    if (end == growth || strcmp(end, "%") != 0 || !(percent > -100 && percent < 1000))
        return error_new(ERROR_USAGE, "'--growth' must be a percentage per quarter such as 10%%, got '%s'", growth);
    if (question->aim == SIZING_LARGEST)
        return error_new(ERROR_USAGE, "'--growth' raises the load, which is what is sought here");
    TRY(args_int64(asked->args, "quarters", 1, SIZING_CASES_MAX - 1, QUARTERS, &quarters));
    TRY(read_lead_time(asked));
    TRY(setting_load(&asked->scenario, &asked->options.scenario, &path, &load));
    const bool is_set = json_is_number(json_doc_at(asked->scenario.doc, path));
    asked->options.is_growth = true;
    for (int64_t q = 0; q <= quarters; q++) {
        const double grown = load * pow(1 + percent / 100, (double)q);
        struct buffer name = {0};
        buffer_format(&name, q == 0 ? "now" : q == 1 ? "in 1 quarter" : "in %lld quarters", (long long)q);
        buffer_format(&name, " (load %.4g)", grown);
        /* A load that is not set changes nothing now: the jobs come as they are. */
        TRY(add_case(asked, &name, q == 0 && !is_set ? NULL : format_setting(asked, path, grown), NULL));
    }
    return ERROR_OK;
}

/* "PATH=V1,V2,V3" */
static struct error read_with(struct sizing_asked *asked, const char *value)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0')
        return error_new(ERROR_USAGE, "'--with' wants PATH=VALUE,VALUE,..., got '%s'", value);
    const char *path = path_of(asked, value);
    struct text rest = text_of(equals + 1), part;
    while (rest.length > 0 && text_cut(&rest, ',', &part)) {
        struct buffer setting = {0}, name = {0};
        buffer_format(&setting, "%s=%.*s", path, (int)part.length, part.at);
        buffer_bytes(&name, setting.bytes, setting.length);
        TRY(add_case(asked, &name, keep(asked, &setting), NULL));
    }
    return ERROR_OK;
}

/* "PATH=LOW..HIGH": the scenario with either end, one path at a time, beside the scenario as it is. */
static struct error add_varied(struct sizing_asked *asked, const char *value)
{
    struct sizing_question range = {.step = 1, .low = 1, .high = -1};
    TRY(read_range("tornado", value, &range));
    if (range.low > range.high)
        return error_new(ERROR_USAGE, "'--tornado' wants PATH=LOW..HIGH, got '%s'", value);
    const char *path = path_of(asked, value);
    for (int end = 0; end < 2; end++) {
        struct buffer name = {0};
        const char *setting = format_setting(asked, path, end == 0 ? range.low : range.high);
        buffer_string(&name, setting);
        TRY(add_case(asked, &name, setting, NULL));
        asked->cases[asked->options.case_count - 1].varied = path;
    }
    return ERROR_OK;
}

static struct error read_tornado(struct sizing_asked *asked, const char *const *values, size_t count)
{
    struct buffer name = {0};
    buffer_string(&name, "as it is");
    TRY(add_case(asked, &name, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        TRY(add_varied(asked, values[i]));
    return ERROR_OK;
}

/* What no job says, otherwise: the alternatives of studies/run/assumptions.h, beside the scenario as it is. */
static struct error read_assumptions(struct sizing_asked *asked)
{
    struct assumed_list assumed;
    struct alternatives alternatives;
    struct buffer name = {0};
    TRY(assumptions_survey(&asked->options.scenario, &asked->arena, &assumed, &alternatives));
    buffer_string(&name, "as it is");
    TRY(add_case(asked, &name, NULL, NULL));
    for (size_t a = 0; a < alternatives.count; a++) {
        buffer_string(&name, alternatives.of[a].name);
        TRY(add_case(asked, &name, alternatives.of[a].set, NULL));
        asked->cases[asked->options.case_count - 1].assumption = alternatives.of[a].what;
    }
    return ERROR_OK;
}

/* ---- Mixes for a budget ---- */

struct budget_pool {
    const char *name, *path;
    double usd_per_node_h;
};

static struct error read_budget_pool(struct sizing_asked *asked, const char *name, struct budget_pool *pool)
{
    struct buffer path = {0}, at = {0};
    double gpus, price = 0;
    struct error error = setting_pool(&asked->scenario, name, &path);
    *pool = (struct budget_pool){.name = name, .path = keep(asked, &path)};
    TRY(error);
    buffer_format(&at, "cluster.pools.%s.gpus_per_node", name);
    error = setting_number(&asked->scenario, buffer_c_string(&at), &gpus);
    at.length = 0;
    buffer_format(&at, "cluster.pools.%s.price_usd_per_gpu_h", name);
    if (!error_is(error))
        error = setting_number(&asked->scenario, buffer_c_string(&at), &price);
    buffer_release(&at);
    TRY(error);
    pool->usd_per_node_h = gpus * price;
    if (!(pool->usd_per_node_h > 0))
        return error_new(ERROR_USAGE, "the pool '%s' has no price of a GPU hour (price_usd_per_gpu_h)", name);
    return ERROR_OK;
}

static struct error read_budget(struct sizing_asked *asked, const char *value)
{
    struct budget_pool pools[BUDGET_POOLS];
    size_t count;
    double budget;
    const char *const *names = args_list(asked->args, "pool", &count);
    if (!text_to_double(text_of(value), &budget) || !(budget > 0))
        return error_new(ERROR_USAGE, "'--budget' must be a number of USD per hour, got '%s'", value);
    if (count != BUDGET_POOLS)
        return error_new(ERROR_USAGE, "'--budget' wants the two pools that share it: --pool A --pool B");
    for (size_t p = 0; p < BUDGET_POOLS; p++)
        TRY(read_budget_pool(asked, names[p], &pools[p]));
    for (int m = 0; m < MIXES; m++) {
        const double first = floor(budget * m / (MIXES - 1) / pools[0].usd_per_node_h + 1e-9);
        const double second = floor((budget - first * pools[0].usd_per_node_h) / pools[1].usd_per_node_h + 1e-9);
        struct buffer name = {0};
        buffer_format(&name, "%.12g %s, %.12g %s", first, pools[0].name, second, pools[1].name);
        TRY(add_case(asked, &name, format_setting(asked, pools[0].path, first),
                     format_setting(asked, pools[1].path, second)));
    }
    return ERROR_OK;
}

static struct error read_cases(struct sizing_asked *asked)
{
    const char *growth = args_string(asked->args, "growth"), *with = args_string(asked->args, "with");
    const char *budget = args_string(asked->args, "budget");
    size_t varied_count;
    const char *const *varied = args_list(asked->args, "tornado", &varied_count);
    const bool has_assumptions = args_flag(asked->args, "assumptions");
    if ((growth != NULL) + (with != NULL) + (budget != NULL) + (varied_count > 0) + has_assumptions > 1)
        return error_new(ERROR_USAGE,
                         "--growth, --with, --budget, --tornado and --assumptions each make the cases: one of them");
    if (growth == NULL && args_string(asked->args, "quarters") != NULL)
        return error_new(ERROR_USAGE, "'--quarters' counts quarters of growth: give --growth too");
    if (growth == NULL && args_string(asked->args, "lead-time") != NULL)
        return error_new(ERROR_USAGE, "'--lead-time' is for an order that growth asks for: give --growth too");
    if (budget == NULL && args_string(asked->args, "pool") != NULL)
        return error_new(ERROR_USAGE, "'--pool' names a pool of a budget: give --budget too");
    asked->options.cases = asked->cases;
    if (growth != NULL)
        return read_growth(asked, growth);
    if (with != NULL)
        return read_with(asked, with);
    if (budget != NULL)
        return read_budget(asked, budget);
    if (has_assumptions)
        return read_assumptions(asked);
    if (varied_count > 0)
        return read_tornado(asked, varied, varied_count);
    struct buffer name = {0};
    buffer_string(&name, "as it is");
    return add_case(asked, &name, NULL, NULL);
}

/* ---- All of it ---- */

static struct error read_numbers(struct sizing_asked *asked)
{
    const char *alpha = args_string(asked->args, "alpha");
    int64_t runs, seeds;
    TRY(args_int64(asked->args, "runs", 1, RUNS_MAX, RUNS, &runs));
    TRY(args_int64(asked->args, "seeds", 1, SEEDS_MAX, SEEDS, &seeds));
    if (seeds > 1 && seeds < LOOKS_FIRST)
        return error_new(ERROR_USAGE, "'--seeds' must be 1, for an answer of one seed alone, or at least %d",
                         LOOKS_FIRST);
    asked->options.trials_max = (size_t)runs;
    asked->options.seeds_max = (size_t)seeds;
    asked->options.is_unshaken = args_flag(asked->args, "exact");
    asked->options.alpha = 0.05;
    if (alpha != NULL && (!text_to_double(text_of(alpha), &asked->options.alpha) ||
                          !(asked->options.alpha >= 1e-6 && asked->options.alpha <= 0.5)))
        return error_new(ERROR_USAGE, "'--alpha' must be a number from 0.000001 to 0.5, got '%s'", alpha);
    return ERROR_OK;
}

struct error sizing_asked_open(struct sizing_asked *asked, const struct args *args)
{
    *asked = (struct sizing_asked){.args = args};
    asked->options.version = WINDTUNNEL_VERSION;
    asked->options.scenario = tool_scenario_options(args);
    return setting_open(&asked->scenario, &asked->options.scenario);
}

struct error sizing_asked_read(struct sizing_asked *asked, const struct args *args)
{
    TRY(sizing_asked_open(asked, args));
    TRY(read_numbers(asked));
    TRY(sizing_asked_levels(asked, &asked->options.levels));
    if (asked->options.levels.count == 0) {
        struct error error = error_new(ERROR_USAGE, "there are no service levels to be met");
        error_set_hint(&error, "give some with --level 'queue_time_p95_s:class=training<=1h', or as service_levels of "
                               "the scenario");
        return error;
    }
    TRY(read_question(asked));
    return read_cases(asked);
}

void sizing_asked_release(struct sizing_asked *asked)
{
    setting_close(&asked->scenario);
    arena_release(&asked->arena);
}
