/* reports/html_spent.c -- what became of the cluster's GPU time: a stack of areas over time, and the table of sums. */
#include <math.h>

#include "base/mem.h"
#include "reports/html_inside.h"
#include "reports/view.h"

enum { BANDS_MAX = 8 };

/* The bands of the stack from the bottom up; what no band covers below the capacity in service is idle. */
static const struct {
    const char *label;
    enum spent_cause causes[2]; /* the second: the same if there is one only */
    enum plot_colour colour;
} bands[BANDS_MAX] = {
    {"useful", {SPENT_USEFUL, SPENT_USEFUL}, PLOT_BLUE},
    {"communication", {SPENT_COMMUNICATION, SPENT_COMMUNICATION}, PLOT_SKY},
    {"neighbours", {SPENT_NEIGHBOURS, SPENT_NEIGHBOURS}, PLOT_YELLOW},
    {"sliced away, repartitioning", {SPENT_SLICED, SPENT_REPARTITION}, PLOT_GREEN},
    {"checkpoints, restarts", {SPENT_RESTART, SPENT_RESTART}, PLOT_ORANGE},
    {"lost work", {SPENT_LOST, SPENT_LOST}, PLOT_VERMILLION},
    {"held, no SM busy", {SPENT_IDLE_HELD, SPENT_IDLE_HELD}, PLOT_PINK},
    {"reserved, down", {SPENT_RESERVED, SPENT_DOWN}, PLOT_BLACK},
};

static double in_band(const struct html_curves *curves, size_t band, size_t i)
{
    const enum spent_cause *causes = bands[band].causes;
    const double first = curves->spent[causes[0]][i];
    return causes[1] == causes[0] ? first : first + curves->spent[causes[1]][i];
}

/* Append the bands with any GPU time to `series`, and return how many there are.  tops: zeros, storage for the edges of
 * BANDS_MAX + 1. */
static size_t stack(const struct html_curves *curves, double *tops, struct plot_series *series)
{
    const double *below = tops; /* 0 */
    size_t count = 0;
    for (size_t band = 0; band < BANDS_MAX; band++) {
        double *const here = tops + (band + 1) * curves->count, high = 0;
        for (size_t i = 0; i < curves->count; i++) {
            here[i] = below[i] + fmax(0, in_band(curves, band, i));
            high = fmax(high, here[i] - below[i]);
        }
        if (!(high > 0))
            continue;
        series[count++] = (struct plot_series){.label = bands[band].label,
                                               .x = curves->time,
                                               .y = here,
                                               .base = below,
                                               .count = curves->count,
                                               .colour = bands[band].colour,
                                               .is_filled = true};
        below = here;
    }
    return count;
}

static void sums(const struct view_spent *spent, size_t count, const char *first, struct buffer *out)
{
    if (count == 0)
        return;
    buffer_format(out,
                  "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">%s</th><th scope=\"col\">GPU h</th>"
                  "<th scope=\"col\">share</th></tr></thead><tbody>\n",
                  first);
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "<tr><th scope=\"row\">%s</th><td>", spent[i].label);
        view_amount(out, spent[i].gpu_h);
        buffer_string(out, "</td><td>");
        view_percent(out, spent[i].share);
        buffer_string(out, "</td></tr>\n");
    }
    buffer_string(out, "</tbody></table></div>\n");
}

static void drawing(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                    struct buffer *out)
{
    double *tops = mem_zalloc((BANDS_MAX + 1) * curves->count, sizeof *tops);
    const double gpus = (double)metrics_facts(metrics)->gpu_count, top = html_scale_end(gpus * 1.02);
    double capacity_x[2], capacity_y[2];
    double warmup_x[2], warmup_y[2];
    struct plot_series series[BANDS_MAX + 2];
    size_t count = stack(curves, tops, series);
    series[count++] = html_capacity_series(metrics, curves, capacity_x, capacity_y);
    if (html_warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
        count++;
    const struct plot plot = {
        .title = "GPU hours by cause",
        .description = "What became of the GPUs of the cluster over the run, as a stack of areas; the data are in the "
                       "table below.",
        .id = "spent",
        .series = series,
        .series_count = count,
        .x_max = curves->end,
        .y_max = top,
    };
    html_over_time(&plot, curves, tool, "GPUs", (const double *const *)curves->spent, view_spent_labels, SPENT_COUNT,
                   out);
    mem_free(tops);
}

void html_spent(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                struct buffer *out)
{
    struct view_spent spent[SPENT_COUNT], lost[LOST_CAUSE_COUNT];
    const size_t count = view_spent(metrics, spent);
    if (count == 0)
        return;
    buffer_string(
        out, "<section><h2>GPU hours by cause</h2>\n<p class=\"note\">What became of all GPU time of the "
             "cluster. Useful is work at the speed of the trace that was not thrown away. What is blank below "
             "the capacity is idle. Work counts as lost when it is thrown away; what exceeds the useful work of that "
             "interval stands in the intervals before.</p>\n");
    sums(spent, count, "cause", out);
    const size_t lost_count = view_lost(metrics, lost);
    if (lost_count > 0)
        buffer_string(out, "<h3>Lost work, checkpoints and restarts</h3>\n");
    sums(lost, lost_count, "of the counted jobs", out);
    drawing(metrics, curves, tool, out);
}
