/* studies/sweep_report/sweep_document.c -- a sweep as a document; see studies/sweep_report/sweep_report.h. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/sweep_report/sweep_report.h"

enum {
    LEVELS_SHOWN = 60,
    FRONT_SHOWN = 20,
    MAPS_MAX = 6,
    MAP_LEVELS_MAX = 24, /* rows or columns */
    CURVES_MAX = 8,
    FAILURES_SHOWN = 10,
};

static void add_value(struct show *show, const struct sweep_report *report, size_t column, double value)
{
    const struct metric *metric = report->results->columns[column].metric;
    show_metric(show, metric->name, metric->unit, value);
}

static void add_name(struct show *show, const struct sweep_report *report, size_t column, const char *tail,
                     void (*add)(struct show *show, const char *name))
{
    struct buffer name = {0};
    metric_selector_write(&report->results->columns[column].of, &name);
    buffer_string(&name, tail);
    add(show, buffer_c_string(&name));
    buffer_release(&name);
}

/* ---- head ---- */

static void add_failures(struct show *show, const struct sweep_report *report)
{
    const struct sweep_results *results = report->results;
    size_t shown = 0;
    if (sweep_books_is_complete(&results->books))
        return;
    buffer_format(show_line(show, SHOW_WARNING),
                  "Incomplete: %zu of %zu runs are not done. Means leave out the seeds in which a run is missing.",
                  results->plan.run_count - results->books.counts[RUN_DONE], results->plan.run_count);
    for (size_t r = 0; r < results->plan.run_count && shown < FAILURES_SHOWN; r++) {
        if (results->books.entries[r].failure == NULL)
            continue;
        shown++;
        struct buffer *out = show_line(show, SHOW_WARNING);
        buffer_format(out, "Run %zu (", r);
        sweep_plan_name(&results->plan, results->plan.runs[r].combination, out);
        buffer_format(out, ", seed %llu): %s", (unsigned long long)results->plan.runs[r].seed,
                      results->books.entries[r].failure);
    }
}

/* ---- levels, shares, best ---- */

static void add_levels(struct show *show, const struct sweep_report *report, size_t column)
{
    show_table(show, "level", "mean", "95 % over seeds", NULL);
    for (size_t f = 0; f < report->results->plan.factor_count; f++) {
        const struct sweep_factor *of = &report->results->plan.factors[f];
        const struct metric *metric = report->results->columns[column].metric;
        struct sweep_slice slice = sweep_slice_all();
        for (size_t l = 0; l < of->level_count && l < LEVELS_SHOWN; l++) {
            struct buffer name = {0};
            slice.level[f] = (uint32_t)l;
            const struct inference mean = sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL);
            buffer_format(&name, "%s %s", of->name, of->levels[l].name);
            show_row(show, buffer_c_string(&name));
            buffer_release(&name);
            add_value(show, report, column, mean.mean);
            if (!inference_has_interval(&mean))
                continue;
            struct buffer *out = show_cell(show);
            view_metric(out, metric->name, metric->unit, mean.low);
            buffer_string(out, " to ");
            view_metric(out, metric->name, metric->unit, mean.high);
        }
    }
}

static void add_share(struct show *show, const char *name, double squares, double total)
{
    show_row(show, name);
    show_value(show, view_percent, total > 0 ? squares / total : 0);
}

static void add_shares(struct show *show, const struct sweep_report *report, size_t column)
{
    const struct sweep_plan *plan = &report->results->plan;
    struct sweep_squares squares;
    if (!sweep_squares_read(report->results, column, &squares)) {
        buffer_string(show_line(show, SHOW_NOTE), "No shares of the variance: they need every combination of the "
                                                  "levels, and all runs done.");
        return;
    }
    show_heading(show, "Of the variance");
    show_table(show, "factor, or pair beyond its factors", "share", "df", "p", NULL);
    for (size_t i = 0; i < squares.part_count; i++) {
        const struct sweep_part *part = &squares.parts[i];
        struct buffer name = {0};
        buffer_string(&name, plan->factors[part->factor].name);
        if (part->other != part->factor)
            buffer_format(&name, " x %s", plan->factors[part->other].name);
        add_share(show, buffer_c_string(&name), part->squares, squares.total);
        buffer_format(show_cell(show), "%zu", part->df);
        buffer_format(show_cell(show), "%.2g", part->p);
        buffer_release(&name);
    }
    add_share(show, "seeds", squares.seeds, squares.total);
    add_share(show, "rest", squares.rest, squares.total);
    sweep_squares_release(&squares);
}

