/* studies/sweep_report/sweep_svg.h -- curves with bands, and maps of two factors, as SVG inside a page.
 *
 * Law: labels are escaped; the bytes depend on the arguments only.  A value that is NAN leaves a gap.  Coordinates have
 * one digit after the point, so that no libm decides a byte.
 */
#ifndef STUDIES_SWEEP_REPORT_SWEEP_SVG_H
#define STUDIES_SWEEP_REPORT_SWEEP_SVG_H

#include <stdbool.h>

#include "base/buffer.h"

enum { SVG_CURVES_MAX = 8, SVG_MAP_MAX = 24 /* columns or rows */ };

struct svg_curve {
    const char *label;
    const double *y, *low, *high; /* by point; low NAN: no interval */
};

/* How a value is written. */
struct svg_scale {
    void (*write)(const void *self, double value, struct buffer *out);
    const void *self;
    bool is_seconds; /* marks at 1 min, 1 h, 1 d */
};

struct svg_chart {
    const char *title, *x_label;
    const double *x; /* ascending */
    size_t point_count;
    const struct svg_curve *curves;
    size_t curve_count; /* at most SVG_CURVES_MAX */
    struct svg_scale scale;
};

void svg_chart(const struct svg_chart *chart, struct buffer *out);

struct svg_map {
    const char *title, *column_label, *row_label;
    const char *const *columns, *const *rows;
    size_t column_count, row_count;
    const double *cells; /* [row * column_count + column] */
    struct svg_scale scale;
};

void svg_map(const struct svg_map *map, struct buffer *out);

#endif
