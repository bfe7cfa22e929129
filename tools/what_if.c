#include "tools/what_if.h"

#include <math.h>

#include "base/worker_pool.h"
#include "reports/view.h"
#include "studies/comparison_show/comparison_show.h"
#include "tools/verbs.h"

enum { SIDES = 2, SEEDS = 5, WORKERS_MAX = 1024 };

static const char *const side_names[SIDES] = {"as it is", "what if"};

static void show_progress(void *self, size_t done, size_t total)
{
    progress_line_show_runs(self, done, total);
}

/* ---- The service levels on both sides ---- */

/* The mean over the seeds; NAN: not defined. */
static double mean_of(const struct comparison *comparison, size_t side, const struct metric_selector *of)
{
    double sum = 0;
    size_t count = 0;
    for (size_t r = 0; r < comparison->row_count; r++)
        for (size_t s = 0; s < comparison->seed_count && metric_selector_is_same(&comparison->rows[r].of, of); s++) {
            const double number = comparison->rows[r].numbers[side * comparison->seed_count + s];
            sum += isnan(number) ? 0 : number;
            count += isnan(number) ? 0 : 1;
        }
    return count > 0 ? sum / (double)count : NAN;
}

static void add_level(struct show *show, const struct comparison *comparison, const struct service_level *level)
{
    struct buffer name = {0};
    metric_selector_write(&level->of, &name);
    show_row(show, buffer_c_string(&name));
    service_level_bound(level, show_cell(show));
    for (size_t side = 0; side < SIDES; side++) {
        struct buffer *cell = show_cell(show);
        const double mean = mean_of(comparison, side, &level->of);
        service_level_value(level, mean, cell);
        if (!isnan(mean))
            buffer_string(cell, mean <= level->max && mean >= level->min ? "  met" : "  not met");
    }
    buffer_release(&name);
}

static void write_levels(const struct comparison *comparison, const struct service_levels *levels, const char *title,
                         struct buffer *out)
{
    struct show *show = show_new(NULL);
    buffer_format(show_line(show, SHOW_LEAD), "What if %s?", title);
    show_section(show, "");
    if (levels->count > 0)
        show_table(show, "Service level", "", side_names[0], side_names[1], NULL);
    for (size_t l = 0; l < levels->count; l++)
        add_level(show, comparison, &levels->levels[l]);
    show_text(show, out);
    show_free(show);
    buffer_char(out, '\n');
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
    const struct comparison_show show = {.winner_metric = "queue_time_p95_s"};
    struct service_levels levels;
    TRY(sizing_asked_levels(asked, &levels));
    TRY(comparison_run(comparison, options));
    write_levels(comparison, &levels, buffer_c_string(title), out);
    comparison_write(comparison, COMPARISON_TEXT, &show, out);
    *is_complete = comparison_is_complete(comparison) && !comparison->is_partial;
    return ERROR_OK;
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
    struct error error = read_changes(asked, &sets, &sides[1].scenario.set_count, &title);
    sides[1].scenario.sets = sets;
    const struct comparison_options options = {.version = WINDTUNNEL_VERSION,
                                               .sides = sides,
                                               .side_count = SIDES,
                                               .seed_count = (size_t)seeds,
                                               .is_unshaken = args_flag(args, "exact"),
                                               .worker_count = (size_t)workers,
                                               .alpha = 0.05,
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
