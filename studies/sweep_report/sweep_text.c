/* studies/sweep_report/sweep_text.c -- a sweep as text; see studies/sweep_report/sweep_report.h. */
#include <math.h>
#include <string.h>

#include "reports/grid.h"
#include "reports/view.h"
#include "studies/sweep_report/sweep_report.h"

enum { LEVELS_SHOWN = 40, NAME_WIDTH = 40, FRONT_SHOWN = 20 };

static const char *better_text(enum better better)
{
    return better == BETTER_LOWER ? ", lower is better" : better == BETTER_HIGHER ? ", higher is better" : "";
}

static void write_interval(const struct sweep_report *report, size_t column, const struct inference *mean,
                           struct buffer *out)
{
    if (!inference_has_interval(mean))
        return;
    sweep_report_value(report, column, mean->low, out);
    buffer_string(out, " to ");
    sweep_report_value(report, column, mean->high, out);
}

static void add_factor(const struct sweep_report *report, size_t column, size_t factor, struct grid *grid)
{
    const struct sweep_factor *of = &report->results->plan.factors[factor];
    struct sweep_slice slice = sweep_slice_all();
    for (size_t l = 0; l < of->level_count && l < LEVELS_SHOWN && grid->row_count + 1 < GRID_ROWS; l++) {
        struct buffer name = {0};
        buffer_format(&name, "%s %s", of->name, of->levels[l].name);
        slice.level[factor] = (uint32_t)l;
        const struct inference mean = sweep_slice_mean(report->results, column, &slice, SWEEP_REPORT_LEVEL);
        grid_row(grid, buffer_c_string(&name), NAME_WIDTH);
        sweep_report_value(report, column, mean.mean, grid_cell(grid, 1));
        write_interval(report, column, &mean, grid_cell(grid, 2));
        buffer_release(&name);
    }
}

static void write_shares(const struct sweep_report *report, size_t column, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    struct sweep_squares squares;
    if (!sweep_squares_read(report->results, column, &squares))
        return;
    buffer_string(out, "  Of the variance:");
    for (size_t i = 0; i < squares.part_count && squares.total > 0; i++) {
        const struct sweep_part *part = &squares.parts[i];
        buffer_format(out, "%s %s", i > 0 ? "," : "", plan->factors[part->factor].name);
        if (part->other != part->factor)
            buffer_format(out, " x %s", plan->factors[part->other].name);
        buffer_char(out, ' ');
        view_percent(out, part->squares / squares.total);
    }
    if (squares.total > 0) {
        buffer_string(out, "; seeds ");
        view_percent(out, squares.seeds / squares.total);
        buffer_string(out, ", rest ");
        view_percent(out, squares.rest / squares.total);
    } else {
        buffer_string(out, " there is none");
    }
    buffer_char(out, '\n');
    sweep_squares_release(&squares);
}

static void write_best(const struct sweep_report *report, size_t column, struct buffer *out)
{
    const size_t best = sweep_report_best(report, column);
    if (best == SIZE_MAX)
        return;
    buffer_string(out, "  Best: ");
    sweep_plan_name(&report->results->plan, best, out);
    buffer_string(out, ": ");
    sweep_report_value(report, column, sweep_combination_mean(report->results, column, best), out);
    buffer_char(out, '\n');
}

static void write_metric(const struct sweep_report *report, size_t column, struct buffer *out)
{
    struct grid *grid = mem_zalloc(1, sizeof *grid);
    struct buffer name = {0};
    const char *heads[] = {NULL, "mean", "95 % over seeds", NULL};
    sweep_report_name(report, column, &name);
    buffer_string(&name, better_text(report->results->columns[column].metric->better));
    heads[0] = buffer_c_string(&name);
    buffer_char(out, '\n');
    grid_head(grid, heads);
    for (size_t f = 0; f < report->results->plan.factor_count; f++)
        add_factor(report, column, f, grid);
    grid_write(grid, out);
    write_shares(report, column, out);
    write_best(report, column, out);
    buffer_release(&name);
    mem_free(grid);
}

static void write_front(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_plan *plan = &report->results->plan;
    if (report->front[0] == SWEEP_NO_COLUMN || report->front[1] == SWEEP_NO_COLUMN)
        return;
    size_t *front = mem_zalloc(plan->combination_count, sizeof *front);
    const size_t count = sweep_front(report->results, report->front[0], report->front[1], front);
    buffer_string(out, "\nNo combination beats these in both ");
    sweep_report_name(report, report->front[0], out);
    buffer_string(out, " and ");
    sweep_report_name(report, report->front[1], out);
    buffer_string(out, ":\n");
    for (size_t i = 0; i < count && i < FRONT_SHOWN; i++) {
        buffer_string(out, "  ");
        for (int k = 0; k < 2; k++) {
            sweep_report_value(report, report->front[k],
                               sweep_combination_mean(report->results, report->front[k], front[i]), out);
            buffer_string(out, k == 0 ? ", " : ": ");
        }
        sweep_plan_name(plan, front[i], out);
        buffer_char(out, '\n');
    }
    if (count > FRONT_SHOWN)
        buffer_format(out, "  and %zu more\n", count - FRONT_SHOWN);
    mem_free(front);
}

void sweep_report_text(const struct sweep_report *report, struct buffer *out)
{
    const struct sweep_results *results = report->results;
    if (results->plan.title != NULL)
        buffer_format(out, "%s: ", results->plan.title);
    buffer_format(out, "%zu combinations x %zu seeds, %zu of %zu runs done\n", results->plan.combination_count,
                  results->plan.seed_count, results->books.counts[RUN_DONE], results->plan.run_count);
    for (size_t m = 0; m < report->column_count; m++)
        write_metric(report, report->columns[m], out);
    write_front(report, out);
}
