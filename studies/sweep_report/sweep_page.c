/* studies/sweep_report/sweep_page.c -- a sweep as a page; see studies/sweep_report/sweep_report.h. */
#include <math.h>
#include <string.h>

#include "reports/html_page.h"
#include "reports/view.h"
#include "studies/sweep_report/sweep_report.h"
#include "studies/sweep_report/sweep_svg.h"

enum { LEVELS_SHOWN = 60, FRONT_SHOWN = 50, MAPS_MAX = 6, FAILURES_SHOWN = 10 };

/* What the drawings need to write a value. */
struct value_of {
    const struct sweep_report *report;
    size_t column;
};

static void write_value(const void *self, double value, struct buffer *out)
{
    const struct value_of *of = self;
    sweep_report_value(of->report, of->column, value, out);
}

static struct svg_scale scale_of(const struct value_of *of)
{
    return (struct svg_scale){.write = write_value,
                              .self = of,
                              .is_seconds = strcmp(of->report->results->columns[of->column].metric->unit, "s") == 0};
}

/* "<td><data value="0.283">28.3 %</data></td>" */
static void write_cell(const struct sweep_report *report, size_t column, double value, struct buffer *out)
{
    struct buffer text = {0};
    sweep_report_value(report, column, value, &text);
    buffer_string(out, "<td>");
    if (!isnan(value)) {
        buffer_string(out, "<data value=\"");
        buffer_double(out, value);
        buffer_string(out, "\">");
    }
    html_name(out, buffer_c_string(&text));
    buffer_string(out, isnan(value) ? "</td>" : "</data></td>");
    buffer_release(&text);
}

static void write_combination(const struct sweep_plan *plan, size_t combination, struct buffer *out)
{
    struct buffer name = {0};
    sweep_plan_name(plan, combination, &name);
    html_name(out, buffer_c_string(&name));
    buffer_release(&name);
}

static void write_name(const struct sweep_report *report, size_t column, struct buffer *out)
{
    struct buffer name = {0};
    sweep_report_name(report, column, &name);
    html_name(out, buffer_c_string(&name));
    buffer_release(&name);
}

/* ---- head ---- */

static void write_head(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    const char *title = plan->title != NULL ? plan->title : "Windtunnel sweep";
    html_page_open(title, out);
    buffer_string(out, "<h1>");
    html_name(out, title);
    buffer_format(out, "</h1>\n<p class=\"sub\">%zu combinations of %zu factors \xc2\xb7 %zu seeds \xc2\xb7 ",
                  plan->combination_count, plan->factor_count, plan->seed_count);
    buffer_format(out, "%zu of %zu runs done \xc2\xb7 Windtunnel ", report->results->books.counts[RUN_DONE],
                  plan->run_count);
    html_name(out, plan->version);
    buffer_string(out, "</p>\n");
}

static void write_failures(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_results *results = report->results;
    size_t shown = 0;
    if (sweep_books_is_complete(&results->books))
        return;
    buffer_format(out,
                  "<p class=\"warn\">Incomplete: %zu of %zu runs are not done. Means leave out the seeds in which a "
                  "run is missing.</p>\n",
                  results->plan.run_count - results->books.counts[RUN_DONE], results->plan.run_count);
    for (size_t r = 0; r < results->plan.run_count && shown < FAILURES_SHOWN; r++) {
        if (results->books.entries[r].failure == NULL)
            continue;
        shown++;
        buffer_format(out, "<p class=\"warn\">Run %zu (", r);
        write_combination(&results->plan, results->plan.runs[r].combination, out);
        buffer_format(out, ", seed %llu): ", (unsigned long long)results->plan.runs[r].seed);
        html_name(out, results->books.entries[r].failure);
        buffer_string(out, "</p>\n");
    }
}

