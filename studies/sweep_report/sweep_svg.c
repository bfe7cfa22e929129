#include "studies/sweep_report/sweep_svg.h"

#include <math.h>

#include "reports/html_page.h"

enum {
    WIDTH = 760,
    HEIGHT = 300,
    LEFT = 90,
    RIGHT = 20,
    TOP = 14,
    BOTTOM = 44,
    MARKS = 6,
    MARKS_MAX = 20,
    COLOUR_FIRST = 2, /* of the style sheet; 1 is black */
    CELL_WIDTH_MAX = 110,
    CELL_HEIGHT = 30,
    ROW_NAMES = 150,
};

static void open_svg(const char *title, double width, double height, struct buffer *out)
{
    buffer_format(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-size=\"12\"><title>", width, height);
    html_name(out, title);
    buffer_string(out, "</title>\n");
}

static void write_text(double x, double y, const char *anchor, const char *text, struct buffer *out)
{
    buffer_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"black\">", x, y, anchor);
    html_name(out, text);
    buffer_string(out, "</text>\n");
}

static void write_value_text(const struct svg_scale *scale, double value, double x, double y, const char *anchor,
                             struct buffer *out)
{
    struct buffer text = {0};
    scale->write(scale->self, value, &text);
    write_text(x, y, anchor, buffer_c_string(&text), out);
    buffer_release(&text);
}

/* ---- curves ---- */

struct frame {
    double x_min, x_max, y_min, y_max, step;
};

/* The first round step that gives few marks. */
static double step_of(double range, bool is_seconds)
{
    static const double seconds[] = {1,    2,    5,     10,    30,    60,    120,    300,    600,    1800,
                                     3600, 7200, 14400, 21600, 43200, 86400, 172800, 345600, 864000, 1728000};
    static const double digits[] = {1, 2, 5, 10};
    if (is_seconds && range > MARKS)
        for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
            if (range / seconds[i] <= MARKS)
                return seconds[i];
    const double power = pow(10, floor(log10(range / MARKS)));
    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++)
        if (range / (digits[i] * power) <= MARKS)
            return digits[i] * power;
    return 10 * power;
}

static void widen(struct frame *frame, double value)
{
    if (isnan(value) || isinf(value))
        return;
    frame->y_min = fmin(frame->y_min, value);
    frame->y_max = fmax(frame->y_max, value);
}

/* Intervals of what is never negative may begin below 0; they are cut off there. */
static bool is_never_negative(const struct svg_chart *chart)
{
    for (size_t c = 0; c < chart->curve_count; c++)
        for (size_t i = 0; i < chart->point_count; i++)
            if (chart->curves[c].y[i] < 0)
                return false;
    return true;
}

static struct frame frame_of(const struct svg_chart *chart)
{
    struct frame frame = {
        .x_min = chart->x[0], .x_max = chart->x[chart->point_count - 1], .y_min = INFINITY, .y_max = -INFINITY};
    for (size_t c = 0; c < chart->curve_count; c++)
        for (size_t i = 0; i < chart->point_count; i++) {
            widen(&frame, chart->curves[c].y[i]);
            widen(&frame, chart->curves[c].low[i]);
            widen(&frame, chart->curves[c].high[i]);
        }
    if (!(frame.y_min <= frame.y_max))
        frame.y_min = frame.y_max = 0;
    if ((frame.y_min > 0 && frame.y_min < frame.y_max / 2) || (frame.y_min < 0 && is_never_negative(chart)))
        frame.y_min = 0; /* where it is nearly 0, too */
    if (frame.y_max == frame.y_min)
        frame.y_max = frame.y_min + 1;
    if (frame.x_max == frame.x_min)
        frame.x_max = frame.x_min + 1;
    frame.step = step_of(frame.y_max - frame.y_min, chart->scale.is_seconds);
    frame.y_min = floor(frame.y_min / frame.step) * frame.step;
    frame.y_max = ceil(frame.y_max / frame.step) * frame.step;
    return frame;
}

static double x_at(const struct frame *frame, double x)
{
    return LEFT + (x - frame->x_min) / (frame->x_max - frame->x_min) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const struct frame *frame, double y)
{
    y = fmax(frame->y_min, fmin(y, frame->y_max));
    return TOP + (frame->y_max - y) / (frame->y_max - frame->y_min) * (HEIGHT - TOP - BOTTOM);
}

static void write_axes(const struct svg_chart *chart, const struct frame *frame, struct buffer *out)
{
    const size_t stride = (chart->point_count + MARKS_MAX - 1) / MARKS_MAX;
    for (int m = 0; m <= MARKS_MAX; m++) {
        const double y = frame->y_min + m * frame->step;
        if (y > frame->y_max + frame->step / 2)
            break;
        buffer_format(out, "<path d=\"M%d %.1fH%d\" stroke=\"black\" stroke-opacity=\"0.25\"/>\n", LEFT, y_at(frame, y),
                      WIDTH - RIGHT);
        write_value_text(&chart->scale, y, LEFT - 8, y_at(frame, y) + 4, "end", out);
    }
    for (size_t i = 0; i < chart->point_count; i += stride) {
        struct buffer text = {0};
        buffer_double(&text, chart->x[i]);
        write_text(x_at(frame, chart->x[i]), HEIGHT - BOTTOM + 18, "middle", buffer_c_string(&text), out);
        buffer_release(&text);
    }
    write_text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, "middle", chart->x_label, out);
}

static bool has_band(const struct svg_curve *curve, size_t i)
{
    return isfinite(curve->low[i]) && isfinite(curve->high[i]);
}

