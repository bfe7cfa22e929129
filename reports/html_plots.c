/* reports/html_plots.c -- the run's curves: each a drawing and the table of its data. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/html_inside.h"
#include "reports/view.h"

enum { POINTS_MAX = 480, TABLE_ROWS_MAX = 28, CDF_POINTS = 2001, CDF_DRAWN = 400 };

/* ---- figures ---- */

static void legend(const struct plot *plot, struct buffer *out)
{
    buffer_string(out, "<ul class=\"legend\" aria-hidden=\"true\">");
    for (size_t i = 0; i < plot->series_count; i++) {
        const struct plot_series *series = &plot->series[i];
        buffer_format(out, "<li class=\"c%d\"><i%s></i>", (int)series->colour,
                      series->is_dashed ? " class=\"dash\"" : "");
        buffer_html(out, text_of(series->label));
        buffer_string(out, "</li>");
    }
    buffer_string(out, "</ul>\n");
}

/* The drawing, or a text why there is none. */
static void drawing(const struct plot *plot, const struct plot_tool *tool, const char *y_text, const char *x_text,
                    struct buffer *out)
{
    struct buffer svg = {0};
    struct error error = plot_svg(plot, tool, &svg);
    if (error_is(error)) {
        buffer_string(out, "<p class=\"warn\">No drawing: ");
        buffer_html(out, text_of(error_message(&error)));
        buffer_string(out, ". The table below holds the data.</p>\n");
        error_release(&error);
    } else {
        legend(plot, out);
        buffer_format(out, "<figure><figcaption><span>%s</span></figcaption>\n", y_text);
        buffer_bytes(out, svg.bytes, svg.length);
        buffer_format(out, "<figcaption><span></span><span>%s</span></figcaption></figure>\n", x_text);
    }
    buffer_release(&svg);
}

static void data_open(bool is_open, const char *first, struct buffer *out)
{
    buffer_format(out,
                  "<details%s><summary>Data</summary><div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">%s</th>",
                  is_open ? " open" : "", first);
}

static void data_close(struct buffer *out)
{
    buffer_string(out, "</tbody></table></div></details>\n");
}

static bool has_drawing(const struct buffer *out, size_t from)
{
    return memmem(out->bytes + from, out->length - from, "<svg ", 5) != NULL;
}

/* ---- over time ---- */

/* Usability of free GPUs. */
enum space_curve {
    SPACE_IDLE,
    SPACE_FRAGMENTED,
    SPACE_STRANDED,
    SPACE_GANG,
    SPACE_CAUSES,
    SPACE_COUNT = SPACE_CAUSES + RECORD_CAUSE_COUNT
};

struct curves {
    size_t count;
    double *time;                                           /* in units of the axis; middle of each interval */
    double *allocated, *active, *reserved, *down, *pending; /* means over the interval */
    double *space[SPACE_COUNT];                             /* means of the samples in the interval, in GPUs */
    bool has_space;
    double unit_s;    /* of the axis */
    const char *unit; /* "days" */
    double end;       /* in units */
};

static void choose_unit(struct curves *curves, double end_s)
{
    static const struct {
        double above_s, unit_s;
        const char *name;
    } units[] = {{2 * 86400.0, 86400, "days"}, {2 * 3600.0, 3600, "hours"}, {120, 60, "minutes"}};
    curves->unit_s = 1;
    curves->unit = "seconds";
    for (size_t i = 0; i < 3; i++)
        if (end_s > units[i].above_s) {
            curves->unit_s = units[i].unit_s;
            curves->unit = units[i].name;
            break;
        }
    curves->end = end_s / curves->unit_s;
}

/* A mean over an interval is a difference of the running integrals, so it is exact for any width. */
static void add_interval(struct curves *curves, const struct timeline_row *from, const struct timeline_row *to)
{
    double start_s = time_to_seconds(from->time), end_s = time_to_seconds(to->time);
    double span_s = end_s - start_s;
    size_t i = curves->count++;
    curves->time[i] = (start_s + end_s) / 2 / curves->unit_s;
    curves->allocated[i] = (to->allocated_gpu_s - from->allocated_gpu_s) / span_s;
    curves->active[i] = (to->active_gpu_s - from->active_gpu_s) / span_s;
    curves->reserved[i] = (to->reserved_gpu_s - from->reserved_gpu_s) / span_s;
    curves->down[i] = (to->down_gpu_s - from->down_gpu_s) / span_s;
    curves->pending[i] = (to->pending_job_s - from->pending_job_s) / span_s;
}

