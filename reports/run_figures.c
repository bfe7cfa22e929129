#include "reports/run_figures.h"

#include <math.h>
#include <stdio.h>

#include "reports/run_curves.h"
#include "reports/view.h"

const struct run_figure run_figures[] = {
    {"timeline", "utilization"}, {"waterfall", "waterfall"}, {"free-gpus", "free"}, {"queue-length", "pending"},
    {"gpu-hours", "spent"},      {"queue-times", "waits"},   {NULL, NULL}};

enum { LABEL_WIDTH = 40, BANDS_MAX = 8, CDF_POINTS = 2001, CDF_DRAWN = 400 };

static void add_section(struct show *show, const char *title, const char *note)
{
    show_section(show, title);
    buffer_string(show_line(show, SHOW_NOTE), note);
}

/* ---- over time ---- */

/* Adds the end of the warm-up and the axes: x is time, y begins at 0. */
static void add_over_time(struct show *show, const struct metrics *metrics, const struct run_curves *curves,
                          struct plot_series *series, size_t count, double high, struct show_figure figure)
{
    char x_text[40];
    figure.plot.y_max = show_scale_end(high);
    count += run_warmup_series(metrics, curves, figure.plot.y_max, show_numbers(show, 4), &series[count]);
    figure.plot.series = series;
    figure.plot.series_count = count;
    figure.plot.x_max = fmax(figure.plot.x_max, curves->end);
    snprintf(x_text, sizeof x_text, "%s since the start", curves->unit);
    figure.x_text = x_text;
    figure.first = curves->unit;
    show_figure(show, &figure);
}

static struct plot_series series_of(const struct run_curves *curves, const char *label, const double *y,
                                    enum plot_colour colour, bool is_filled)
{
    return (struct plot_series){
        .label = label, .x = curves->time, .y = y, .count = curves->count, .colour = colour, .is_filled = is_filled};
}

static void add_utilization(struct show *show, const struct metrics *metrics, const struct run_curves *curves)
{
    const bool has_active = isfinite(metrics_value(metrics, "sm_active_ratio"));
    struct plot_series series[9];
    size_t count = 0;
    series[count++] = series_of(curves, "allocated", curves->allocated, PLOT_SKY, true);
    if (has_active) {
        series[count++] = series_of(curves, "GPU_UTIL", curves->kernel, PLOT_GREEN, false);
        series[count++] = series_of(curves, "SM-active", curves->active, PLOT_BLUE, true);
    }
    series[count++] = series_of(curves, "reserved", curves->reserved, PLOT_ORANGE, false);
    series[count++] = run_capacity_series(metrics, curves, show_numbers(show, 4));
    if (show_highest(curves->down, curves->count) > 0)
        series[count++] = series_of(curves, "down", curves->down, PLOT_VERMILLION, false);
    if (isfinite(metrics_value(metrics, "recorded_allocation_ratio")))
        series[count++] = series_of(curves, "by the record", curves->recorded, PLOT_PINK, false);
    add_section(show, "Utilization over time",
                has_active ? "Means over each interval. GPU_UTIL is the time in which a kernel is on a GPU; SM-active "
                             "counts the SMs that are busy. What lies above them is GPU time held but not used."
                           : "Means over each interval. The workload does not tell how active the SMs are.");
    add_over_time(show, metrics, curves, series, count,
                  1.02 * fmax((double)metrics_facts(metrics)->gpu_count, show_highest(curves->recorded, curves->count)),
                  (struct show_figure){.plot = {.title = "Utilization over time",
                                                .description = "GPUs in use and reserved over the run, against the "
                                                               "capacity of the cluster.",
                                                .id = "utilization"},
                                       .y_text = "GPUs"});
}

