#include "tools/what_if.h"

#include <math.h>

#include "base/output.h"
#include "base/worker_pool.h"
#include "reports/view.h"
#include "studies/comparison_show/comparison_show.h"
#include "studies/run/kept_runs.h"
#include "tools/verbs.h"

enum { SIDES = 2, SEEDS = 5, WORKERS_MAX = 1024 };

static const char *const side_names[SIDES] = {"as it is", "what if"};

static void show_progress(void *self, size_t done, size_t total)
{
    progress_line_show_runs(self, done, total);
}

/* ---- The service levels on both sides ---- */

struct what_if {
    const struct comparison *comparison;
    const struct service_levels *levels;
    const char *title; /* the changes */
    double alpha;
};

/* A level on a side: the mean over the seeds, whether that meets it, and whether that is sure. */
struct level_met {
    double mean;
    bool is_met, is_sure;
    size_t met, runs;
};

static const struct comparison_row *row_of(const struct comparison *comparison, const struct metric_selector *of)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (metric_selector_is_same(&comparison->rows[r].of, of))
            return &comparison->rows[r];
    return NULL;
}

/* Judged as a plan judges a number: each bound by the tests of reports/gates.h at half of alpha, on this side alone. */
static struct level_met judge(const struct what_if *what, size_t side, const struct service_level *level)
{
    const size_t count = what->comparison->seed_count;
    const struct comparison_row *row = row_of(what->comparison, &level->of);
    struct level_met met = {.mean = NAN};
    if (row == NULL)
        return met;
    const double *values = &row->numbers[side * count];
    const struct gate gates[] = {
        {.of = level->of, .unit = level->unit, .better = BETTER_LOWER, .bound = GATE_MAX, .amount = level->max},
        {.of = level->of, .unit = level->unit, .better = BETTER_HIGHER, .bound = GATE_MIN, .amount = level->min}};
    struct gate_test tests[2];
    struct gate_result results[2];
    size_t bounds = 0;
    for (size_t g = 0; g < 2; g++)
        if (isfinite(gates[g].amount))
            tests[bounds++] =
                (struct gate_test){.gate = &gates[g], .candidate = values, .count = count, .is_unpaired = true};
    gates_decide(&(struct gate_rule){.alpha = what->alpha / 2,
                                     .looks = looks_once(count),
                                     .is_exact = what->comparison->is_exact},
                 tests, bounds, results);
    met.mean = results[0].candidate;
    met.is_met = met.mean <= level->max && met.mean >= level->min;
    met.is_sure = gates_state(results, bounds) == (met.is_met ? GATE_PASSED : GATE_FAILED);
    for (size_t s = 0; s < count; s++) {
        met.runs += !isnan(values[s]) ? 1 : 0;
        met.met += values[s] <= level->max && values[s] >= level->min ? 1 : 0;
    }
    return met;
}

static void add_level(struct show *show, const struct what_if *what, const struct service_level *level)
{
    struct buffer name = {0};
    metric_selector_write(&level->of, &name);
    show_row(show, buffer_c_string(&name));
    service_level_bound(level, show_cell(show));
    for (size_t side = 0; side < SIDES; side++) {
        const struct level_met met = judge(what, side, level);
        struct buffer *cell = show_cell(show);
        service_level_value(level, met.mean, cell);
        if (isnan(met.mean))
            continue;
        struct buffer *below = show_below(show);
        if (met.is_sure)
            buffer_string(below, met.is_met ? "met" : "not met");
        else
            buffer_format(below, "met in %zu of %zu seeds, not sure", met.met, met.runs);
        show_state(show, !met.is_sure ? '~' : met.is_met ? '+' : '-');
    }
    buffer_release(&name);
}

/* "all 2 met" of a side, or how many, and how many of them are sure. */
static void write_count(const struct what_if *what, size_t side, struct buffer *out)
{
    size_t met = 0, sure = 0, known = 0;
    for (size_t l = 0; l < what->levels->count; l++) {
        const struct level_met level = judge(what, side, &what->levels->levels[l]);
        known += isnan(level.mean) ? 0 : 1;
        met += level.is_met && level.is_sure ? 1 : 0;
        sure += level.is_sure ? 1 : 0;
    }
    buffer_format(out, "%zu of %zu met for sure", met, known);
    if (sure < known)
        buffer_format(out, ", %zu in doubt", known - sure);
}

/* ---- Money ---- */

/* USD per hour for the cluster of a side; NAN: not known. */
static double usd_per_h(const struct comparison *comparison, size_t side)
{
    for (size_t s = 0; s < comparison->seed_count; s++) {
        const struct comparison_run *run = &comparison->sides[side].runs[s];
        const struct run_facts *facts = &run->values.result.facts;
        if (run->state == COMPARISON_RUN_DONE && facts->price_usd_per_gpu_h > 0)
            return facts->price_usd_per_gpu_h * (double)facts->gpu_count;
    }
    return NAN;
}

static void write_money(const struct comparison *comparison, struct buffer *out)
{
    const double before = usd_per_h(comparison, 0), after = usd_per_h(comparison, 1);
    if (isnan(before) || isnan(after))
        return;
    buffer_string(out, "The cluster costs ");
    view_amount(out, after);
    buffer_string(out, " USD/h");
    if (after == before) {
        buffer_string(out, ", as it does now.");
        return;
    }
    buffer_string(out, ", ");
    view_amount(out, fabs(after - before));
    buffer_format(out, " %s than now.", after > before ? "more" : "less");
}

