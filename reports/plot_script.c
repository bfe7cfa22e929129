/* reports/plot_script.c -- script templates, and the dressing of the drawing. */
#include "reports/plot_script.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static const char head[] = "set colorsequence podo\n"
                           "set encoding utf8\n"
                           "set output '" PLOT_OUTPUT_FILE "'\n"
                           "set border 3 linewidth 0.75\n"
                           "set tics nomirror out scale 0.5\n";

static const char page[] = "set terminal svg size 960,300 dynamic noenhanced font 'sans-serif,13'\n"
                           "unset key\n"
                           "set rmargin 3\n"
                           "set tmargin 1\n"
                           "set bmargin 2.5\n";

/* A column of text of an A4 page is some 142 mm wide.  Helvetica is there wherever PDF or PostScript is printed, or a
 * font of the same widths. */
static const char svg_paper[] = "set terminal svg size 538,269 noenhanced font 'Helvetica,11' linewidth 0.9\n";
static const char pdf_paper[] = "set terminal pdfcairo size 14.2cm,7.1cm noenhanced font 'Helvetica,8' linewidth 0.9\n";

static const char key[] = "set key outside top center horizontal Left reverse samplen 1.5 width 1\n";

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

/* A text that a script may hold; see the law of reports/plot.h. */
static void quoted(struct buffer *out, const char *text)
{
    buffer_char(out, '\'');
    for (; *text != '\0'; text++)
        buffer_char(out, isalnum((unsigned char)*text) || strchr(" ,.-()/%_", *text) != NULL ? *text : '?');
    buffer_char(out, '\'');
}

/* One element of a series stands in the key of a print. */
static void name_in_key(const struct plot *plot, const struct plot_paper *paper, size_t i, struct buffer *out)
{
    if (paper->form == PLOT_FORM_PAGE)
        return;
    if (plot->series[i].label == NULL || plot->series[i].is_bar) {
        buffer_string(out, " notitle");
        return;
    }
    buffer_string(out, " title ");
    quoted(out, plot->series[i].label);
}

/* Fills are drawn below all lines. */
static void elements(const struct plot *plot, const struct plot_paper *paper, struct buffer *out)
{
    const char *const others = paper->form == PLOT_FORM_PAGE ? "" : " notitle";
    buffer_string(out, "plot ");
    for (size_t i = 0; i < plot->series_count; i++) {
        const bool is_fill = plot->series[i].is_band || plot->series[i].is_filled || plot->series[i].is_bar;
        if (plot->series[i].is_bar)
            element(out, i, "(($1+$2)/2):3:1:2:($3-0.36):($3+0.36)", "boxxyerror fillstyle solid 0.85 noborder",
                    plot->series[i].colour);
        else if (plot->series[i].is_band)
            element(out, i, "1:2:3", "filledcurves fillstyle transparent solid 0.18 noborder", plot->series[i].colour);
        else if (plot->series[i].is_filled && plot->series[i].base != NULL)
            element(out, i, "1:2:3", "filledcurves fillstyle transparent solid 0.75 noborder", plot->series[i].colour);
        else if (plot->series[i].is_filled)
            element(out, i, "1:2", "filledcurves y1=0 fillstyle transparent solid 0.25 noborder",
                    plot->series[i].colour);
        if (is_fill && plot->series[i].base != NULL && !plot->series[i].is_band)
            name_in_key(plot, paper, i, out); /* the area of a stack; else the line */
        else if (is_fill)
            buffer_string(out, others);
    }
    for (size_t i = 0; i < plot->series_count; i++) {
        if (plot->series[i].is_band || plot->series[i].is_bar)
            continue;
        element(out, i, "1:2", "lines", plot->series[i].colour);
        buffer_string(out, plot->series[i].is_dashed      ? " linewidth 1.25 dashtype 2"
                           : plot->series[i].base != NULL ? " linewidth 0.5"
                                                          : " linewidth 1.75");
        if (plot->series[i].base != NULL)
            buffer_string(out, others);
        else
            name_in_key(plot, paper, i, out);
    }
    buffer_char(out, '\n');
}