static void space_sum(double sum[SPACE_COUNT], const struct space_row *row)
{
    sum[SPACE_IDLE] += (double)row->idle_gpu_milli / GPU_MILLI;
    sum[SPACE_FRAGMENTED] += space_fragmented_gpus(row);
    sum[SPACE_STRANDED] += (double)row->stranded_gpu_milli / GPU_MILLI;
    sum[SPACE_GANG] += (double)row->gang_gpus[RECORD_GANG_SIZE_COUNT - 1];
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        sum[SPACE_CAUSES + c] += row->fragmented_gpus[c];
}

static struct curves curves_new(const struct metrics *metrics)
{
    static const struct timeline_row run_start = {0};
    size_t count;
    const struct timeline_row *samples = metrics_samples(metrics, &count);
    double *numbers = mem_zalloc((6 + SPACE_COUNT) * (POINTS_MAX + 1), sizeof *numbers);
    struct curves curves = {.time = numbers};
    double **columns[] = {&curves.allocated, &curves.active, &curves.reserved, &curves.down, &curves.pending};
    for (size_t c = 0; c < 5; c++)
        *columns[c] = numbers + (c + 1) * (POINTS_MAX + 1);
    for (size_t c = 0; c < SPACE_COUNT; c++)
        curves.space[c] = numbers + (c + 6) * (POINTS_MAX + 1);
    if (count == 0)
        return curves;
    choose_unit(&curves, time_to_seconds(samples[count - 1].time));
    size_t stride = (count + POINTS_MAX - 1) / POINTS_MAX;
    const struct timeline_row *from = &run_start;
    double space[SPACE_COUNT] = {0}, space_samples = 0;
    for (size_t i = 0; i < count; i++) {
        curves.has_space |= samples[i].space.is_known;
        space_sum(space, &samples[i].space);
        space_samples++;
        bool is_kept = i % stride == stride - 1 || i + 1 == count;
        if (!is_kept || samples[i].time <= from->time)
            continue;
        for (size_t c = 0; c < SPACE_COUNT; c++) {
            curves.space[c][curves.count] = space[c] / space_samples;
            space[c] = 0;
        }
        space_samples = 0;
        add_interval(&curves, from, &samples[i]);
        from = &samples[i];
    }
    return curves;
}

/* The end of a scale: 1, 2, 2.5, 4, 5, 8 or 10 times a power of ten, at least `high`. */
static double scale_end(double high)
{
    static const double steps[] = {1, 2, 2.5, 4, 5, 8, 10};
    if (!(high > 0))
        return 1;
    double power = pow(10, floor(log10(high)));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i] * power >= high * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

static double highest(const double *values, size_t count)
{
    double high = 0;
    for (size_t i = 0; i < count; i++)
        high = fmax(high, values[i]);
    return high;
}

/* The end of the warm-up, as an upright line of two points. */
static bool warmup_series(const struct metrics *metrics, const struct curves *curves, double top, double x[2],
                          double y[2], struct plot_series *series)
{
    double at = time_to_seconds(metrics_facts(metrics)->warmup) / curves->unit_s;
    if (!(at > 0 && at < curves->end))
        return false;
    x[0] = x[1] = at;
    y[0] = 0;
    y[1] = top;
    *series = (struct plot_series){
        .label = "end of the warm-up", .x = x, .y = y, .count = 2, .colour = PLOT_PINK, .is_dashed = true};
    return true;
}

