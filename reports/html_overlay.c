#include "reports/html_overlay.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "reports/html_inside.h"
#include "reports/view.h"

enum { LABEL_WIDTH = 40, TABLE_ROWS = 28 };

/* A quantity over time: where its values are, and how they are shown. */
enum quantity { QUANTITY_ALLOCATED, QUANTITY_ACTIVE, QUANTITY_PENDING, QUANTITY_FRAGMENTED };

static const struct {
    const char *id, *title, *note, *y_text;
    bool is_share; /* of the run's GPUs, in percent */
} quantities[] = {
    [QUANTITY_ALLOCATED] = {"allocated", "Allocated GPUs over time",
                            "GPUs that running jobs hold, of all GPUs: means over each interval.", "of all GPUs", true},
    [QUANTITY_ACTIVE] = {"active", "Real use over time",
                         "Allocated GPUs times the SM activity that the workload gives, of all GPUs.", "of all GPUs",
                         true},
    [QUANTITY_PENDING] = {"pending", "Queue length over time", "Jobs that waited: means over each interval.", "jobs",
                          false},
    [QUANTITY_FRAGMENTED] = {"fragmented", "Fragmented GPUs over time",
                             "Free GPUs that are of no use for typical jobs, the kinds that 95 % of the workload's "
                             "members are of, of all GPUs: means of the samples.",
                             "of all GPUs", true},
};

struct overlay {
    size_t count;
    struct html_overlay_run runs[HTML_OVERLAY_MAX]; /* their names for readers */
    struct html_curves curves[HTML_OVERLAY_MAX];
    struct buffer labels[HTML_OVERLAY_MAX];
    const struct plot_tool *tool;
    double end; /* of the time axis */
    const char *unit;
};

enum plot_colour html_overlay_colour(size_t index)
{
    static const enum plot_colour colours[HTML_OVERLAY_MAX] = {PLOT_BLACK,  PLOT_VERMILLION, PLOT_BLUE, PLOT_GREEN,
                                                               PLOT_ORANGE, PLOT_SKY,        PLOT_PINK, PLOT_YELLOW};
    return colours[index];
}

/* ---- over time ---- */

static const double *values_of(const struct html_curves *curves, enum quantity quantity)
{
    switch (quantity) {
    case QUANTITY_ALLOCATED:
        return curves->allocated;
    case QUANTITY_ACTIVE:
        return curves->active;
    case QUANTITY_PENDING:
        return curves->pending;
    case QUANTITY_FRAGMENTED:
        break;
    }
    return curves->space[SPACE_FRAGMENTED];
}

static bool is_known(const struct html_curves *curves, enum quantity quantity)
{
    if (curves->count == 0)
        return false;
    if (quantity == QUANTITY_ACTIVE)
        return html_highest(curves->active, curves->count) > 0;
    return quantity != QUANTITY_FRAGMENTED || curves->has_space;
}

/* The values as drawn. */
static double *drawn_new(const struct overlay *overlay, size_t run, enum quantity quantity)
{
    const struct html_curves *curves = &overlay->curves[run];
    double *drawn = mem_zalloc(curves->count, sizeof *drawn);
    for (size_t i = 0; i < curves->count; i++)
        drawn[i] = values_of(curves, quantity)[i] *
                   (quantities[quantity].is_share && curves->in_service[i] > 0 ? 100 / curves->in_service[i] : 1);
    return drawn;
}

/* The interval in which the time lies, for runs whose samples are at other times; SIZE_MAX: the run had ended. */
static size_t interval_at(const struct html_curves *curves, double time)
{
    for (size_t i = 0; i < curves->count; i++)
        if (curves->time[i] >= time)
            return i;
    return SIZE_MAX;
}

static void value_cell(bool is_share, double value, struct buffer *out)
{
    buffer_string(out, "<td>");
    if (is_share)
        view_percent(out, value / 100);
    else
        view_amount(out, value);
    buffer_string(out, "</td>");
}

/* At the times of the first run that is drawn. */
static void time_table(const struct overlay *overlay, double *const *drawn, enum quantity quantity, bool is_open,
                       struct buffer *out)
{
    size_t first = 0;
    while (drawn[first] == NULL)
        first++;
    const struct html_curves *times = &overlay->curves[first];
    html_data_open(is_open, times->unit, out);
    for (size_t run = 0; run < overlay->count; run++)
        if (drawn[run] != NULL) {
            buffer_string(out, "<th scope=\"col\">");
            html_name(out, overlay->runs[run].name);
            buffer_string(out, "</th>");
        }
    buffer_string(out, "</tr></thead><tbody>\n");
    const size_t stride = (times->count + TABLE_ROWS - 1) / TABLE_ROWS;
    for (size_t i = 0; i < times->count; i += stride) {
        buffer_format(out, "<tr><td>%.2f</td>", times->time[i]);
        for (size_t run = 0; run < overlay->count; run++)
            if (drawn[run] != NULL) {
                const size_t at = interval_at(&overlay->curves[run], times->time[i]);
                value_cell(quantities[quantity].is_share, at != SIZE_MAX ? drawn[run][at] : NAN, out);
            }
        buffer_string(out, "</tr>\n");
    }
    html_data_close(out);
}

