/* studies/likeness/likeness_show.c -- the likeness as a document and as JSON. */
#include <math.h>

#include "reports/show.h"
#include "studies/likeness/likeness.h"

#define S_PER_DAY 86400.0

/* ---- As a document ---- */

static void view_number(struct buffer *out, double value)
{
    if (isfinite(value))
        buffer_format(out, "%.6g", value);
    else
        buffer_char(out, '-');
}

static void view_change_of(struct buffer *out, double change)
{
    if (isfinite(change))
        buffer_format(out, "%+.1f %%", 100 * change);
}

static double change(const struct likeness_row *row)
{
    return fabs(row->value[0]) > 0 ? row->value[1] / row->value[0] - 1 : NAN;
}

static bool is_last_of_group(const struct likeness *likeness, size_t r)
{
    return r + 1 == likeness->row_count || likeness->rows[r + 1].group != likeness->rows[r].group;
}

/* The test of the group; NULL: it has none. */
static const struct likeness_test *test_of(const struct likeness *likeness, const char *group)
{
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++)
        if (likeness_series_names[s] == group)
            return &likeness->tests[s];
    return NULL;
}

static void add_numbers(struct show *show, const struct likeness *likeness)
{
    for (size_t r = 0; r < likeness->row_count; r++) {
        const struct likeness_row *row = &likeness->rows[r];
        const struct likeness_test *test = test_of(likeness, row->group);
        if (r == 0 || likeness->rows[r - 1].group != row->group) {
            show_section(show, row->group);
            show_table(show, "number", "A", "B", "B to A", NULL);
        }
        show_row(show, row->name);
        show_value(show, view_number, row->value[0]);
        show_value(show, view_number, row->value[1]);
        show_value(show, view_change_of, change(row));
        if (test != NULL && is_last_of_group(likeness, r))
            buffer_format(show_line(show, SHOW_NOTE),
                          "Kolmogorov-Smirnov D %.4f, p %.3g; Anderson-Darling A^2 %.4g, p %.3g", test->ks, test->ks_p,
                          test->ad, test->ad_p);
    }
}

/* ---- Curves ---- */

enum { POINTS_MAX = 400 };

struct curve {
    double *x, *y;
    size_t count;
};

static struct curve curve_new(struct show *show)
{
    double *numbers = show_numbers(show, 2 * (POINTS_MAX + 2));
    return (struct curve){numbers, numbers + POINTS_MAX + 2, 0};
}

/* Part of the jobs up to each value, in percent. */
static void curve_of_values(const double *sorted, size_t count, double least, struct curve *curve)
{
    for (size_t i = 0; i <= POINTS_MAX; i++) {
        const size_t rank = i * (count - 1) / POINTS_MAX;
        curve->x[curve->count] = fmax(least, sorted[rank]);
        curve->y[curve->count++] = 100.0 * (double)(rank + 1) / (double)count;
    }
}

static double highest_of(const struct likeness *likeness, enum likeness_series series)
{
    double highest = 0;
    for (int i = 0; i < 2; i++) {
        const struct likeness_side *side = &likeness->sides[i];
        highest = fmax(highest, side->sorted[series][side->count - 1 - (series == LIKENESS_GAP)]);
    }
    return highest;
}

static void add_figure(struct show *show, const struct likeness *likeness, const struct curve curves[2],
                       struct plot plot, const char *y_text, const char *x_text)
{
    const struct plot_series series[] = {{.label = likeness->sides[0].name,
                                          .x = curves[0].x,
                                          .y = curves[0].y,
                                          .count = curves[0].count,
                                          .colour = PLOT_BLACK},
                                         {.label = likeness->sides[1].name,
                                          .x = curves[1].x,
                                          .y = curves[1].y,
                                          .count = curves[1].count,
                                          .colour = PLOT_VERMILLION,
                                          .is_dashed = true}};
    plot.series = series;
    plot.series_count = 2;
    show_section(show, plot.title);
    show_figure(show, &(struct show_figure){.plot = plot, .y_text = y_text, .x_text = x_text});
}

