/* studies/likeness/likeness_show.c -- the likeness as text, as JSON and as a page. */
#include <math.h>

#include "reports/html_figure.h"
#include "studies/likeness/likeness.h"

#define S_PER_DAY 86400.0

/* ---- Text ---- */

static void put_number(double value, int width, struct buffer *out)
{
    if (isfinite(value))
        buffer_format(out, " %*.6g", width, value);
    else
        buffer_format(out, " %*s", width, "-");
}

static double change(const struct likeness_row *row)
{
    return fabs(row->value[0]) > 0 ? row->value[1] / row->value[0] - 1 : NAN;
}

static void put_row(const struct likeness_row *row, struct buffer *out)
{
    buffer_format(out, "  %-20s", row->name);
    put_number(row->value[0], 14, out);
    put_number(row->value[1], 14, out);
    if (isfinite(change(row)))
        buffer_format(out, " %+9.1f %%", 100 * change(row));
    buffer_char(out, '\n');
}

static void put_test(const struct likeness_test *test, struct buffer *out)
{
    buffer_format(out, "  Kolmogorov-Smirnov D %.4f, p %.3g; Anderson-Darling A^2 %.4g, p %.3g\n", test->ks, test->ks_p,
                  test->ad, test->ad_p);
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

void likeness_text(const struct likeness *likeness, struct buffer *out)
{
    buffer_format(out, "A: %s\nB: %s\n%-22s %14s %14s %11s\n", likeness->sides[0].name, likeness->sides[1].name, "",
                  "A", "B", "B to A");
    for (size_t r = 0; r < likeness->row_count; r++) {
        const struct likeness_row *row = &likeness->rows[r];
        if (r == 0 || likeness->rows[r - 1].group != row->group)
            buffer_format(out, "%s\n", row->group);
        put_row(row, out);
        const struct likeness_test *test = test_of(likeness, row->group);
        if (test != NULL && is_last_of_group(likeness, r))
            put_test(test, out);
    }
}

/* ---- JSON ---- */

void likeness_json(const struct likeness *likeness, struct buffer *out)
{
    buffer_string(out, "{\"a\": ");
    buffer_json(out, text_of(likeness->sides[0].name));
    buffer_string(out, ", \"b\": ");
    buffer_json(out, text_of(likeness->sides[1].name));
    for (size_t r = 0; r < likeness->row_count; r++) {
        const struct likeness_row *row = &likeness->rows[r];
        if (r == 0 || likeness->rows[r - 1].group != row->group)
            buffer_format(out, ",\n \"%s\": {", row->group);
        else
            buffer_string(out, ", ");
        buffer_format(out, "\"%s\": [", row->name);
        buffer_double(out, row->value[0]);
        buffer_string(out, ", ");
        buffer_double(out, row->value[1]);
        buffer_char(out, ']');
        const struct likeness_test *test = test_of(likeness, row->group);
        if (test != NULL && is_last_of_group(likeness, r)) {
            const double numbers[] = {test->ks, test->ks_p, test->ad, test->ad_p};
            static const char *const names[] = {"ks", "ks_p", "ad", "ad_p"};
            for (int i = 0; i < 4; i++) {
                buffer_format(out, ", \"%s\": ", names[i]);
                buffer_double(out, numbers[i]);
            }
        }
        if (is_last_of_group(likeness, r))
            buffer_char(out, '}');
    }
    buffer_string(out, "}\n");
}

/* ---- The page ---- */

enum { POINTS_MAX = 400 };

struct curve {
    double x[POINTS_MAX + 2], y[POINTS_MAX + 2];
    size_t count;
};

/* Part of the jobs up to each value, in percent. */
static void curve_of_values(const double *sorted, size_t count, double least, struct curve *curve)
{
    curve->count = 0;
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

static void draw(const struct likeness *likeness, const struct curve curves[2], struct plot plot, const char *y_text,
                 const char *x_text, struct buffer *out)
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
    buffer_string(out, "<section><h2>");
    html_name(out, plot.title);
    buffer_string(out, "</h2>\n");
    html_drawing(&plot, NULL, y_text, x_text, out);
    buffer_string(out, "</section>\n");
}

static void draw_values(const struct likeness *likeness, enum likeness_series series, struct buffer *out)
{
    static const char *const titles[] = {"Run time", "GPUs of a job", "Time between submissions"};
    static const char *const axes[] = {"run time", "GPUs", "gap"};
    static const char *const ids[] = {"runtimes", "gpus", "gaps"};
    const bool is_time = series != LIKENESS_GPUS;
    struct curve curves[2];
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
    draw(likeness, curves, plot, "share of jobs", axes[series], out);
}

/* Jobs per day over the span of each, in at most POINTS_MAX parts of whole days. */
static void curve_of_days(const struct likeness_side *side, double span_days, struct curve *curve)
{
    const double step_days = ceil(fmax(1, span_days / POINTS_MAX)), step_s = step_days * S_PER_DAY;
    size_t at = 0;
    curve->count = 0;
    for (double from_s = side->submit_s[0]; curve->count < POINTS_MAX && at < side->count; from_s += step_s) {
        const size_t first = at;
        while (at < side->count && side->submit_s[at] < from_s + step_s)
            at++;
        curve->x[curve->count] = (from_s - side->submit_s[0]) / S_PER_DAY;
        curve->y[curve->count++] = (double)(at - first) / step_days;
    }
}

static void draw_days(const struct likeness *likeness, struct buffer *out)
{
    double span = 0, high = 0;
    struct curve curves[2];
    for (int i = 0; i < 2; i++) {
        const struct likeness_side *side = &likeness->sides[i];
        span = fmax(span, (side->submit_s[side->count - 1] - side->submit_s[0]) / S_PER_DAY);
    }
    for (int i = 0; i < 2; i++) {
        curve_of_days(&likeness->sides[i], span, &curves[i]);
        high = fmax(high, html_highest(curves[i].y, curves[i].count));
    }
    const struct plot plot = {.title = "Jobs per day",
                              .description = "Jobs submitted on each day since the first submission.",
                              .id = "days",
                              .x_min = 0,
                              .x_max = fmax(1, span),
                              .y_max = html_scale_end(high)};
    draw(likeness, curves, plot, "jobs per day", "days", out);
}

static void page_cell(double value, struct buffer *out)
{
    if (isfinite(value))
        buffer_format(out, "<td>%.6g</td>", value);
    else
        buffer_string(out, "<td>-</td>");
}

static void page_table(const struct likeness *likeness, struct buffer *out)
{
    buffer_string(out,
                  "<section><h2>Numbers</h2>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">number</th>");
    for (int i = 0; i < 2; i++) {
        buffer_string(out, "<th scope=\"col\">");
        html_name(out, likeness->sides[i].name);
        buffer_string(out, "</th>");
    }
    buffer_string(out, "<th scope=\"col\">change</th></tr></thead><tbody>\n");
    for (size_t r = 0; r < likeness->row_count; r++) {
        const struct likeness_row *row = &likeness->rows[r];
        buffer_format(out, "<tr><th scope=\"row\">%s %s</th>", row->group, row->name);
        page_cell(row->value[0], out);
        page_cell(row->value[1], out);
        if (isfinite(change(row)))
            buffer_format(out, "<td>%+.1f %%</td></tr>\n", 100 * change(row));
        else
            buffer_string(out, "<td>-</td></tr>\n");
    }
    buffer_string(out, "</tbody></table></div>\n");
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++) {
        buffer_format(out, "<p class=\"sub\">%s:", likeness_series_names[s]);
        put_test(&likeness->tests[s], out);
        buffer_string(out, "</p>\n");
    }
    buffer_string(out, "</section>\n");
}

void likeness_page(const struct likeness *likeness, const char *title, struct buffer *out)
{
    html_page_open(title, out);
    buffer_string(out, "<h1>");
    html_name(out, title);
    buffer_string(out, "</h1>\n");
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++)
        draw_values(likeness, s, out);
    draw_days(likeness, out);
    page_table(likeness, out);
    html_page_close(out);
}
