/* reports/plot.h -- plots of lines and bars, drawn by gnuplot without trusting anything to it.
 *
 * Law: gnuplot sees fixed script templates with numbers in them and data files of numbers, in a private folder, with
 * an empty environment and a time limit, started without a shell.  A script never holds a name, label or path from
 * outside; labels and titles are put into the SVG afterwards, escaped.  Names of bars and the texts of a print stand in
 * the script: of them only letters, digits, blanks and , . - _ ( ) / %, and a ? in place of all else.  Output without
 * its end (</svg>, %%EOF) is refused (gnuplot exits with 0 on a full disk).
 *
 *   struct buffer svg = {0};
 *   struct error error = plot_svg(&plot, NULL, &svg);
 *   if (error_is(error)) ... show a table instead, and error_message(&error) ...
 *
 * The SVG of plot_svg is meant to stand inside an HTML page: no XML header, no name spaces, no links; every series is a
 * <g class="series cN"> with N its colour, and what is black follows the classes' rules in reports/show_style.c.
 * plot_print makes a file that stands alone, for a paper: with names of the axes and a key, 142 mm wide.
 */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "base/buffer.h"
#include "base/error.h"

/* gnuplot's colour-blind-safe sequence "podo", after Okabe and Ito, Color Universal Design (2008). */
enum plot_colour {
    PLOT_BLACK = 1,
    PLOT_ORANGE,
    PLOT_SKY,
    PLOT_GREEN,
    PLOT_YELLOW,
    PLOT_BLUE,
    PLOT_VERMILLION,
    PLOT_PINK
};

struct plot_series {
    const char *label;   /* any text; NULL: none, it belongs to another series */
    const double *x, *y; /* y NAN: a gap */
    const double *base;  /* if is_filled: filled down to it, a band of a stack; NULL: down to y = 0 */
    size_t count;        /* >= 1 */
    enum plot_colour colour;
    bool is_dashed;
    bool is_filled;
    bool is_band; /* of confidence, from base to y: pale, without a line */
    bool is_bar;  /* if y_kind is PLOT_Y_NAMES: from x[0] to x[1], at the height y[0]; count is 1 */
};

enum plot_x {
    PLOT_X_LINEAR,
    PLOT_X_DURATION_LOG, /* seconds from 1 on, with marks 1 s, 1 min, 1 h, ... */
};

enum plot_y {
    PLOT_Y_COUNT,
    PLOT_Y_PERCENT,
    PLOT_Y_NAMES, /* of bars, one below the other: their labels; x is in percent */
};

struct plot {
    const char *title, *description; /* any text; for screen readers */
    const char *id;                  /* distinct within the page; letters and digits */
    const struct plot_series *series;
    size_t series_count; /* 1..PLOT_SERIES_MAX */
    enum plot_x x_kind;
    enum plot_y y_kind;
    double x_min, x_max, y_min, y_max;
};

enum { PLOT_SERIES_MAX = 20 }; /* one letter names the file of its data */

/* How to run gnuplot.  NULL and 0: the defaults. */
struct plot_tool {
    const char *gnuplot; /* path; default /usr/bin/gnuplot, then /usr/local/bin/gnuplot */
    const char *scratch; /* where the private folder is made; default /tmp */
    unsigned limit_ms;   /* default 20,000 */
};

/* Remove the folders of drawings that killed processes of this user left behind. */
void plot_clean(const struct plot_tool *tool);

/* Append the drawing.  On error nothing is appended; that gnuplot is missing is an error of its own. */
struct error plot_svg(const struct plot *plot, const struct plot_tool *tool, struct buffer *svg) MUST_CHECK;

enum plot_form { PLOT_FORM_PAGE, PLOT_FORM_SVG, PLOT_FORM_PDF };

/* Likewise, a file of that form (not PLOT_FORM_PAGE); x_text, y_text: what the axes are in. */
struct error plot_print(const struct plot *plot, const char *x_text, const char *y_text, enum plot_form form,
                        const struct plot_tool *tool, struct buffer *out) MUST_CHECK;

#endif