static void add_free_gpus(struct show *show, const struct metrics *metrics, const struct run_curves *curves)
{
    static const char *const causes[RECORD_CAUSE_COUNT] = {"no GPU asked", "type",         "CPUs, memory", "GPU count",
                                                           "share",        "MIG geometry", "topology"};
    struct plot_series more[RECORD_CAUSE_COUNT];
    struct plot_series series[] = {
        series_of(curves, "free", curves->space[SPACE_IDLE], PLOT_SKY, true),
        series_of(curves, "of no use for typical jobs", curves->space[SPACE_FRAGMENTED], PLOT_VERMILLION, true),
        series_of(curves, "of no use for those that wait", curves->space[SPACE_STRANDED], PLOT_BLACK, false),
        series_of(curves, "in whole nodes of 8", curves->space[SPACE_GANG], PLOT_GREEN, false),
        {0}};
    for (size_t c = 0; c < RECORD_CAUSE_COUNT; c++)
        more[c] = series_of(curves, causes[c], curves->space[SPACE_CAUSES + c], PLOT_BLACK, false);
    add_section(show, "Free GPUs over time",
                "Means of the samples. What is of no use for typical jobs, the kinds that 95 % of the workload's "
                "members are of, is told by cause in the table.");
    add_over_time(show, metrics, curves, series, 4, 1.02 * show_highest(curves->space[SPACE_IDLE], curves->count),
                  (struct show_figure){.plot = {.title = "Free GPUs over time",
                                                .description = "GPUs that were free, and those of them that are of no "
                                                               "use for the jobs that usually come or that waited.",
                                                .id = "free"},
                                       .y_text = "GPUs",
                                       .more = more,
                                       .more_count = RECORD_CAUSE_COUNT});
}

static void add_queue_length(struct show *show, const struct metrics *metrics, const struct run_curves *curves)
{
    struct plot_series series[2] = {series_of(curves, "pending jobs", curves->pending, PLOT_VERMILLION, true)};
    add_section(show, "Queue length over time", "Jobs that waited, the mean over each interval.");
    add_over_time(show, metrics, curves, series, 1, 1.02 * show_highest(curves->pending, curves->count),
                  (struct show_figure){.plot = {.title = "Queue length over time",
                                                .description = "Jobs that waited, over the run.",
                                                .id = "pending"},
                                       .y_text = "jobs"});
}

void run_figures_over_time(struct show *show, const struct metrics *metrics)
{
    const struct run_curves curves = run_curves_of(show, metrics, 0);
    if (curves.count == 0 || !(curves.end > 0)) /* the run ended at once */
        return;
    show_on(show, SHOW_PAGE);
    add_utilization(show, metrics, &curves);
    if (curves.has_space)
        add_free_gpus(show, metrics, &curves);
    add_queue_length(show, metrics, &curves);
    show_on(show, SHOW_ALL);
}

/* ---- GPU time by cause ---- */

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

static double in_band(const struct run_curves *curves, size_t band, size_t i)
{
    const enum spent_cause *causes = bands[band].causes;
    const double first = curves->spent[causes[0]][i];
    return causes[1] == causes[0] ? first : first + curves->spent[causes[1]][i];
}

/* Append the bands with any GPU time to `series`, and return how many there are.  tops: zeros, storage for the edges of
 * BANDS_MAX + 1. */
static size_t stack(const struct run_curves *curves, double *tops, struct plot_series *series)
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
        series[count] = series_of(curves, bands[band].label, here, bands[band].colour, true);
        series[count++].base = below;
        below = here;
    }
    return count;
}

void run_figure_spent(struct show *show, const struct metrics *metrics)
{
    const struct run_curves curves = run_curves_of(show, metrics, 0);
    struct plot_series series[BANDS_MAX + 2], more[SPENT_COUNT];
    if (curves.count == 0 || !(curves.end > 0))
        return;
    size_t count = stack(&curves, show_numbers(show, (BANDS_MAX + 1) * curves.count), series);
    series[count++] = run_capacity_series(metrics, &curves, show_numbers(show, 4));
    for (size_t c = 0; c < SPENT_COUNT; c++)
        more[c] = series_of(&curves, view_spent_labels[c], curves.spent[c], PLOT_BLACK, false);
    show_on(show, SHOW_PAGE);
    add_over_time(show, metrics, &curves, series, count, 1.02 * (double)metrics_facts(metrics)->gpu_count,
                  (struct show_figure){.plot = {.title = "GPU hours by cause",
                                                .description = "What became of the GPUs of the cluster over the run, "
                                                               "as a stack of areas.",
                                                .id = "spent"},
                                       .y_text = "GPUs",
                                       .more = more,
                                       .more_count = SPENT_COUNT});
    show_on(show, SHOW_ALL);
}

/* ---- queue times ---- */

/* Those for which the table has a row. */
static const double wait_marks_s[] = {1, 10, 60, 600, 3600, 21600, 86400, 259200, 604800, 2592000};
enum { WAIT_MARKS = sizeof wait_marks_s / sizeof wait_marks_s[0] };

/* A line of the plot of queue times: for each time t, the share of the jobs that waited at most t. */
struct waits_line {
    const char *label;
    const struct metrics *metrics;
    int class; /* enum job_class; -1: all */
    enum plot_colour colour;
};

/* Points in percent from 1 s up, which hold the marks exactly; what is drawn of the others is thinned.  count 0: no
 * jobs. */
