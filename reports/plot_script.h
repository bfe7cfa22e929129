/* reports/plot_script.h -- writes the script for gnuplot, and adapts its SVG to the page. */
#ifndef REPORTS_PLOT_SCRIPT_H
#define REPORTS_PLOT_SCRIPT_H

#include "reports/plot.h"

#define PLOT_OUTPUT_FILE "plot.svg" /* in the private folder; series i is in the file named i */

/* The script: templates and numbers, nothing else. */
void plot_script(const struct plot *plot, struct buffer *out);

/* A series as lines of "x y". */
void plot_data(const struct plot_series *series, struct buffer *out);

/* gnuplot's SVG without what a page must not or need not hold, with the plot's own texts.  ERROR_IO if
 * it is not a whole SVG. */
struct error plot_dress(const struct plot *plot, struct text drawn, struct buffer *out) MUST_CHECK;

#endif
