/* reports/html_figure.h -- a figure of a page: a drawing with its legend, and the table of its data.
 *
 *   html_drawing(&plot, NULL, "GPUs", "days", &out);
 *   html_data_open(!html_has_drawing(&out, from), "Day", &out);
 *   ... <th> and <td> of rows ...
 *   html_data_close(&out);
 *
 * Law: labels are escaped; without gnuplot a text says why there is no drawing, and the data is shown.
 */
#ifndef REPORTS_HTML_FIGURE_H
#define REPORTS_HTML_FIGURE_H

#include "reports/html_page.h"
#include "reports/plot.h"

/* The drawing with its legend, or a text why there is none. */
void html_drawing(const struct plot *plot, const struct plot_tool *tool, const char *y_text, const char *x_text,
                  struct buffer *out);
bool html_has_drawing(const struct buffer *out, size_t from);

/* The table of the data, folded unless is_open: its head up to the first column, and its end. */
void html_data_open(bool is_open, const char *first, struct buffer *out);
void html_data_close(struct buffer *out);

/* The end of a scale: 1, 2, 2.5, 4, 5, 8 or 10 times a power of ten, at least `high`. */
double html_scale_end(double high);
double html_highest(const double *values, size_t count);

#endif