static struct plot_series distribution(struct show *show, const struct waits_line *line, double *longest_s)
{
    double wait_s[CDF_POINTS], ratio[CDF_POINTS], at_s = 0;
    const size_t count = metrics_wait_cdf(line->metrics, line->class, wait_s, ratio, CDF_POINTS);
    const size_t stride = (count + CDF_DRAWN - 1) / CDF_DRAWN;
    double *x = show_numbers(show, 2 * (CDF_POINTS + WAIT_MARKS)), *y = x + CDF_POINTS + WAIT_MARKS, share = 0;
    size_t drawn = 0, mark = 0;
    for (size_t i = 0; i < count; i++) {
        for (; mark < WAIT_MARKS && wait_marks_s[mark] < wait_s[i]; mark++) {
            x[drawn] = wait_marks_s[mark];
            y[drawn++] = 100 * share;
        }
        share = ratio[i];
        at_s = wait_s[i];
        if (at_s > 1 && (i % stride == 0 || i + 1 == count)) {
            x[drawn] = at_s;
            y[drawn++] = 100 * share;
        }
    }
    *longest_s = fmax(*longest_s, at_s);
    for (; mark < WAIT_MARKS && count > 0; mark++) {
        x[drawn] = wait_marks_s[mark];
        y[drawn++] = 100;
    }
    return (struct plot_series){
        .label = line->label, .x = x, .y = y, .count = drawn, .colour = line->colour, .is_dashed = line->class < 0};
}

static const char waits_note[] =
    "Share of jobs whose wait, from eligible to first start, was at most the time on the axis. "
    "Jobs still waiting at the end count with the wait they had so far.";

/* Lines without jobs are left out; false: all are, and there is no figure.  section: begun first; NULL: none. */
static bool add_waits(struct show *show, const struct waits_line *lines, size_t line_count, const char *title,
                      const char *id, const char *section)
{
    struct plot_series series[PLOT_SERIES_MAX];
    double longest_s = 10;
    size_t count = 0;
    for (size_t i = 0; i < line_count; i++) {
        series[count] = distribution(show, &lines[i], &longest_s);
        count += series[count].count > 0;
    }
    if (count > 0 && section != NULL)
        add_section(show, section, waits_note);
    if (count > 0)
        show_heading(show, title);
    if (count > 0)
        show_figure(
            show, &(struct show_figure){
                      .plot = {.title = title,
                               .description =
                                   "Share of jobs whose wait before the first start was at most the time on the axis.",
                               .id = id,
                               .series = series,
                               .series_count = count,
                               .x_kind = PLOT_X_DURATION_LOG,
                               .y_kind = PLOT_Y_PERCENT,
                               .x_min = 1,
                               .x_max = longest_s,
                               .y_max = 100},
                      .y_text = "share of jobs",
                      .x_text = "queue time",
                      .first = "waited at most",
                      .marks = wait_marks_s,
                      .mark_count = WAIT_MARKS});
    return count > 0;
}

void run_figure_waits(struct show *show, const struct metrics *metrics)
{
    static const enum plot_colour colours[] = {PLOT_BLACK, PLOT_BLUE, PLOT_GREEN, PLOT_VERMILLION};
    struct waits_line lines[JOB_CLASS_COUNT + 1];
    size_t count = 0;
    for (int class = JOB_CLASS_COUNT - 1; class >= -1; class --)
        lines[count++] =
            (struct waits_line){class < 0 ? "all" : job_class_names[class], metrics, class, colours[class + 1]};
    show_on(show, SHOW_PAGE);
    buffer_string(show_line(show, SHOW_NOTE), waits_note);
    add_waits(show, lines, count, "By class", "waits", NULL);
    show_on(show, SHOW_ALL);
}

/* ---- several runs ---- */

/* A quantity over time: where its values are, and how they are shown. */
enum quantity { QUANTITY_ALLOCATED, QUANTITY_ACTIVE, QUANTITY_PENDING, QUANTITY_FRAGMENTED, QUANTITY_COUNT };

static const struct {
    const char *id, *title, *note, *y_text;
    bool is_share; /* of the run's GPUs, in percent */
} quantities[] = {
    [QUANTITY_ALLOCATED] = {"allocated", "Allocated GPUs over time",
                            "GPUs that running jobs hold, of all GPUs: means over each interval.", "of all GPUs", true},
    [QUANTITY_ACTIVE] = {"active", "SM-active over time",
                         "Allocated GPUs times the SM activity that the workload gives, of all GPUs.", "of all GPUs",
                         true},
    [QUANTITY_PENDING] = {"pending", "Queue length over time", "Jobs that waited: means over each interval.", "jobs",
                          false},
    [QUANTITY_FRAGMENTED] = {"fragmented", "Fragmented GPUs over time",
                             "Free GPUs that are of no use for typical jobs, the kinds that 95 % of the workload's "
                             "members are of, of all GPUs: means of the samples.",
                             "of all GPUs", true},
};