static void time_table(const struct curves *curves, const double *const *columns, const char *const *heads,
                       size_t column_count, bool is_open, struct buffer *out)
{
    data_open(is_open, curves->unit, out);
    for (size_t c = 0; c < column_count; c++)
        buffer_format(out, "<th scope=\"col\">%s</th>", heads[c]);
    buffer_string(out, "</tr></thead><tbody>\n");
    size_t stride = (curves->count + TABLE_ROWS_MAX - 1) / TABLE_ROWS_MAX;
    for (size_t i = 0; i < curves->count; i += stride) {
        buffer_format(out, "<tr><td>%.2f</td>", curves->time[i]);
        for (size_t c = 0; c < column_count; c++) {
            buffer_string(out, "<td>");
            view_amount(out, columns[c][i]);
            buffer_string(out, "</td>");
        }
        buffer_string(out, "</tr>\n");
    }
    data_close(out);
}

static void x_caption(const struct curves *curves, struct buffer *out)
{
    buffer_format(out, "%s since the start", curves->unit);
}

/* Close a section: the drawing, and its numbers. */
static void draw_over_time(const struct plot *plot, const struct curves *curves, const struct plot_tool *tool,
                           const char *y_text, const double *const *columns, const char *const *heads,
                           size_t column_count, struct buffer *out)
{
    size_t from = out->length;
    struct buffer caption = {0};
    x_caption(curves, &caption);
    drawing(plot, tool, y_text, buffer_c_string(&caption), out);
    buffer_release(&caption);
    time_table(curves, columns, heads, column_count, !has_drawing(out, from), out);
    buffer_string(out, "</section>\n");
}

