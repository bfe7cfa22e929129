/* studies/sizing/sizing_page.c -- a plan as a page: the answer, the curve of each level, what was tried. */
#include <math.h>

#include "reports/html_figure.h"
#include "reports/view.h"
#include "studies/sizing/sizing_show.h"

/* A curve of a level whose bound is a maximum is drawn up to four times that bound, and cut above. */
enum { BOUNDS_SHOWN = 4 };

/* ---- A level's curve ---- */

/* Seconds are drawn in the largest unit in which the bound is at least 1. */
struct scale {
    double unit;
    const char *name;
};

static struct scale scale_of(const struct gate *gate)
{
    static const struct scale seconds[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    if (gate->unit == NULL || gate->unit[0] != 's' || gate->unit[1] != '\0')
        return (struct scale){1, gate->unit != NULL ? gate->unit : ""};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (gate->amount >= seconds[i].unit)
            return seconds[i];
    return (struct scale){1, "seconds"};
}

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

static void write_curve(const struct sizing *sizing, const struct sizing_answer *answer, size_t gate, size_t figure,
                        struct buffer *out)
{
    const struct gate *of = &sizing->gates.gates[gate];
    const struct scale scale = scale_of(of);
    const struct sizing_point **points = sizing_points_new(answer);
    const double bound = of->amount / scale.unit, low = points[0]->number;
    const double high = points[answer->point_count - 1]->number;
    const double top = of->bound == GATE_MAX && bound > 0 ? BOUNDS_SHOWN * bound : INFINITY;
    double *columns = mem_zalloc(4 * answer->point_count, sizeof *columns); /* a cut adds a point */
    struct curve curve = {columns, columns + 2 * answer->point_count, 0};
    struct buffer name = {0}, id = {0};
    fill_curve(&curve, points, answer->point_count, gate, scale.unit, top);
    metric_selector_write(&of->of, &name);
    buffer_format(&id, "level%zu", figure);
    const double bound_x[] = {low, high}, bound_y[] = {bound, bound};
    const struct plot_series series[] = {
        {.label = "mean over the seeds", .x = curve.x, .y = curve.y, .count = curve.count, .colour = PLOT_BLUE},
        {.label = "bound", .x = bound_x, .y = bound_y, .count = 2, .colour = PLOT_VERMILLION, .is_dashed = true}};
    const double highest = html_highest(curve.y, curve.count);
    const struct plot plot = {.title = buffer_c_string(&name),
                              .description = "the metric of a service level by the number that is sought",
                              .id = buffer_c_string(&id),
                              .series = series,
                              .series_count = 2,
                              .x_min = low,
                              .x_max = high,
                              .y_max = html_scale_end(highest > bound ? highest : bound)};
    buffer_string(out, "<section><h2>");
    html_name(out, buffer_c_string(&name));
    buffer_string(out, "</h2>\n");
    if (curve.count > 1 && high > low)
        html_drawing(&plot, NULL, scale.name, sizing->options->question.path, out);
    buffer_string(out, "</section>\n");
    buffer_release(&name);
    buffer_release(&id);
    mem_free(columns);
    mem_free(points);
}

/* ---- Tables ---- */

static void write_value(const struct gate *gate, double value, struct buffer *out)
{
    buffer_string(out, "<td><data value=\"");
    buffer_double(out, value);
    buffer_string(out, "\">");
    view_metric(out, gate->of.metric, gate->unit, value);
    buffer_string(out, "</data></td>");
}

static void write_level_heads(const struct sizing *sizing, struct buffer *out)
{
    for (size_t g = 0; g < sizing->gates.count; g++) {
        struct buffer name = {0};
        metric_selector_write(&sizing->gates.gates[g].of, &name);
        buffer_string(out, "<th scope=\"col\">");
        html_name(out, buffer_c_string(&name));
        buffer_string(out, "</th>");
        buffer_release(&name);
    }
}

static void write_percent(const struct sizing_point *point, const char *metric, struct buffer *out)
{
    const struct metric_selector of = {.metric = metric};
    buffer_string(out, "<td>");
    view_percent(out, sizing_point_mean(point, &of));
    buffer_string(out, "</td>");
}

static void write_point(const struct sizing *sizing, const struct sizing_point *point, struct buffer *out)
{
    buffer_format(out, "<tr><th scope=\"row\">%.12g</th><td>%zu</td>", point->number, point->run_count);
    for (size_t g = 0; g < sizing->gates.count; g++)
        write_value(&sizing->gates.gates[g], point->judgements[g].result.candidate, out);
    write_percent(point, "allocation_ratio", out);
    write_percent(point, "sm_active_ratio", out);
    buffer_string(out, "<td>");
    view_amount(out, sizing_point_usd_per_h(point));
    buffer_format(out, "</td><td class=\"%s\">%s%s</td></tr>\n", point->holds ? "met" : "unmet",
                  point->holds ? "met" : "not met", point->is_sure ? ", sure" : "");
}

static void write_points(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point **points = sizing_points_new(answer);
    buffer_string(out, "<section><h2>What was tried</h2>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">");
    html_name(out, sizing->options->question.path);
    buffer_string(out, "</th><th scope=\"col\">runs</th>");
    write_level_heads(sizing, out);
    buffer_string(out, "<th scope=\"col\">allocated</th><th scope=\"col\">SM-active</th><th scope=\"col\">USD/h</th>"
                       "<th scope=\"col\">levels</th></tr></thead><tbody>\n");
    for (size_t p = 0; p < answer->point_count; p++)
        if (points[p]->run_count > 0)
            write_point(sizing, points[p], out);
    buffer_string(out, "</tbody></table></div></section>\n");
    mem_free(points);
}

static void write_levels(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer);
    buffer_format(out,
                  "<section><h2>Service levels at %.12g</h2>\n<div class=\"scroll\"><table><thead><tr><th "
                  "scope=\"col\">level</th><th scope=\"col\">bound</th><th scope=\"col\">mean</th><th "
                  "scope=\"col\">from</th><th scope=\"col\">to</th></tr></thead><tbody>\n",
                  answer->number);
    for (size_t g = 0; g < sizing->gates.count; g++) {
        const struct gate *gate = &sizing->gates.gates[g];
        const struct gate_result *result = &at->judgements[g].result;
        struct buffer name = {0};
        metric_selector_write(&gate->of, &name);
        buffer_string(out, "<tr><th scope=\"row\">");
        html_name(out, buffer_c_string(&name));
        buffer_format(out, " %s</th>", gate->bound == GATE_MAX ? "at most" : "at least");
        write_value(gate, gate->amount, out);
        write_value(gate, result->candidate, out);
        write_value(gate, isfinite(result->low) ? result->low : NAN, out);
        write_value(gate, isfinite(result->high) ? result->high : NAN, out);
        buffer_string(out, "</tr>\n");
        buffer_release(&name);
    }
    buffer_string(out, "</tbody></table></div></section>\n");
}

static void write_paragraph(const char *class, const struct buffer *text, struct buffer *out)
{
    buffer_format(out, "<p class=\"%s\">", class);
    buffer_html(out, (struct text){text->bytes, text->length});
    buffer_string(out, "</p>\n");
}

static void write_answer(const struct sizing *sizing, size_t a, struct buffer *out)
{
    const struct sizing_answer *answer = &sizing->answers[a];
    struct buffer text = {0};
    if (sizing->options->case_count > 1) {
        buffer_string(out, "<h2>");
        html_name(out, answer->of->name);
        buffer_string(out, "</h2>\n");
    }
    sizing_write_answer(sizing, answer, &text);
    write_paragraph("sub", &text, out);
    text.length = 0;
    if (sizing_write_load(answer, &text))
        write_paragraph("sub", &text, out);
    buffer_release(&text);
    if (answer->is_found)
        write_levels(sizing, answer, out);
    for (size_t g = 0; g < sizing->gates.count && answer->point_count > 0; g++)
        write_curve(sizing, answer, g, a * sizing->gates.count + g, out);
    write_points(sizing, answer, out);
}

void sizing_page(const struct sizing *sizing, const char *title, const char *command, struct buffer *out)
{
    struct buffer text = {0};
    html_page_open(title, out);
    buffer_string(out, "<h1>");
    html_name(out, title);
    buffer_string(out, "</h1>\n");
    if (sizing->is_partial)
        buffer_string(out, "<p class=\"warn\">Partial: the plan was stopped.</p>\n");
    for (size_t a = 0; a < sizing->answer_count; a++)
        write_answer(sizing, a, out);
    buffer_format(&text, "One of the runs: %s --set %s=NUMBER --seed SEED. Windtunnel %s.", command,
                  sizing->options->question.path, sizing->options->version);
    write_paragraph("sub", &text, out);
    buffer_release(&text);
    html_page_close(out);
}