enum plot_colour run_line_colour(size_t index)
{
    static const enum plot_colour colours[RUN_LINES_MAX] = {PLOT_BLACK,  PLOT_VERMILLION, PLOT_BLUE, PLOT_GREEN,
                                                            PLOT_ORANGE, PLOT_SKY,        PLOT_PINK, PLOT_YELLOW};
    return colours[index];
}

/* NULL: not known. */
static const double *values_of(const struct run_curves *curves, enum quantity quantity)
{
    const bool is_active = curves->count > 0 && show_highest(curves->active, curves->count) > 0;
    if (curves->count == 0)
        return NULL;
    switch (quantity) {
    case QUANTITY_ALLOCATED:
        return curves->allocated;
    case QUANTITY_ACTIVE:
        return is_active ? curves->active : NULL;
    case QUANTITY_PENDING:
        return curves->pending;
    default:
        return curves->has_space ? curves->space[SPACE_FRAGMENTED] : NULL;
    }
}

static void add_quantity(struct show *show, const struct run_line *lines, const struct run_curves *curves,
                         size_t line_count, double end, enum quantity quantity)
{
    const bool is_share = quantities[quantity].is_share;
    struct plot_series series[RUN_LINES_MAX + 1];
    size_t count = 0, first = 0;
    double high = 0;
    for (size_t run = 0; run < line_count; run++) {
        const struct run_curves *of = &curves[run];
        const double *values = values_of(of, quantity);
        if (values == NULL)
            continue;
        double *drawn = show_numbers(show, of->count);
        for (size_t i = 0; i < of->count; i++)
            drawn[i] = values[i] * (is_share && of->in_service[i] > 0 ? 100 / of->in_service[i] : 1);
        high = fmax(high, 1.02 * show_highest(drawn, of->count));
        first = count == 0 ? run : first;
        series[count++] = series_of(of, lines[run].name, drawn, lines[run].colour, false);
    }
    if (count == 0)
        return;
    add_section(show, quantities[quantity].title, quantities[quantity].note);
    add_over_time(show, lines[0].metrics, &curves[first], series, count, is_share ? fmin(100, high) : high,
                  (struct show_figure){.plot = {.title = quantities[quantity].title,
                                                .description = "A line for each side.",
                                                .id = quantities[quantity].id,
                                                .y_kind = is_share ? PLOT_Y_PERCENT : PLOT_Y_COUNT,
                                                .x_max = end},
                                       .y_text = quantities[quantity].y_text});
}

static void add_queue_times(struct show *show, const struct run_line *lines, size_t count)
{
    bool has_any = false;
    for (int class = JOB_CLASS_COUNT - 1; class >= 0; class --) {
        struct waits_line waits[RUN_LINES_MAX];
        char id[16];
        for (size_t run = 0; run < count; run++)
            waits[run] = (struct waits_line){lines[run].name, lines[run].metrics, class, lines[run].colour};
        snprintf(id, sizeof id, "waits%d", class);
        has_any |= add_waits(show, waits, count, job_class_names[class], id, has_any ? NULL : "Queue time by class");
    }
}

static double end_s(const struct run_line *line)
{
    size_t count;
    const struct timeline_row *samples = metrics_samples(line->metrics, &count);
    return count > 0 ? time_to_seconds(samples[count - 1].time) : 0;
}

void run_overlay(struct show *show, const struct run_line *lines, size_t count)
{
    struct run_curves curves[RUN_LINES_MAX];
    double longest_s = 0, end = 0;
    for (size_t run = 0; run < count; run++)
        longest_s = fmax(longest_s, end_s(&lines[run]));
    for (size_t run = 0; run < count; run++) {
        curves[run] = run_curves_of(show, lines[run].metrics, longest_s);
        end = fmax(end, curves[run].end);
    }
    show_on(show, SHOW_PAGE);
    for (size_t q = 0; q < QUANTITY_COUNT && end > 0; q++)
        add_quantity(show, lines, curves, count, end, (enum quantity)q);
    add_queue_times(show, lines, count);
    show_on(show, SHOW_ALL);
}