/* The names of the bars beside them, and their lengths behind them. */
static void bars(const struct plot *plot, struct buffer *out)
{
    buffer_string(out, "set grid xtics linetype 1 linewidth 0.4 linecolor rgb '#999999'\n"
                       "set format x '%.0f %%'\nset xtics 0,20,100\nset ytics scale 0 (");
    for (size_t i = 0; i < plot->series_count; i++) {
        buffer_string(out, i > 0 ? ", " : "");
        quoted(out, plot->series[i].label);
        buffer_char(out, ' ');
        buffer_double(out, plot->series[i].y[0]);
    }
    buffer_string(out, ")\n");
    for (size_t i = 0; i < plot->series_count; i++) {
        const double from = plot->series[i].x[0], to = plot->series[i].x[1];
        buffer_format(out, "set label '%.1f %%' at %.4f,%.4f left offset 0.4,0\n", to - from, to, plot->series[i].y[0]);
    }
}

static void axes(const struct plot *plot, const struct plot_paper *paper, struct buffer *out)
{
    if (plot->y_kind == PLOT_Y_NAMES)
        bars(plot, out);
    else
        buffer_string(out, "set grid ytics linetype 1 linewidth 0.4 linecolor rgb '#999999'\n");
    if (plot->y_kind != PLOT_Y_NAMES && paper->form == PLOT_FORM_PAGE)
        buffer_string(out, "set lmargin 9\n");
    if (plot->x_kind == PLOT_X_DURATION_LOG)
        buffer_string(out, duration_axis);
    range(out, "x", plot->x_min, plot->x_max);
    if (plot->y_kind == PLOT_Y_NAMES) /* the first one on top */
        buffer_format(out, "set yrange [%.4f:%.4f]\n", plot->y_max, plot->y_min);
    else
        range(out, "y", plot->y_min, plot->y_max);
    if (plot->y_kind == PLOT_Y_PERCENT)
        buffer_string(out, "set format y '%.0f %%'\n");
    else if (plot->y_kind == PLOT_Y_COUNT && plot->y_max >= 10)
        buffer_string(out, "set format y '%.0f'\n");
    if (paper->form == PLOT_FORM_PAGE)
        return;
    buffer_string(out, "set xlabel ");
    quoted(out, paper->x_text);
    buffer_string(out, " offset 0,0.4\nset ylabel ");
    quoted(out, paper->y_text);
    buffer_char(out, '\n');
}

void plot_script(const struct plot *plot, const struct plot_paper *paper, struct buffer *out)
{
    assert(plot->series_count >= 1 && plot->series_count <= PLOT_SERIES_MAX);
    buffer_string(out, paper->form == PLOT_FORM_PAGE ? page : paper->form == PLOT_FORM_SVG ? svg_paper : pdf_paper);
    buffer_string(out, head);
    if (paper->form != PLOT_FORM_PAGE)
        buffer_string(out, plot->y_kind == PLOT_Y_NAMES ? "unset key\n" : key);
    axes(plot, paper, out);
    elements(plot, paper, out);
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
    if (series->is_bar) {
        const double bar[] = {series->x[0], series->x[1], series->y[0]};
        for (size_t i = 0; i < 3; i++) {
            coordinate(out, bar[i]);
            buffer_char(out, i < 2 ? ' ' : '\n');
        }
        return;
    }
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
        if ((plot->series[i].is_filled || plot->series[i].is_band || plot->series[i].is_bar) && ++seen == number)
            return &plot->series[i];
    for (size_t i = 0; i < plot->series_count; i++)
        if (!plot->series[i].is_band && !plot->series[i].is_bar && ++seen == number)
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
    struct buffer dressed = {0};
    open_svg(plot, &dressed);
    buffer_string(&dressed, "<g>");
    for (size_t number = 1;; number++) {
        struct text before = rest;
        if (!skip_to_end_of(&rest, series_mark))
            break;
        const struct plot_series *series = series_of(plot, number);
        before.length = (size_t)(rest.at - before.at) - strlen(series_mark);
        if (series == NULL || !skip_to_end_of(&rest, "</title>")) {
            buffer_release(&dressed);
            return not_whole();
        }
        buffer_text(&dressed, before);
        open_series(series, &dressed);
    }
    buffer_text(&dressed, rest);
    buffer_char(&dressed, '\n');
    buffer_bytes(out, dressed.bytes, dressed.length);
    buffer_release(&dressed);
    return ERROR_OK;
}