static void add_best(struct show *show, const struct sweep_report *report)
{
    show_section(show, "The best combinations");
    show_table(show, "metric", "best mean", "<combination", NULL);
    for (size_t m = 0; m < report->column_count; m++) {
        const size_t column = report->columns[m], best = sweep_report_best(report, column);
        if (best == SIZE_MAX)
            continue;
        add_name(show, report, column, "", show_row);
        add_value(show, report, column, sweep_combination_mean(report->results, column, best));
        sweep_plan_name(&report->results->plan, best, show_cell(show));
    }
}

/* ---- curves ---- */

struct extent {
    double low, high;
};

static void widen(struct extent *range, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            range->low = fmin(range->low, values[i]);
            range->high = fmax(range->high, values[i]);
        }
}

/* The curve of the slice along the report's x, and the band of its intervals; cut off below 0 where no mean is. */
static void add_curve(struct show *show, const struct sweep_report *report, size_t column, struct sweep_slice slice,
                      const double *x, double scale, struct plot_series *series, struct extent *range)
{
    const size_t count = report->results->plan.factors[report->x].level_count;
    double *y = show_numbers(show, 3 * count), *low = y + count, *high = low + count;
    for (size_t l = 0; l < count; l++) {
        slice.level[report->x] = (uint32_t)l;
        const struct inference mean = sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL);
        const bool has_interval = inference_has_interval(&mean);
        y[l] = mean.mean / scale;
        low[l] = has_interval ? fmax(mean.low / scale, mean.mean >= 0 ? 0 : -INFINITY) : NAN;
        high[l] = has_interval ? mean.high / scale : NAN;
    }
    series[0].x = series[1].x = x;
    series[0].count = series[1].count = count;
    series[0].y = high;
    series[0].base = low;
    series[0].is_band = true;
    series[1].y = y;
    widen(range, y, count);
    widen(range, low, count);
    widen(range, high, count);
}

static void set_axis(struct plot *plot, struct extent range)
{
    if (!(range.low <= range.high))
        range = (struct extent){0, 1};
    if (range.low > 0 && range.low < range.high / 2)
        range.low = 0;
    const double step = show_scale_end((range.high - range.low) / 6);
    plot->y_min = floor(range.low / step) * step;
    plot->y_max = range.high > plot->y_min ? ceil(range.high / step) * step : plot->y_min + 1;
}

static bool is_ascending(const struct sweep_factor *factor)
{
    for (size_t l = 1; l < factor->level_count; l++)
        if (factor->levels[l].number <= factor->levels[l - 1].number)
            return false;
    return true;
}

static double highest_mean(const struct sweep_report *report, size_t column)
{
    double high = 0;
    for (size_t c = 0; c < report->results->plan.combination_count; c++) {
        const double mean = sweep_combination_mean(report->results, column, c);
        high = isfinite(mean) ? fmax(high, fabs(mean)) : high;
    }
    return high;
}

