/* reports/html_plots.c -- the run's curves over time: each a drawing and the table of its data. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/html_inside.h"
#include "reports/view.h"

static void utilization(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                        struct buffer *out)
{
    double gpus = (double)metrics_facts(metrics)->gpu_count;
    double top = html_scale_end(fmax(gpus, html_highest(curves->recorded, curves->count)) * 1.02);
    double capacity_x[2], capacity_y[2];
    double warmup_x[2], warmup_y[2];
    struct plot_series series[7] = {
        {.label = "allocated",
         .x = curves->time,
         .y = curves->allocated,
         .count = curves->count,
         .colour = PLOT_SKY,
         .is_filled = true},
        {.label = "SM-active",
         .x = curves->time,
         .y = curves->active,
         .count = curves->count,
         .colour = PLOT_BLUE,
         .is_filled = true},
        {.label = "reserved", .x = curves->time, .y = curves->reserved, .count = curves->count, .colour = PLOT_ORANGE},
        html_capacity_series(metrics, curves, capacity_x, capacity_y),
    };
    size_t count = 4;
    bool has_active = isfinite(metrics_value(metrics, "sm_active_ratio"));
    if (!has_active)
        memmove(&series[1], &series[2], --count * sizeof series[0]);
    if (html_highest(curves->down, curves->count) > 0)
        series[count++] = (struct plot_series){
            .label = "down", .x = curves->time, .y = curves->down, .count = curves->count, .colour = PLOT_VERMILLION};
    const bool has_record = isfinite(metrics_value(metrics, "recorded_allocation_ratio"));
    if (has_record)
        series[count++] = (struct plot_series){.label = "by the record",
                                               .x = curves->time,
                                               .y = curves->recorded,
                                               .count = curves->count,
                                               .colour = PLOT_PINK};
    if (html_warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
        count++;
    struct plot plot = {
        .title = "Utilization over time",
        .description = "GPUs in use and reserved over the run, against the "
                       "capacity of the cluster; the data are in the table below.",
        .id = "utilization",
        .series = series,
        .series_count = count,
        .x_max = curves->end,
        .y_max = top,
    };
    const char *heads[5] = {"allocated", "reserved", "down"};
    const double *columns[5] = {curves->allocated, curves->reserved, curves->down};
    size_t columns_count = 3;
    if (has_active) {
        heads[columns_count] = "SM-active";
        columns[columns_count++] = curves->active;
    }
    if (has_record) {
        heads[columns_count] = "by the record";
        columns[columns_count++] = curves->recorded;
    }
    buffer_string(out, "<section><h2>Utilization over time</h2>\n<p class=\"note\">Means over each "
                       "interval. ");
    buffer_string(out, has_active ? "SM-active is what the allocated GPUs computed on: the gap between the "
                                    "two is GPU time held but not used.</p>\n"
                                  : "The workload does not tell how active the SMs are.</p>\n");
    html_over_time(&plot, curves, tool, "GPUs", columns, heads, columns_count, out);
}

static void free_gpus(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                      struct buffer *out)
{
    static const struct {
        const char *label;
        enum space_curve of;
        enum plot_colour colour;
        bool is_filled;
    } drawn[] = {{"free", SPACE_IDLE, PLOT_SKY, true},
                 {"of no use for typical jobs", SPACE_FRAGMENTED, PLOT_VERMILLION, true},
                 {"of no use for those that wait", SPACE_STRANDED, PLOT_BLACK, false},
                 {"in whole nodes of 8", SPACE_GANG, PLOT_GREEN, false}};
    double top = html_scale_end(html_highest(curves->space[SPACE_IDLE], curves->count) * 1.02);
    double warmup_x[2], warmup_y[2];
    struct plot_series series[5];
    size_t count = 0;
    for (; count < 4; count++)
        series[count] = (struct plot_series){.label = drawn[count].label,
                                             .x = curves->time,
                                             .y = curves->space[drawn[count].of],
                                             .count = curves->count,
                                             .colour = drawn[count].colour,
                                             .is_filled = drawn[count].is_filled};
    if (html_warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
        count++;
    struct plot plot = {
        .title = "Free GPUs over time",
        .description = "GPUs that were free, and those of them that are of no use for the jobs "
                       "that usually come or that waited; the data are in the table below.",
        .id = "free",
        .series = series,
        .series_count = count,
        .x_max = curves->end,
        .y_max = top,
    };
    static const char *const heads[SPACE_COUNT] = {"free",
                                                   "of no use for typical jobs",
                                                   "of no use for those that wait",
                                                   "in whole nodes of 8",
                                                   "no GPU asked",
                                                   "type",
                                                   "CPUs, memory",
                                                   "GPU count",
                                                   "share",
                                                   "MIG geometry",
                                                   "topology"};
    buffer_string(out, "<section><h2>Free GPUs over time</h2>\n<p class=\"note\">Means of the samples. "
                       "What is of no use for typical jobs, the kinds that 95 % of the workload's "
                       "members are of, is told by cause in the table.</p>\n");
    html_over_time(&plot, curves, tool, "GPUs", (const double *const *)curves->space, heads, SPACE_COUNT, out);
}

static void queue_length(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                         struct buffer *out)
{
    double top = html_scale_end(html_highest(curves->pending, curves->count) * 1.02);
    double warmup_x[2], warmup_y[2];
    struct plot_series series[2] = {
        {.label = "pending jobs",
         .x = curves->time,
         .y = curves->pending,
         .count = curves->count,
         .colour = PLOT_VERMILLION,
         .is_filled = true},
    };
    size_t count = 1;
    if (html_warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
        count++;
    struct plot plot = {
        .title = "Queue length over time",
        .description = "Jobs that waited, over the run; the data are in the table below.",
        .id = "pending",
        .series = series,
        .series_count = count,
        .x_max = curves->end,
        .y_max = top,
    };
    static const char *const heads[] = {"pending jobs"};
    const double *columns[] = {curves->pending};
    buffer_string(out, "<section><h2>Queue length over time</h2>\n<p class=\"note\">Jobs that waited, "
                       "the mean over each interval.</p>\n");
    html_over_time(&plot, curves, tool, "jobs", columns, heads, 1, out);
}

void html_plots(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out)
{
    struct html_curves curves = html_curves_new(metrics, 0);
    const bool has_time = curves.count > 0 && curves.end > 0; /* else the run ended at once */
    plot_clean(tool);
    if (has_time)
        utilization(metrics, &curves, tool, out);
    if (has_time)
        html_spent(metrics, &curves, tool, out);
    if (has_time && curves.has_space)
        free_gpus(metrics, &curves, tool, out);
    html_waits(metrics, tool, out);
    if (has_time)
        queue_length(metrics, &curves, tool, out);
    mem_free(curves.time);
}
