/* reports/html_waits.c -- queue times as cumulative distributions. */
#include <math.h>

#include "base/mem.h"
#include "reports/html_inside.h"

enum { CDF_POINTS = 2001, CDF_DRAWN = 400 };

struct distribution {
    const struct html_waits_line *line;
    double *wait_s, *ratio; /* as metrics_wait_cdf gives them */
    size_t count;
    double *x, *y; /* as drawn: x from 1 s up, y in percent */
    size_t drawn;
};

/* The share of jobs that waited at most this long. */
static double share_at(const struct distribution *distribution, double wait_s)
{
    double share = 0;
    for (size_t i = 0; i < distribution->count && distribution->wait_s[i] <= wait_s; i++)
        share = distribution->ratio[i];
    return share;
}

static void distribution_draw(struct distribution *distribution, double x_max)
{
    size_t stride = (distribution->count + CDF_DRAWN - 1) / CDF_DRAWN;
    distribution->x[0] = 1;
    distribution->y[0] = 100 * share_at(distribution, 1);
    distribution->drawn = 1;
    for (size_t i = 0; i < distribution->count; i++) {
        if (distribution->wait_s[i] <= 1 || (i % stride != 0 && i + 1 != distribution->count))
            continue;
        distribution->x[distribution->drawn] = distribution->wait_s[i];
        distribution->y[distribution->drawn++] = 100 * distribution->ratio[i];
    }
    distribution->x[distribution->drawn] = x_max;
    distribution->y[distribution->drawn++] = 100;
}

static void distribution_init(struct distribution *distribution, const struct html_waits_line *line,
                              struct arena *arena)
{
    *distribution = (struct distribution){
        .line = line,
        .wait_s = arena_alloc_array(arena, CDF_POINTS, double),
        .ratio = arena_alloc_array(arena, CDF_POINTS, double),
        .x = arena_alloc_array(arena, CDF_POINTS + 2, double),
        .y = arena_alloc_array(arena, CDF_POINTS + 2, double),
    };
    distribution->count =
        metrics_wait_cdf(line->metrics, line->class, distribution->wait_s, distribution->ratio, CDF_POINTS);
}

static void share_table(const struct distribution *distributions, size_t count, bool is_open, struct buffer *out)
{
    static const struct {
        const char *text;
        double wait_s;
    } marks[] = {{"0 s", 0},     {"1 s", 1},     {"10 s", 10},    {"1 min", 60},   {"10 min", 600},  {"1 h", 3600},
                 {"6 h", 21600}, {"1 d", 86400}, {"3 d", 259200}, {"1 w", 604800}, {"30 d", 2592000}};
    html_data_open(is_open, "waited at most", out);
    for (size_t d = 0; d < count; d++) {
        buffer_string(out, "<th scope=\"col\">");
        html_name(out, distributions[d].line->label);
        buffer_string(out, "</th>");
    }
    buffer_string(out, "</tr></thead><tbody>\n");
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++) {
        buffer_format(out, "<tr><td>%s</td>", marks[m].text);
        for (size_t d = 0; d < count; d++)
            buffer_format(out, "<td>%.1f %%</td>", 100 * share_at(&distributions[d], marks[m].wait_s));
        buffer_string(out, "</tr>\n");
    }
    html_data_close(out);
}

bool html_waits_draw(const struct html_waits_line *lines, size_t line_count, const struct plot *about,
                     const struct plot_tool *tool, struct buffer *out)
{
    struct arena arena = {0};
    struct distribution distributions[PLOT_SERIES_MAX];
    struct plot_series series[PLOT_SERIES_MAX];
    size_t count = 0;
    double longest_s = 10;
    for (size_t i = 0; i < line_count && count < PLOT_SERIES_MAX; i++) {
        struct distribution *distribution = &distributions[count];
        distribution_init(distribution, &lines[i], &arena);
        if (distribution->count == 0)
            continue;
        longest_s = fmax(longest_s, distribution->wait_s[distribution->count - 1]);
        count++;
    }
    for (size_t d = 0; d < count; d++) {
        distribution_draw(&distributions[d], longest_s);
        series[d] = (struct plot_series){.label = distributions[d].line->label,
                                         .x = distributions[d].x,
                                         .y = distributions[d].y,
                                         .count = distributions[d].drawn,
                                         .colour = distributions[d].line->colour,
                                         .is_dashed = distributions[d].line->is_dashed};
    }
    struct plot plot = *about;
    plot.series = series;
    plot.series_count = count;
    plot.x_kind = PLOT_X_DURATION_LOG;
    plot.y_kind = PLOT_Y_PERCENT;
    plot.x_min = 1;
    plot.x_max = longest_s;
    plot.y_max = 100;
    if (count > 0) {
        size_t from = out->length;
        html_drawing(&plot, tool, "share of jobs", "queue time", out);
        share_table(distributions, count, !html_has_drawing(out, from), out);
    }
    arena_release(&arena);
    return count > 0;
}

void html_waits(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out)
{
    static const enum plot_colour colours[] = {PLOT_BLACK, PLOT_BLUE, PLOT_GREEN, PLOT_VERMILLION};
    static const struct plot about = {
        .title = "Queue time",
        .description = "Share of jobs, by class, that waited at most so long before their first "
                       "start; the data are in the table below.",
        .id = "waits",
    };
    struct html_waits_line lines[JOB_CLASS_COUNT + 1];
    size_t count = 0;
    for (int class = JOB_CLASS_COUNT - 1; class >= -1; class --)
        lines[count++] = (struct html_waits_line){.label = class < 0 ? "all" : job_class_names[class],
                                                  .metrics = metrics,
                                                  .class = class,
                                                  .colour = colours[class + 1],
                                                  .is_dashed = class < 0};
    const size_t from = out->length;
    buffer_string(out, "<section><h2>Queue time</h2>\n<p class=\"note\">Share of jobs that waited at "
                       "most so long, from eligible to first start. Jobs still waiting at the end count "
                       "with the wait they had so far.</p>\n");
    if (html_waits_draw(lines, count, &about, tool, out))
        buffer_string(out, "</section>\n");
    else
        out->length = from;
}
