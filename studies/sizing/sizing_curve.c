/* studies/sizing/sizing_curve.c -- a service level by the number that is sought, as a drawing. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/sizing/sizing_show_inside.h"

enum { BOUNDS_SHOWN = 4 }; /* a curve is drawn up to as many times its bound if that is a maximum */

struct curve {
    double *x, *y;
    size_t count;
};

static void add(struct curve *curve, double x, double y)
{
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

/* The mean of a level at a point, or what the curve that never gets worse has there; NAN: none. */
static double value_at(const struct sizing_point *point, size_t gate, bool is_fit)
{
    if (point->run_count == 0)
        return NAN;
    return is_fit ? point->judgements[gate].fit : point->judgements[gate].result.candidate;
}

/* The values by number, cut where they go beyond `top`.  A gap where there is no curve. */
static void fill_curve(struct curve *curve, const struct sizing_point *const *points, size_t count, size_t gate,
                       bool is_fit, double unit, double top)
{
    double last_x = NAN, last_y = NAN;
    for (size_t p = 0; p < count; p++) {
        const double x = points[p]->number, y = value_at(points[p], gate, is_fit) / unit;
        if (points[p]->run_count == 0)
            continue;
        if (!isnan(last_y) && !isnan(y) && (y > top) != (last_y > top))
            add(curve, last_x + (x - last_x) * (top - last_y) / (y - last_y), top);
        if (!(y > top))
            add(curve, x, y);
        last_x = x;
        last_y = y;
    }
}

/* The band around the curve, cut at 0 and `top`. */
static size_t fill_band(const struct sizing_point *const *points, size_t count, size_t gate, double unit, double top,
                        double *x, double *low, double *high)
{
    size_t filled = 0;
    for (size_t p = 0; p < count; p++) {
        const struct sizing_judgement *at = &points[p]->judgements[gate];
        if (points[p]->run_count == 0)
            continue;
        const bool is_known = !isnan(at->fit);
        x[filled] = points[p]->number;
        low[filled] = is_known ? fmin(fmax(at->fit_low / unit, 0), top) : NAN;
        high[filled] = is_known ? fmin(fmax(at->fit_high / unit, 0), top) : NAN;
        filled++;
    }
    return filled;
}

void sizing_add_curve(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer, size_t gate)
{
    const struct gate *of = &sizing->gates.gates[gate];
    const char *unit;
    const double scale = view_scale(of->unit, of->amount, &unit);
    const size_t count = answer->point_count;
    const struct sizing_point **points = sizing_points_new(answer);
    const double bound = of->amount / scale, low = points[0]->number, high = points[count - 1]->number;
    double *room = show_numbers(show, 11 * count + 4); /* a cut adds a point */
    double *band = room + 8 * count, *bounds = band + 3 * count;
    struct curve means = {room, room + 2 * count, 0}, fit = {room + 4 * count, room + 6 * count, 0};
    struct buffer name = {0}, id = {0}, sought = {0};
    double top = of->bound == GATE_MAX && bound > 0 ? BOUNDS_SHOWN * bound : INFINITY;
    fill_curve(&means, points, count, gate, false, scale, top);
    fill_curve(&fit, points, count, gate, true, scale, top);
    const double end = show_scale_end(fmax(bound, show_highest(means.y, means.count)));
    top = fmin(top, end);
    const size_t banded = fill_band(points, count, gate, scale, top, band, band + count, band + 2 * count);
    memcpy(bounds, (const double[]){low, high, bound, bound}, 4 * sizeof *bounds);
    metric_selector_words(&of->of, &name);
    sizing_write_sought(&sizing->options->question, &sought);
    buffer_format(&id, "level%zuof%zu", gate, (size_t)(answer - sizing->answers));
    const struct plot_series series[] = {
        {.label = "95 % band of the curve",
         .x = band,
         .base = band + count,
         .y = band + 2 * count,
         .count = banded,
         .colour = PLOT_BLUE,
         .is_band = true},
        {.label = "curve that never gets worse", .x = fit.x, .y = fit.y, .count = fit.count, .colour = PLOT_BLUE},
        {.label = "mean over the seeds",
         .x = means.x,
         .y = means.y,
         .count = means.count,
         .colour = PLOT_ORANGE,
         .is_dashed = true},
        {.label = "bound", .x = bounds, .y = bounds + 2, .count = 2, .colour = PLOT_VERMILLION, .is_dashed = true}};
    const struct show_figure figure = {
        .plot = {.title = buffer_c_string(&name),
                 .description = "the metric of a service level by the number that is sought",
                 .id = buffer_c_string(&id),
                 .series = series,
                 .series_count = sizeof series / sizeof *series,
                 .x_min = low,
                 .x_max = high,
                 .y_max = end},
        .y_text = unit,
        .x_text = buffer_c_string(&sought)};
    if (fit.count > 1 && means.count > 1 && high > low) {
        show_section(show, buffer_c_string(&name));
        show_figure(show, &figure);
    }
    buffer_release(&name);
    buffer_release(&id);
    buffer_release(&sought);
    mem_free(points);
}