/* The first lines, of the screen and of the page. */
static void open_document(void *self, struct show *show)
{
    const struct what_if *what = self;
    struct buffer money = {0};
    buffer_format(show_line(show, SHOW_LEAD), "What if %s?", what->title);
    if (what->levels->count > 0) {
        struct buffer *out = show_line(show, SHOW_LEAD);
        buffer_string(out, "Service levels: as it is ");
        write_count(what, 0, out);
        buffer_string(out, "; what if ");
        write_count(what, 1, out);
        buffer_char(out, '.');
    }
    write_money(what->comparison, &money);
    if (money.length > 0)
        buffer_text(show_line(show, SHOW_LEAD), (struct text){money.bytes, money.length});
    buffer_release(&money);
    if (what->levels->count == 0)
        return;
    show_section(show, "Service levels before and after");
    show_table(show, "Service level", "", side_names[0], side_names[1], NULL);
    for (size_t l = 0; l < what->levels->count; l++)
        add_level(show, what, &what->levels->levels[l]);
}

static struct error write_page(const struct args *args, const struct comparison *comparison,
                               const struct comparison_show *how)
{
    const char *path = args_string(args, "html");
    struct output *output;
    if (path == NULL)
        return ERROR_OK;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    struct show *show = comparison_show_new(comparison, how, NULL);
    show_page(show, NULL, output_buffer(output));
    show_free(show);
    return output_commit(&output);
}

/* ---- Both sides ---- */

/* What the second side has besides: the changes as settings, in the arena. */
static struct error read_changes(struct sizing_asked *asked, const char ***sets, size_t *count, struct buffer *title)
{
    size_t change_count;
    const char *const *changes = args_list(asked->args, "what-if", &change_count);
    const struct scenario_options *scenario = &asked->options.scenario;
    *sets = arena_alloc_array(&asked->arena, scenario->set_count + change_count, const char *);
    *count = 0;
    for (size_t s = 0; s < scenario->set_count; s++)
        (*sets)[(*count)++] = scenario->sets[s];
    for (size_t c = 0; c < change_count; c++) {
        struct buffer setting = {0};
        struct error error = setting_change(&asked->scenario, changes[c], &setting);
        (*sets)[(*count)++] = arena_copy(&asked->arena, (struct text){setting.bytes, setting.length});
        buffer_format(title, "%s%s", c > 0 ? ", " : "", (*sets)[*count - 1]);
        buffer_release(&setting);
        TRY(error);
    }
    return ERROR_OK;
}

static struct error compare(struct sizing_asked *asked, struct comparison *comparison,
                            const struct comparison_options *options, struct buffer *title, struct buffer *out,
                            bool *is_complete)
{
    struct service_levels levels;
    struct what_if what = {
        .comparison = comparison, .levels = &levels, .title = buffer_c_string(title), .alpha = options->alpha};
    const struct comparison_show show = {.is_all = args_flag(asked->args, "all"),
                                         .winner_metric = "queue_time_p95_s",
                                         .open = open_document,
                                         .open_self = &what};
    TRY(sizing_asked_levels(asked, &levels));
    TRY(comparison_run(comparison, options));
    comparison_write(comparison, COMPARISON_TEXT, &show, out);
    *is_complete = comparison_is_complete(comparison) && !comparison->is_partial;
    return write_page(asked->args, comparison, &show);
}

static struct error run_sides(struct sizing_asked *asked, struct progress_line *progress,
                              const volatile sig_atomic_t *stop, struct buffer *out, bool *is_complete)
{
    const struct args *args = asked->args;
    struct comparison_side_options sides[SIDES];
    struct comparison comparison = {0};
    struct buffer title = {0};
    const char **sets;
    int64_t workers, seeds;
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), &workers));
    TRY(args_int64(args, "seeds", 1, COMPARISON_SEEDS_MAX, SEEDS, &seeds));
    for (size_t side = 0; side < SIDES; side++)
        sides[side] = (struct comparison_side_options){.name = side_names[side], .scenario = asked->options.scenario};
    if (args_string(args, "keep") != NULL)
        TRY(kept_runs_open(args_string(args, "keep")));
    struct error error = read_changes(asked, &sets, &sides[1].scenario.set_count, &title);
    sides[1].scenario.sets = sets;
    const struct comparison_options options = {.version = WINDTUNNEL_VERSION,
                                               .sides = sides,
                                               .side_count = SIDES,
                                               .seed_count = (size_t)seeds,
                                               .is_unshaken = args_flag(args, "exact"),
                                               .worker_count = (size_t)workers,
                                               .alpha = 0.05,
                                               .kept = args_string(args, "keep"),
                                               .stop = stop,
                                               .on_progress = show_progress,
                                               .progress_self = progress};
    if (!error_is(error))
        error = compare(asked, &comparison, &options, &title, out, is_complete);
    comparison_release(&comparison);
    buffer_release(&title);
    return error;
}

struct error what_if_run(const struct args *args, struct progress_line *progress, const volatile sig_atomic_t *stop,
                         struct buffer *out, bool *is_complete)
{
    struct sizing_asked asked;
    struct error error = sizing_asked_open(&asked, args);
    *is_complete = false;
    if (!error_is(error))
        error = run_sides(&asked, progress, stop, out, is_complete);
    sizing_asked_release(&asked);
    return error;
}