static void add_values(struct show *show, const struct likeness *likeness, enum likeness_series series)
{
    static const char *const titles[] = {"Run time", "GPUs of a job", "Time between submissions"};
    static const char *const axes[] = {"run time", "GPUs", "gap"};
    static const char *const ids[] = {"runtimes", "gpus", "gaps"};
    const bool is_time = series != LIKENESS_GPUS;
    struct curve curves[2] = {curve_new(show), curve_new(show)};
    for (int i = 0; i < 2; i++)
        curve_of_values(likeness->sides[i].sorted[series], likeness->sides[i].count - (series == LIKENESS_GAP),
                        is_time ? 1 : 0, &curves[i]);
    const struct plot plot = {.title = titles[series],
                              .description =
                                  "Share of the jobs of each trace up to each value; the quantiles are in the "
                                  "table.",
                              .id = ids[series],
                              .x_kind = is_time ? PLOT_X_DURATION_LOG : PLOT_X_LINEAR,
                              .y_kind = PLOT_Y_PERCENT,
                              .x_min = is_time ? 1 : 0,
                              .x_max = fmax(10, highest_of(likeness, series)),
                              .y_max = 100};
    add_figure(show, likeness, curves, plot, "share of jobs", axes[series]);
}

/* Jobs per day over the span of each, in at most POINTS_MAX parts of whole days. */
static void curve_of_days(const struct likeness_side *side, double span_days, struct curve *curve)
{
    const double step_days = ceil(fmax(1, span_days / POINTS_MAX)), step_s = step_days * S_PER_DAY;
    size_t at = 0;
    for (double from_s = side->submit_s[0]; curve->count < POINTS_MAX && at < side->count; from_s += step_s) {
        const size_t first = at;
        while (at < side->count && side->submit_s[at] < from_s + step_s)
            at++;
        curve->x[curve->count] = (from_s - side->submit_s[0]) / S_PER_DAY;
        curve->y[curve->count++] = (double)(at - first) / step_days;
    }
}

static void add_days(struct show *show, const struct likeness *likeness)
{
    double span = 0, high = 0;
    struct curve curves[2] = {curve_new(show), curve_new(show)};
    for (int i = 0; i < 2; i++) {
        const struct likeness_side *side = &likeness->sides[i];
        span = fmax(span, (side->submit_s[side->count - 1] - side->submit_s[0]) / S_PER_DAY);
    }
    for (int i = 0; i < 2; i++) {
        curve_of_days(&likeness->sides[i], span, &curves[i]);
        high = fmax(high, show_highest(curves[i].y, curves[i].count));
    }
    const struct plot plot = {.title = "Jobs per day",
                              .description = "Jobs submitted on each day since the first submission.",
                              .id = "days",
                              .x_min = 0,
                              .x_max = fmax(1, span),
                              .y_max = show_scale_end(high)};
    add_figure(show, likeness, curves, plot, "jobs per day", "days");
}

struct show *likeness_show_new(const struct likeness *likeness, const char *title)
{
    struct show *show = show_new(title);
    buffer_format(show_line(show, SHOW_LEAD), "A: %s", likeness->sides[0].name);
    buffer_format(show_line(show, SHOW_LEAD), "B: %s", likeness->sides[1].name);
    if (title != NULL) {
        show_on(show, SHOW_PAGE);
        for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++)
            add_values(show, likeness, s);
        add_days(show, likeness);
        show_on(show, SHOW_ALL);
    }
    add_numbers(show, likeness);
    return show;
}

/* ---- JSON ---- */

void likeness_json(const struct likeness *likeness, struct buffer *out)
{
    buffer_members(out, "{'a': %s, 'b': %s", likeness->sides[0].name, likeness->sides[1].name);
    for (size_t r = 0; r < likeness->row_count; r++) {
        const struct likeness_row *row = &likeness->rows[r];
        const struct likeness_test *test = test_of(likeness, row->group);
        if (r == 0 || likeness->rows[r - 1].group != row->group)
            buffer_members(out, ",\n %s: {", row->group);
        else
            buffer_string(out, ", ");
        buffer_members(out, "%s: [%g, %g]", row->name, row->value[0], row->value[1]);
        if (test != NULL && is_last_of_group(likeness, r))
            buffer_members(out, ", 'ks': %g, 'ks_p': %g, 'ad': %g, 'ad_p': %g", test->ks, test->ks_p, test->ad,
                           test->ad_p);
        if (is_last_of_group(likeness, r))
            buffer_char(out, '}');
    }
    buffer_string(out, "}\n");
}