static void utilization(const struct metrics *metrics, const struct curves *curves, const struct plot_tool *tool,
                        struct buffer *out)
{
    double gpus = (double)metrics_facts(metrics)->gpu_count;
    double top = scale_end(gpus * 1.02);
    double capacity_x[2] = {0, curves->end}, capacity_y[2] = {gpus, gpus};
    double warmup_x[2], warmup_y[2];
    struct plot_series series[6] = {
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
        {.label = "capacity", .x = capacity_x, .y = capacity_y, .count = 2, .colour = PLOT_BLACK},
    };
    size_t count = 4;
    bool has_active = isfinite(metrics_value(metrics, "sm_active_ratio"));
    if (!has_active)
        memmove(&series[1], &series[2], --count * sizeof series[0]);
    if (highest(curves->down, curves->count) > 0)
        series[count++] = (struct plot_series){
            .label = "down", .x = curves->time, .y = curves->down, .count = curves->count, .colour = PLOT_VERMILLION};
    if (warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
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
    static const char *const heads[] = {"allocated", "reserved", "down", "SM-active"};
    const double *columns[] = {curves->allocated, curves->reserved, curves->down, curves->active};
    buffer_string(out, "<section><h2>Utilization over time</h2>\n<p class=\"note\">Means over each "
                       "interval. ");
    buffer_string(out, has_active ? "SM-active is what the allocated GPUs computed on: the gap between the "
                                    "two is GPU time held but not used.</p>\n"
                                  : "The workload does not tell how active the SMs are.</p>\n");
    draw_over_time(&plot, curves, tool, "GPUs", columns, heads, has_active ? 4 : 3, out);
}

static void free_gpus(const struct metrics *metrics, const struct curves *curves, const struct plot_tool *tool,
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
    double top = scale_end(highest(curves->space[SPACE_IDLE], curves->count) * 1.02);
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
    if (warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
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
    draw_over_time(&plot, curves, tool, "GPUs", (const double *const *)curves->space, heads, SPACE_COUNT, out);
}

static void queue_length(const struct metrics *metrics, const struct curves *curves, const struct plot_tool *tool,
                         struct buffer *out)
{
    double top = scale_end(highest(curves->pending, curves->count) * 1.02);
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
    if (warmup_series(metrics, curves, top, warmup_x, warmup_y, &series[count]))
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
    draw_over_time(&plot, curves, tool, "jobs", columns, heads, 1, out);
}

/* ---- queue times ---- */

struct distribution {
    const char *label;
    enum plot_colour colour;
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

static void distribution_init(struct distribution *distribution, const struct metrics *metrics, int class,
                              struct arena *arena)
{
    static const enum plot_colour colours[] = {PLOT_BLACK, PLOT_BLUE, PLOT_GREEN, PLOT_VERMILLION};
    *distribution = (struct distribution){
        .label = class < 0 ? "all" : job_class_names[class],
        .colour = colours[class + 1],
        .wait_s = arena_alloc_array(arena, CDF_POINTS, double),
        .ratio = arena_alloc_array(arena, CDF_POINTS, double),
        .x = arena_alloc_array(arena, CDF_POINTS + 2, double),
        .y = arena_alloc_array(arena, CDF_POINTS + 2, double),
    };
    distribution->count = metrics_wait_cdf(metrics, class, distribution->wait_s, distribution->ratio, CDF_POINTS);
}

static void share_table(const struct distribution *distributions, size_t count, bool is_open, struct buffer *out)
{
    static const struct {
        const char *text;
        double wait_s;
    } marks[] = {{"0 s", 0},     {"1 s", 1},     {"10 s", 10},    {"1 min", 60},   {"10 min", 600},  {"1 h", 3600},
                 {"6 h", 21600}, {"1 d", 86400}, {"3 d", 259200}, {"1 w", 604800}, {"30 d", 2592000}};
    data_open(is_open, "waited at most", out);
    for (size_t d = 0; d < count; d++)
        buffer_format(out, "<th scope=\"col\">%s</th>", distributions[d].label);
    buffer_string(out, "</tr></thead><tbody>\n");
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++) {
        buffer_format(out, "<tr><td>%s</td>", marks[m].text);
        for (size_t d = 0; d < count; d++)
            buffer_format(out, "<td>%.1f %%</td>", 100 * share_at(&distributions[d], marks[m].wait_s));
        buffer_string(out, "</tr>\n");
    }
    data_close(out);
}

static void queue_times(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out)
{
    struct arena arena = {0};
    struct distribution distributions[JOB_CLASS_COUNT + 1];
    struct plot_series series[JOB_CLASS_COUNT + 1];
    size_t count = 0;
    double longest_s = 10;
    for (int class = JOB_CLASS_COUNT - 1; class >= -1; class --) {
        struct distribution *distribution = &distributions[count];
        distribution_init(distribution, metrics, class, &arena);
        if (distribution->count == 0)
            continue;
        longest_s = fmax(longest_s, distribution->wait_s[distribution->count - 1]);
        count++;
    }
    for (size_t d = 0; d < count; d++) {
        distribution_draw(&distributions[d], longest_s);
        series[d] = (struct plot_series){.label = distributions[d].label,
                                         .x = distributions[d].x,
                                         .y = distributions[d].y,
                                         .count = distributions[d].drawn,
                                         .colour = distributions[d].colour,
                                         .is_dashed = distributions[d].colour == PLOT_BLACK};
    }
    struct plot plot = {
        .title = "Queue time",
        .description = "Share of jobs, by class, that waited at most so long before their first "
                       "start; the data are in the table below.",
        .id = "waits",
        .series = series,
        .series_count = count,
        .x_kind = PLOT_X_DURATION_LOG,
        .y_kind = PLOT_Y_PERCENT,
        .x_min = 1,
        .x_max = longest_s,
        .y_max = 100,
    };
    if (count > 0) {
        buffer_string(out, "<section><h2>Queue time</h2>\n<p class=\"note\">Share of jobs that waited at "
                           "most so long, from eligible to first start. Jobs still waiting at the end count "
                           "with the wait they had so far.</p>\n");
        size_t from = out->length;
        drawing(&plot, tool, "share of jobs", "queue time", out);
        share_table(distributions, count, !has_drawing(out, from), out);
        buffer_string(out, "</section>\n");
    }
    arena_release(&arena);
}

void html_plots(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out)
{
    struct curves curves = curves_new(metrics);
    const bool has_time = curves.count > 0 && curves.end > 0; /* else the run ended at once */
    if (has_time)
        utilization(metrics, &curves, tool, out);
    if (has_time && curves.has_space)
        free_gpus(metrics, &curves, tool, out);
    queue_times(metrics, tool, out);
    if (has_time)
        queue_length(metrics, &curves, tool, out);
    mem_free(curves.time);
}