static void write_best(const struct sweep_report *report, struct buffer *out)
{
    buffer_string(out,
                  "<section><h2>The best combinations</h2>\n<div class=\"scroll\"><table><thead><tr><th>Metric</th>"
                  "<th>Best mean</th><th>Combination</th></tr></thead><tbody>\n");
    for (size_t m = 0; m < report->column_count; m++) {
        const size_t column = report->columns[m], best = sweep_report_best(report, column);
        if (best == SIZE_MAX)
            continue;
        buffer_string(out, "<tr><th>");
        write_name(report, column, out);
        buffer_string(out, "</th>");
        write_cell(report, column, sweep_combination_mean(report->results, column, best), out);
        buffer_string(out, "<td>");
        write_combination(&report->results->plan, best, out);
        buffer_string(out, "</td></tr>\n");
    }
    buffer_string(out, "</tbody></table></div></section>\n");
}

/* ---- effects ---- */

static void write_levels(const struct sweep_report *report, size_t column, size_t factor, struct buffer *out)
{
    const struct sweep_factor *of = &report->results->plan.factors[factor];
    struct sweep_slice slice = sweep_slice_all();
    for (size_t l = 0; l < of->level_count && l < LEVELS_SHOWN; l++) {
        slice.level[factor] = (uint32_t)l;
        const struct inference mean = sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL);
        const bool has_interval = inference_has_interval(&mean);
        buffer_string(out, "<tr><th>");
        html_name(out, of->name);
        buffer_char(out, ' ');
        html_name(out, of->levels[l].name);
        buffer_string(out, "</th>");
        write_cell(report, column, mean.mean, out);
        write_cell(report, column, has_interval ? mean.low : NAN, out);
        write_cell(report, column, has_interval ? mean.high : NAN, out);
        buffer_string(out, "</tr>\n");
    }
}

static void write_part(const struct sweep_plan *plan, const struct sweep_part *part, double total, struct buffer *out)
{
    buffer_string(out, "<tr><th>");
    html_name(out, plan->factors[part->factor].name);
    if (part->other != part->factor) {
        buffer_string(out, " \xc3\x97 ");
        html_name(out, plan->factors[part->other].name);
    }
    buffer_string(out, "</th><td>");
    view_percent(out, total > 0 ? part->squares / total : 0);
    buffer_format(out, "</td><td>%zu</td><td>%.2g</td></tr>\n", part->df, part->p);
}

static void write_rest(const char *name, double squares, double total, struct buffer *out)
{
    buffer_format(out, "<tr><th>%s</th><td>", name);
    view_percent(out, total > 0 ? squares / total : 0);
    buffer_string(out, "</td><td></td><td></td></tr>\n");
}

static void write_shares(const struct sweep_report *report, size_t column, struct buffer *out)
{
    struct sweep_squares squares;
    if (!sweep_squares_read(report->results, column, &squares)) {
        buffer_string(out,
                      "<p class=\"note\">No shares of the variance: they need every combination of the levels, and "
                      "all runs done.</p>\n");
        return;
    }
    buffer_string(out,
                  "<h3>What the variance is made of</h3>\n<div class=\"scroll\"><table><thead><tr><th>Factor, or pair "
                  "beyond its factors</th><th>Share</th><th>df</th><th>p</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < squares.part_count; i++)
        write_part(&report->results->plan, &squares.parts[i], squares.total, out);
    write_rest("seeds", squares.seeds, squares.total, out);
    write_rest("rest", squares.rest, squares.total, out);
    buffer_string(out, "</tbody></table></div>\n");
    sweep_squares_release(&squares);
}

/* ---- curves ---- */

/* Fill the curve of the slice along the report's x. */
static void fill_curve(const struct sweep_report *report, size_t column, struct sweep_slice slice, double *y,
                       double *low, double *high)
{
    for (size_t l = 0; l < report->results->plan.factors[report->x].level_count; l++) {
        slice.level[report->x] = (uint32_t)l;
        const struct inference mean = sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL);
        const bool has_interval = inference_has_interval(&mean);
        y[l] = mean.mean;
        low[l] = has_interval ? mean.low : NAN;
        high[l] = has_interval ? mean.high : NAN;
    }
}