static void draw(const struct overlay *overlay, double *const *drawn, enum quantity quantity, struct buffer *out)
{
    struct plot_series series[PLOT_SERIES_MAX];
    double warmup_x[2], warmup_y[2], high = 0;
    size_t count = 0;
    char x_text[40];
    for (size_t run = 0; run < overlay->count; run++) {
        const struct html_curves *curves = &overlay->curves[run];
        if (drawn[run] == NULL)
            continue;
        high = fmax(high, html_highest(drawn[run], curves->count));
        series[count++] = (struct plot_series){.label = overlay->runs[run].name,
                                               .x = curves->time,
                                               .y = drawn[run],
                                               .count = curves->count,
                                               .colour = overlay->runs[run].colour};
    }
    const double top = html_scale_end(quantities[quantity].is_share ? fmin(100, high * 1.02) : high * 1.02);
    if (html_warmup_series(overlay->runs[0].metrics, &overlay->curves[0], top, warmup_x, warmup_y, &series[count]))
        count++;
    struct plot plot = {.title = quantities[quantity].title,
                        .description = "A line for each side; the data are in the table below.",
                        .id = quantities[quantity].id,
                        .series = series,
                        .series_count = count,
                        .y_kind = quantities[quantity].is_share ? PLOT_Y_PERCENT : PLOT_Y_COUNT,
                        .x_max = overlay->end,
                        .y_max = top};
    const size_t from = out->length;
    snprintf(x_text, sizeof x_text, "%s since the start", overlay->unit);
    html_drawing(&plot, overlay->tool, quantities[quantity].y_text, x_text, out);
    time_table(overlay, drawn, quantity, !html_has_drawing(out, from), out);
}

static void over_time(const struct overlay *overlay, enum quantity quantity, struct buffer *out)
{
    double *drawn[HTML_OVERLAY_MAX] = {NULL};
    size_t count = 0;
    for (size_t run = 0; run < overlay->count; run++)
        if (is_known(&overlay->curves[run], quantity)) {
            drawn[run] = drawn_new(overlay, run, quantity);
            count++;
        }
    if (count > 0) {
        buffer_format(out, "<section><h2>%s</h2>\n<p class=\"note\">%s</p>\n", quantities[quantity].title,
                      quantities[quantity].note);
        draw(overlay, drawn, quantity, out);
        buffer_string(out, "</section>\n");
    }
    for (size_t run = 0; run < overlay->count; run++)
        mem_free(drawn[run]);
}

/* ---- queue times ---- */

static void queue_times(const struct overlay *overlay, struct buffer *out)
{
    struct html_waits_line lines[HTML_OVERLAY_MAX];
    const size_t from = out->length;
    bool has_any = false;
    buffer_string(out, "<section><h2>Queue time by class</h2>\n<p class=\"note\">Share of the class's jobs that waited "
                       "at most so long, from eligible to first start. Jobs still waiting at the end count with the "
                       "wait they had so far.</p>\n");
    for (int class = JOB_CLASS_COUNT - 1; class >= 0; class --) {
        const size_t start = out->length;
        struct buffer id = {0};
        struct plot about = {.title = job_class_names[class],
                             .description =
                                 "Share of jobs that waited at most so long before their first start, a line "
                                 "for each side; the data are in the table below."};
        buffer_format(&id, "waits%d", class);
        about.id = buffer_c_string(&id);
        for (size_t run = 0; run < overlay->count; run++)
            lines[run] = (struct html_waits_line){.label = overlay->runs[run].name,
                                                  .metrics = overlay->runs[run].metrics,
                                                  .class = class,
                                                  .colour = overlay->runs[run].colour};
        buffer_format(out, "<h3>%s</h3>\n", job_class_names[class]);
        if (html_waits_draw(lines, overlay->count, &about, overlay->tool, out))
            has_any = true;
        else
            out->length = start;
        buffer_release(&id);
    }
    buffer_string(out, "</section>\n");
    if (!has_any)
        out->length = from;
}

static double end_s(const struct html_overlay_run *run)
{
    size_t count;
    const struct timeline_row *samples = metrics_samples(run->metrics, &count);
    return count > 0 ? time_to_seconds(samples[count - 1].time) : 0;
}

void html_overlay(const struct html_overlay_run *runs, size_t count, const struct plot_tool *tool, struct buffer *out)
{
    struct overlay overlay = {.count = count, .tool = tool};
    double longest_s = 0;
    for (size_t run = 0; run < count; run++)
        longest_s = fmax(longest_s, end_s(&runs[run]));
    for (size_t run = 0; run < count; run++) {
        view_name(&overlay.labels[run], runs[run].name, LABEL_WIDTH);
        overlay.runs[run] = runs[run];
        overlay.runs[run].name = buffer_c_string(&overlay.labels[run]);
        overlay.curves[run] = html_curves_new(runs[run].metrics, longest_s);
        overlay.end = fmax(overlay.end, overlay.curves[run].end);
        overlay.unit = overlay.curves[run].count > 0 ? overlay.curves[run].unit : overlay.unit;
    }
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities && overlay.end > 0; q++)
        over_time(&overlay, (enum quantity)q, out);
    queue_times(&overlay, out);
    for (size_t run = 0; run < count; run++) {
        buffer_release(&overlay.labels[run]);
        mem_free(overlay.curves[run].time);
    }
}
