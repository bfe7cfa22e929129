/* reports/plot_script.h -- writes the script for gnuplot, and adapts its SVG to the page. */
#ifndef REPORTS_PLOT_SCRIPT_H
#define REPORTS_PLOT_SCRIPT_H

#include "reports/plot.h"

#define PLOT_OUTPUT_FILE "plot.svg" /* in the private folder; series 0 is in the file named a, and so on */

/* How it is drawn; the texts are of a print's axes. */
struct plot_paper {
    enum plot_form form;
    const char *x_text, *y_text;
};

/* Write the script, which holds only templates and numbers, and texts as the law of reports/plot.h allows. */
void plot_script(const struct plot *plot, const struct plot_paper *paper, struct buffer *out);

/* A series as lines of "x y"; a bar as "from to y". */
void plot_data(const struct plot_series *series, struct buffer *out);

/* Reduce gnuplot's SVG to what the page needs, and insert the plot's own texts.  ERROR_IO if the SVG is not
 * complete. */
struct error plot_dress(const struct plot *plot, struct text drawn, struct buffer *out) MUST_CHECK;

#endif