static bool is_ascending(const struct sweep_factor *factor)
{
    for (size_t l = 1; l < factor->level_count; l++)
        if (factor->levels[l].number <= factor->levels[l - 1].number)
            return false;
    return true;
}

/* by: the factor whose levels are the curves; x itself: one curve. */
static void write_curves(const struct sweep_report *report, size_t column, size_t by, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    const struct sweep_factor *x = &plan->factors[report->x], *of = &plan->factors[by];
    const size_t points = x->level_count, count = by == report->x ? 1 : of->level_count;
    const struct value_of value_of = {report, column};
    struct arena arena = {0};
    struct svg_curve curves[SVG_CURVES_MAX];
    struct buffer title = {0};
    if (count > SVG_CURVES_MAX || !is_ascending(x))
        return;
    double *numbers = arena_alloc_array(&arena, points, double);
    for (size_t l = 0; l < points; l++)
        numbers[l] = x->levels[l].number;
    for (size_t c = 0; c < count; c++) {
        double *values = arena_alloc_array(&arena, 3 * points, double);
        struct sweep_slice slice = sweep_slice_all();
        if (by != report->x)
            slice.level[by] = (uint32_t)c;
        fill_curve(report, column, slice, values, values + points, values + 2 * points);
        curves[c] = (struct svg_curve){
            .label = of->levels[c].name, .y = values, .low = values + points, .high = values + 2 * points};
    }
    sweep_report_name(report, column, &title);
    buffer_format(&title, " over %s", x->name);
    if (by != report->x)
        buffer_format(&title, ", by %s", of->name);
    buffer_string(out, "<h3>");
    html_name(out, buffer_c_string(&title));
    buffer_string(out, "</h3>\n");
    const struct svg_chart chart = {.title = buffer_c_string(&title),
                                    .x_label = x->name,
                                    .x = numbers,
                                    .point_count = points,
                                    .curves = curves,
                                    .curve_count = count,
                                    .scale = scale_of(&value_of)};
    svg_chart(&chart, out);
    buffer_release(&title);
    arena_release(&arena);
}

static void write_all_curves(const struct sweep_report *report, size_t column, struct buffer *out)
{
    if (report->x == SIZE_MAX)
        return;
    if (report->results->plan.factor_count == 1)
        write_curves(report, column, report->x, out);
    for (size_t f = 0; f < report->results->plan.factor_count; f++)
        if (f != report->x)
            write_curves(report, column, f, out);
}

/* ---- maps ---- */

static void write_map(const struct sweep_report *report, size_t column, size_t row, size_t across, struct buffer *out)
{
    const struct sweep_factor *rows = &report->results->plan.factors[row];
    const struct sweep_factor *columns = &report->results->plan.factors[across];
    const struct value_of value_of = {report, column};
    const char *row_names[SVG_MAP_MAX], *column_names[SVG_MAP_MAX];
    double cells[SVG_MAP_MAX * SVG_MAP_MAX];
    struct sweep_slice slice = sweep_slice_all();
    struct buffer title = {0};
    for (size_t r = 0; r < rows->level_count; r++)
        for (size_t c = 0; c < columns->level_count; c++) {
            slice.level[row] = (uint32_t)r;
            slice.level[across] = (uint32_t)c;
            row_names[r] = rows->levels[r].name;
            column_names[c] = columns->levels[c].name;
            cells[r * columns->level_count + c] =
                sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL).mean;
        }
    sweep_report_name(report, column, &title);
    buffer_format(&title, " by %s and %s", rows->name, columns->name);
    buffer_string(out, "<h3>");
    html_name(out, buffer_c_string(&title));
    buffer_string(out, "</h3>\n");
    const struct svg_map map = {.title = buffer_c_string(&title),
                                .column_label = columns->name,
                                .row_label = rows->name,
                                .columns = column_names,
                                .rows = row_names,
                                .column_count = columns->level_count,
                                .row_count = rows->level_count,
                                .cells = cells,
                                .scale = scale_of(&value_of)};
    svg_map(&map, out);
    buffer_release(&title);
}