/* by: the factor whose levels are the curves; x itself: one curve. */
static void add_curves(struct show *show, const struct sweep_report *report, size_t column, size_t by)
{
    const struct sweep_plan *plan = &report->results->plan;
    const struct sweep_factor *x = &plan->factors[report->x], *of = &plan->factors[by];
    const size_t count = by == report->x ? 1 : of->level_count;
    struct plot_series series[2 * CURVES_MAX] = {{0}};
    struct extent range = {INFINITY, -INFINITY};
    struct buffer title = {0}, id = {0};
    const char *unit;
    if (count > CURVES_MAX || !is_ascending(x))
        return;
    const double scale = view_scale(report->results->columns[column].metric->unit, highest_mean(report, column), &unit);
    double *numbers = show_numbers(show, x->level_count);
    for (size_t l = 0; l < x->level_count; l++)
        numbers[l] = x->levels[l].number;
    for (size_t c = 0; c < count; c++) {
        struct sweep_slice slice = sweep_slice_all();
        if (by != report->x)
            slice.level[by] = (uint32_t)c;
        add_curve(show, report, column, slice, numbers, scale, &series[2 * c], &range);
        series[2 * c + 1].label = by != report->x ? of->levels[c].name : "mean";
        series[2 * c].colour = series[2 * c + 1].colour = (enum plot_colour)(PLOT_ORANGE + c % PLOT_PINK);
        if (series[2 * c].colour > PLOT_PINK)
            series[2 * c].colour = series[2 * c + 1].colour = PLOT_BLACK;
    }
    metric_selector_write(&report->results->columns[column].of, &title);
    buffer_format(&title, " over %s", x->name);
    if (by != report->x)
        buffer_format(&title, ", by %s", of->name);
    buffer_format(&id, "curve%zuby%zu", column, by);
    struct show_figure figure = {.plot = {.title = buffer_c_string(&title),
                                          .description = "Means over the seeds, with the band of their intervals.",
                                          .id = buffer_c_string(&id),
                                          .series = series,
                                          .series_count = 2 * count,
                                          .x_min = numbers[0],
                                          .x_max = numbers[x->level_count - 1]},
                                 .y_text = unit,
                                 .x_text = x->name,
                                 .first = x->name};
    set_axis(&figure.plot, range);
    show_heading(show, buffer_c_string(&title));
    show_figure(show, &figure);
    buffer_release(&title);
    buffer_release(&id);
}

static void add_all_curves(struct show *show, const struct sweep_report *report, size_t column)
{
    if (report->x == SIZE_MAX)
        return;
    if (report->results->plan.factor_count == 1)
        add_curves(show, report, column, report->x);
    for (size_t f = 0; f < report->results->plan.factor_count; f++)
        if (f != report->x)
            add_curves(show, report, column, f);
}

/* ---- maps ---- */

static double map_mean(const struct sweep_report *report, size_t column, size_t row, size_t across, size_t r, size_t c)
{
    struct sweep_slice slice = sweep_slice_all();
    slice.level[row] = (uint32_t)r;
    slice.level[across] = (uint32_t)c;
    return sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL).mean;
}

static void add_map(struct show *show, const struct sweep_report *report, size_t column, size_t row, size_t across)
{
    const struct sweep_factor *rows = &report->results->plan.factors[row];
    const struct sweep_factor *columns = &report->results->plan.factors[across];
    struct extent range = {INFINITY, -INFINITY};
    struct buffer title = {0};
    for (size_t r = 0; r < rows->level_count; r++)
        for (size_t c = 0; c < columns->level_count; c++) {
            const double mean = map_mean(report, column, row, across, r, c);
            widen(&range, &mean, 1);
        }
    buffer_format(&title, " by %s and %s", rows->name, columns->name);
    add_name(show, report, column, buffer_c_string(&title), show_heading);
    title.length = 0;
    buffer_format(&title, "%s \\ %s", rows->name, columns->name);
    show_table(show, buffer_c_string(&title), NULL);
    buffer_release(&title);
    for (size_t c = 0; c < columns->level_count; c++)
        show_column(show, columns->levels[c].name);
    for (size_t r = 0; r < rows->level_count; r++) {
        show_row(show, rows->levels[r].name);
        for (size_t c = 0; c < columns->level_count; c++) {
            const double mean = map_mean(report, column, row, across, r, c);
            add_value(show, report, column, mean);
            show_shade(show, range.high > range.low ? (mean - range.low) / (range.high - range.low) : 0);
        }
    }
}

