/* reports/plot_script.c -- script templates, and the dressing of the drawing. */
#include "reports/plot_script.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char head[] = "set terminal svg size 960,300 dynamic noenhanced font 'sans-serif,13'\n"
                           "set colorsequence podo\n"
                           "set encoding utf8\n"
                           "set output '" PLOT_OUTPUT_FILE "'\n"
                           "unset key\n"
                           "set border 3 linewidth 0.75\n"
                           "set tics nomirror out scale 0.5\n"
                           "set grid ytics linetype 1 linewidth 0.4 linecolor rgb '#999999'\n"
                           "set lmargin 9\n"
                           "set rmargin 3\n"
                           "set tmargin 1\n"
                           "set bmargin 2.5\n";

static const char duration_axis[] = "set logscale x\n"
                                    "set xtics ('\xe2\x89\xa4 1 s' 1, '10 s' 10, '1 min' 60, '10 min' 600, '1 h' 3600, "
                                    "'6 h' 21600, '1 d' 86400, '1 w' 604800, '30 d' 2592000, '1 y' 31536000)\n";

static void range(struct buffer *out, const char *axis, double low, double high)
{
    assert(isfinite(low) && isfinite(high) && low < high);
    buffer_string(out, "set ");
    buffer_string(out, axis);
    buffer_string(out, "range [");
    buffer_double(out, low);
    buffer_char(out, ':');
    buffer_double(out, high);
    buffer_string(out, "]\n");
}

static void element(struct buffer *out, size_t index, const char *columns, const char *style, enum plot_colour colour)
{
    assert(colour >= PLOT_BLACK && colour <= PLOT_PINK);
    buffer_string(out, out->bytes[out->length - 1] == ' ' ? "'" : ", '");
    buffer_char(out, (char)('a' + index));
    buffer_string(out, "' using ");
    buffer_string(out, columns);
    buffer_string(out, " with ");
    buffer_string(out, style);
    buffer_string(out, " linetype ");
    buffer_int(out, (int64_t)colour);
}

/* Fills are drawn below all lines. */
static void elements(const struct plot *plot, struct buffer *out)
{
    buffer_string(out, "plot ");
    for (size_t i = 0; i < plot->series_count; i++)
        if (plot->series[i].is_band)
            element(out, i, "1:2:3", "filledcurves fillstyle transparent solid 0.18 noborder", plot->series[i].colour);
        else if (plot->series[i].is_filled && plot->series[i].base != NULL)
            element(out, i, "1:2:3", "filledcurves fillstyle transparent solid 0.75 noborder", plot->series[i].colour);
        else if (plot->series[i].is_filled)
            element(out, i, "1:2", "filledcurves y1=0 fillstyle transparent solid 0.25 noborder",
                    plot->series[i].colour);
    for (size_t i = 0; i < plot->series_count; i++) {
        if (plot->series[i].is_band)
            continue;
        element(out, i, "1:2", "lines", plot->series[i].colour);
        buffer_string(out, plot->series[i].is_dashed      ? " linewidth 1.25 dashtype 2"
                           : plot->series[i].base != NULL ? " linewidth 0.5"
                                                          : " linewidth 1.75");
    }
    buffer_char(out, '\n');
}

void plot_script(const struct plot *plot, struct buffer *out)
{
    assert(plot->series_count >= 1 && plot->series_count <= PLOT_SERIES_MAX);
    buffer_string(out, head);
    if (plot->x_kind == PLOT_X_DURATION_LOG)
        buffer_string(out, duration_axis);
    range(out, "x", plot->x_min, plot->x_max);
    range(out, "y", plot->y_min, plot->y_max);
    if (plot->y_kind == PLOT_Y_PERCENT)
        buffer_string(out, "set format y '%.0f %%'\n");
    else if (plot->y_max >= 10)
        buffer_string(out, "set format y '%.0f'\n");
    elements(plot, out);
    buffer_string(out, "unset output\n"); /* writes the end of the file */
}