static void write_maps(const struct sweep_report *report, size_t column, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    size_t count = 0;
    for (size_t f = 0; f < plan->factor_count; f++)
        for (size_t g = f + 1; g < plan->factor_count; g++)
            if (plan->factors[f].level_count <= SVG_MAP_MAX && plan->factors[g].level_count <= SVG_MAP_MAX &&
                count++ < MAPS_MAX)
                write_map(report, column, f, g, out);
}

static void write_metric(const struct sweep_report *report, size_t column, struct buffer *out)
{
    buffer_string(out, "<section><h2>");
    write_name(report, column, out);
    buffer_string(out, "</h2>\n<p class=\"note\">");
    html_name(out, report->results->columns[column].metric->definition);
    buffer_string(out, "</p>\n");
    write_all_curves(report, column, out);
    write_maps(report, column, out);
    write_shares(report, column, out);
    buffer_string(out,
                  "<details><summary>Means by level</summary>\n<div class=\"scroll\"><table><thead><tr><th>Level</th>"
                  "<th>mean</th><th>95 % from</th><th>to</th></tr></thead><tbody>\n");
    for (size_t f = 0; f < report->results->plan.factor_count; f++)
        write_levels(report, column, f, out);
    buffer_string(out, "</tbody></table></div></details></section>\n");
}

/* ---- front, origin ---- */

static void write_front(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    if (report->front[0] == SWEEP_NO_COLUMN || report->front[1] == SWEEP_NO_COLUMN)
        return;
    size_t *front = mem_zalloc(plan->combination_count, sizeof *front);
    const size_t count = sweep_front(report->results, report->front[0], report->front[1], front);
    buffer_string(out, "<section><h2>No combination beats these in both</h2>\n<div class=\"scroll\"><table><thead><tr>"
                       "<th>Combination</th>");
    for (int k = 0; k < 2; k++) {
        buffer_string(out, "<th>");
        write_name(report, report->front[k], out);
        buffer_string(out, "</th>");
    }
    buffer_string(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count && i < FRONT_SHOWN; i++) {
        buffer_string(out, "<tr><th>");
        write_combination(plan, front[i], out);
        buffer_string(out, "</th>");
        for (int k = 0; k < 2; k++)
            write_cell(report, report->front[k], sweep_combination_mean(report->results, report->front[k], front[i]),
                       out);
        buffer_string(out, "</tr>\n");
    }
    buffer_string(out, "</tbody></table></div></section>\n");
    mem_free(front);
}

static void write_origin(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    buffer_string(out,
                  "<section><h2>What made the runs</h2>\n<table class=\"pairs\"><tbody>\n<tr><th>plan</th><td><code>");
    html_name(out, plan->digest);
    buffer_string(out, "</code></td></tr>\n");
    for (size_t i = 0; i < plan->input_count; i++) {
        buffer_string(out, "<tr><th>");
        html_name(out, plan->inputs[i].role);
        buffer_string(out, "</th><td>");
        html_name(out, plan->inputs[i].name);
        buffer_string(out, " <code>");
        html_name(out, plan->inputs[i].digest);
        buffer_string(out, "</code></td></tr>\n");
    }
    buffer_string(out, "</tbody></table></section>\n");
}

void sweep_report_page(const struct sweep_report *report, struct buffer *out)
{
    write_head(report, out);
    write_failures(report, out);
    write_best(report, out);
    for (size_t m = 0; m < report->column_count; m++)
        write_metric(report, report->columns[m], out);
    write_front(report, out);
    write_origin(report, out);
    html_page_close(out);
}