static void add_maps(struct show *show, const struct sweep_report *report, size_t column)
{
    const struct sweep_plan *plan = &report->results->plan;
    size_t count = 0;
    for (size_t f = 0; f < plan->factor_count; f++)
        for (size_t g = f + 1; g < plan->factor_count; g++)
            if (plan->factors[f].level_count <= MAP_LEVELS_MAX && plan->factors[g].level_count <= MAP_LEVELS_MAX &&
                count++ < MAPS_MAX)
                add_map(show, report, column, f, g);
}

/* ---- a metric, front, origin ---- */

static void add_metric(struct show *show, const struct sweep_report *report, size_t column)
{
    const struct metric *metric = report->results->columns[column].metric;
    add_name(show, report, column,
             metric->better == BETTER_LOWER    ? ", lower is better"
             : metric->better == BETTER_HIGHER ? ", higher is better"
                                               : "",
             show_section);
    show_on(show, SHOW_PAGE);
    buffer_string(show_line(show, SHOW_NOTE), metric->definition != NULL ? metric->definition : "");
    show_on(show, SHOW_ALL);
    add_levels(show, report, column);
    add_shares(show, report, column);
    show_on(show, SHOW_PAGE);
    add_all_curves(show, report, column);
    add_maps(show, report, column);
    show_on(show, SHOW_ALL);
}

static void add_front(struct show *show, const struct sweep_report *report)
{
    const struct sweep_plan *plan = &report->results->plan;
    if (report->front[0] == SWEEP_NO_COLUMN || report->front[1] == SWEEP_NO_COLUMN)
        return;
    size_t *front = mem_zalloc(plan->combination_count, sizeof *front);
    const size_t count = sweep_front(report->results, report->front[0], report->front[1], front);
    show_section(show, "No combination beats these in both");
    show_table(show, "combination", NULL);
    for (int k = 0; k < 2; k++)
        add_name(show, report, report->front[k], "", show_column);
    show_rows_shown(show, FRONT_SHOWN);
    for (size_t i = 0; i < count; i++) {
        struct buffer name = {0};
        sweep_plan_name(plan, front[i], &name);
        show_row(show, buffer_c_string(&name));
        buffer_release(&name);
        for (int k = 0; k < 2; k++)
            add_value(show, report, report->front[k],
                      sweep_combination_mean(report->results, report->front[k], front[i]));
    }
    mem_free(front);
}

static void add_origin(struct show *show, const struct sweep_plan *plan)
{
    show_on(show, SHOW_PAGE);
    show_section(show, "What made the runs");
    show_table(show, NULL);
    show_row(show, "Windtunnel");
    buffer_string(show_cell(show), plan->version);
    show_row(show, "plan");
    buffer_string(show_cell(show), plan->digest);
    for (size_t i = 0; i < plan->input_count; i++) {
        show_row(show, plan->inputs[i].role);
        buffer_string(show_cell(show), plan->inputs[i].name);
        buffer_string(show_below(show), plan->inputs[i].digest);
    }
    show_on(show, SHOW_ALL);
}

struct show *sweep_report_show_new(const struct sweep_report *report)
{
    const struct sweep_plan *plan = &report->results->plan;
    struct show *show = show_new(plan->title != NULL ? plan->title : "Windtunnel sweep");
    struct buffer *out = show_line(show, SHOW_LEAD);
    if (plan->title != NULL)
        buffer_format(out, "%s: ", plan->title);
    buffer_format(out, "%zu combinations x %zu seeds, %zu of %zu runs done", plan->combination_count, plan->seed_count,
                  report->results->books.counts[RUN_DONE], plan->run_count);
    add_failures(show, report);
    add_best(show, report);
    for (size_t m = 0; m < report->column_count; m++)
        add_metric(show, report, report->columns[m]);
    add_front(show, report);
    add_origin(show, plan);
    return show;
}
