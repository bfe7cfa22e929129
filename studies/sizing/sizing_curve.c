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

/* The means by number, cut where they go beyond `top`. */
static void fill_curve(struct curve *curve, const struct sizing_point *const *points, size_t count, size_t gate,
                       double unit, double top)
{
    double last_x = NAN, last_y = NAN;
    for (size_t p = 0; p < count; p++) {
        const double x = points[p]->number;
        const double y = points[p]->run_count > 0 ? points[p]->judgements[gate].result.candidate / unit : NAN;
        if (isnan(y))
            continue;
        if (!isnan(last_y) && (y > top) != (last_y > top))
            add(curve, last_x + (x - last_x) * (top - last_y) / (y - last_y), top);
        if (y <= top)
            add(curve, x, y);
        last_x = x;
        last_y = y;
    }
}

void sizing_add_curve(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer, size_t gate)
{
    const struct gate *of = &sizing->gates.gates[gate];
    const char *unit;
    const double scale = view_scale(of->unit, of->amount, &unit);
    const struct sizing_point **points = sizing_points_new(answer);
    const double bound = of->amount / scale, low = points[0]->number;
    const double high = points[answer->point_count - 1]->number;
    const double top = of->bound == GATE_MAX && bound > 0 ? BOUNDS_SHOWN * bound : INFINITY;
    double *columns = show_numbers(show, 4 * answer->point_count + 4); /* a cut adds a point */
    double *bounds = columns + 4 * answer->point_count;
    struct curve curve = {columns, columns + 2 * answer->point_count, 0};
    struct buffer name = {0}, id = {0};
    fill_curve(&curve, points, answer->point_count, gate, scale, top);
    memcpy(bounds, (const double[]){low, high, bound, bound}, 4 * sizeof *bounds);
    metric_selector_write(&of->of, &name);
    buffer_format(&id, "level%zuof%zu", gate, (size_t)(answer - sizing->answers));
    const struct plot_series series[] = {
        {.label = "mean over the seeds", .x = curve.x, .y = curve.y, .count = curve.count, .colour = PLOT_BLUE},
        {.label = "bound", .x = bounds, .y = bounds + 2, .count = 2, .colour = PLOT_VERMILLION, .is_dashed = true}};
    const struct show_figure figure = {
        .plot = {.title = buffer_c_string(&name),
                 .description = "the metric of a service level by the number that is sought",
                 .id = buffer_c_string(&id),
                 .series = series,
                 .series_count = 2,
                 .x_min = low,
                 .x_max = high,
                 .y_max = show_scale_end(fmax(bound, show_highest(curve.y, curve.count)))},
        .y_text = unit,
        .x_text = sizing->options->question.path};
    if (curve.count > 1 && high > low) {
        show_section(show, buffer_c_string(&name));
        show_figure(show, &figure);
    }
    buffer_release(&name);
    buffer_release(&id);
    mem_free(points);
}