/* Rounded to a millionth: pixels show no more, and the exact digits of a quotient are slow to compute. */
static void coordinate(struct buffer *out, double value)
{
    buffer_double(out, fabs(value) < 1e9 ? rint(value * 1e6) / 1e6 : value);
}

void plot_data(const struct plot_series *series, struct buffer *out)
{
    assert(series->count >= 1);
    for (size_t i = 0; i < series->count; i++) {
        assert(isfinite(series->x[i]) && !isinf(series->y[i]));
        if (isnan(series->y[i])) {
            buffer_char(out, '\n');
            continue;
        }
        coordinate(out, series->x[i]);
        buffer_char(out, ' ');
        coordinate(out, series->y[i]);
        if (series->base != NULL) {
            assert(isfinite(series->base[i]));
            buffer_char(out, ' ');
            coordinate(out, series->base[i]);
        }
        buffer_char(out, '\n');
    }
}

/* ---- dressing ---- */

static bool skip_to_end_of(struct text *rest, const char *word)
{
    const char *found = memmem(rest->at, rest->length, word, strlen(word));
    if (found == NULL)
        return false;
    size_t skipped = (size_t)(found - rest->at) + strlen(word);
    *rest = (struct text){rest->at + skipped, rest->length - skipped};
    return true;
}

static bool ends_in(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.at + text.length - length, word, length) == 0;
}

/* The series of gnuplot's `number`-th element, from 1: fills first, as elements() writes them. */
static const struct plot_series *series_of(const struct plot *plot, size_t number)
{
    size_t seen = 0;
    for (size_t i = 0; i < plot->series_count; i++)
        if ((plot->series[i].is_filled || plot->series[i].is_band) && ++seen == number)
            return &plot->series[i];
    for (size_t i = 0; i < plot->series_count; i++)
        if (!plot->series[i].is_band && ++seen == number)
            return &plot->series[i];
    return NULL;
}

static void open_svg(const struct plot *plot, struct buffer *out)
{
    buffer_format(out,
                  "<svg viewBox=\"0 0 960 300\" role=\"img\" "
                  "aria-labelledby=\"%s-title %s-about\">\n<title id=\"%s-title\">",
                  plot->id, plot->id, plot->id);
    buffer_html(out, text_of(plot->title));
    buffer_format(out, "</title>\n<desc id=\"%s-about\">", plot->id);
    buffer_html(out, text_of(plot->description));
    buffer_string(out, "</desc>\n");
}

static void open_series(const struct plot_series *series, struct buffer *out)
{
    buffer_format(out, "<g class=\"series c%d\"><title>", (int)series->colour);
    buffer_html(out, text_of(series->label));
    buffer_string(out, "</title>");
}

static struct error not_whole(void)
{
    return error_new(ERROR_IO, "gnuplot did not write a whole SVG");
}

struct error plot_dress(const struct plot *plot, struct text drawn, struct buffer *out)
{
    static const char series_mark[] = "<g id=\"gnuplot_plot_";
    struct text rest = text_trim(drawn);
    while (rest.length > 0 && rest.at[rest.length - 1] == '\n')
        rest.length--;
    if (!ends_in(rest, "</svg>") || !skip_to_end_of(&rest, "<g id=\"gnuplot_canvas\">") ||
        !skip_to_end_of(&rest, "</defs>"))
        return not_whole();
    struct buffer page = {0};
    open_svg(plot, &page);
    buffer_string(&page, "<g>");
    for (size_t number = 1;; number++) {
        struct text before = rest;
        if (!skip_to_end_of(&rest, series_mark))
            break;
        const struct plot_series *series = series_of(plot, number);
        before.length = (size_t)(rest.at - before.at) - strlen(series_mark);
        if (series == NULL || !skip_to_end_of(&rest, "</title>")) {
            buffer_release(&page);
            return not_whole();
        }
        buffer_text(&page, before);
        open_series(series, &page);
    }
    buffer_text(&page, rest);
    buffer_char(&page, '\n');
    buffer_bytes(out, page.bytes, page.length);
    buffer_release(&page);
    return ERROR_OK;
}