/* Each stretch of points with an interval is a polygon: up along the low ends, back along the high ones. */
static void write_band(const struct svg_chart *chart, const struct frame *frame, const struct svg_curve *curve,
                       struct buffer *out)
{
    for (size_t begin = 0, end; begin < chart->point_count; begin = end + 1) {
        for (end = begin; end < chart->point_count && has_band(curve, end);)
            end++;
        if (end - begin < 2)
            continue;
        buffer_string(out, "<polygon fill-opacity=\"0.18\" points=\"");
        for (size_t i = begin; i < end; i++)
            buffer_format(out, "%.1f,%.1f ", x_at(frame, chart->x[i]), y_at(frame, curve->low[i]));
        for (size_t i = end; i-- > begin;)
            buffer_format(out, "%.1f,%.1f ", x_at(frame, chart->x[i]), y_at(frame, curve->high[i]));
        buffer_string(out, "\"/>\n");
    }
}

static void write_line(const struct svg_chart *chart, const struct frame *frame, const struct svg_curve *curve,
                       struct buffer *out)
{
    char command = 'M';
    buffer_string(out, "<path fill=\"none\" stroke-width=\"2\" d=\"");
    for (size_t i = 0; i < chart->point_count; i++) {
        if (isnan(curve->y[i])) {
            command = 'M';
            continue;
        }
        buffer_format(out, "%c%.1f %.1f", command, x_at(frame, chart->x[i]), y_at(frame, curve->y[i]));
        command = 'L';
    }
    buffer_string(out, "\"/>\n");
}

static void write_legend(const struct svg_chart *chart, struct buffer *out)
{
    buffer_string(out, "<ul class=\"legend\">");
    for (size_t c = 0; c < chart->curve_count; c++) {
        buffer_format(out, "<li class=\"c%zu\"><i></i>", (c + COLOUR_FIRST - 1) % SVG_CURVES_MAX + 1);
        html_name(out, chart->curves[c].label);
        buffer_string(out, "</li>");
    }
    buffer_string(out, "</ul>\n");
}

void svg_chart(const struct svg_chart *chart, struct buffer *out)
{
    const struct frame frame = frame_of(chart);
    if (chart->curve_count > 1)
        write_legend(chart, out);
    open_svg(chart->title, WIDTH, HEIGHT, out);
    write_axes(chart, &frame, out);
    for (size_t c = 0; c < 2 * chart->curve_count; c++) { /* lines over all bands */
        const size_t curve = c % chart->curve_count;
        buffer_format(out, "<g class=\"series c%zu\">", (curve + COLOUR_FIRST - 1) % SVG_CURVES_MAX + 1);
        if (c < chart->curve_count)
            write_band(chart, &frame, &chart->curves[curve], out);
        else
            write_line(chart, &frame, &chart->curves[curve], out);
        buffer_string(out, "</g>\n");
    }
    buffer_string(out, "</svg>\n");
}

/* ---- maps ---- */

/* From light to dark blue. */
static void write_colour(double part, struct buffer *out)
{
    static const int light[] = {239, 246, 252}, dark[] = {8, 64, 129};
    buffer_char(out, '#');
    for (int k = 0; k < 3; k++)
        buffer_format(out, "%02x", (unsigned)lrint(light[k] + part * (dark[k] - light[k])) & 0xffU);
}

static void write_cell(const struct svg_map *map, double value, double part, double x, double y, double width,
                       struct buffer *out)
{
    struct buffer text = {0};
    buffer_format(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"", x, y, width - 2,
                  CELL_HEIGHT - 2);
    if (isnan(value))
        buffer_string(out, "none");
    else
        write_colour(part, out);
    buffer_format(out, "\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"%s\">", x + width / 2 - 1,
                  y + CELL_HEIGHT / 2.0 + 3,
                  isnan(value) ? "black"
                  : part > 0.5 ? "#fff"
                               : "#111");
    map->scale.write(map->scale.self, value, &text);
    html_name(out, buffer_c_string(&text));
    buffer_string(out, "</text>\n");
    buffer_release(&text);
}

void svg_map(const struct svg_map *map, struct buffer *out)
{
    const double width = fmin(CELL_WIDTH_MAX, (WIDTH - ROW_NAMES) / (double)map->column_count);
    const double top = 2.0 * CELL_HEIGHT - 10;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < map->row_count * map->column_count; i++)
        if (!isnan(map->cells[i])) {
            low = fmin(low, map->cells[i]);
            high = fmax(high, map->cells[i]);
        }
    open_svg(map->title, WIDTH, top + (double)map->row_count * CELL_HEIGHT + 6, out);
    write_text(ROW_NAMES + width * (double)map->column_count / 2, 14, "middle", map->column_label, out);
    write_text(0, 14, "start", map->row_label, out);
    for (size_t c = 0; c < map->column_count; c++)
        write_text(ROW_NAMES + width * ((double)c + 0.5), CELL_HEIGHT + 8, "middle", map->columns[c], out);
    for (size_t r = 0; r < map->row_count; r++) {
        const double y = top + (double)r * CELL_HEIGHT;
        write_text(0, y + CELL_HEIGHT / 2.0 + 3, "start", map->rows[r], out);
        for (size_t c = 0; c < map->column_count; c++) {
            const double value = map->cells[r * map->column_count + c];
            const double part = high > low ? (value - low) / (high - low) : 0;
            write_cell(map, value, part, ROW_NAMES + width * (double)c, y, width, out);
        }
    }
    buffer_string(out, "</svg>\n");
}
