/* reports/grid.h -- short cells in rows below a head, columns as wide as they need.
 *
 * The first column has names, aligned to the left and below the head indented; other columns are aligned to the right.
 *
 *   static const char *const heads[] = {"Queue time", "jobs", "p50", NULL};
 *   struct grid grid = {0};
 *   grid_head(&grid, heads);
 *   grid_row(&grid, "training", 30);
 *   view_count(grid_cell(&grid, 1), 17);
 *   grid_write(&grid, &out);
 *
 * It does not: limit the width of all columns together.
 */
#ifndef REPORTS_GRID_H
#define REPORTS_GRID_H

#include "base/buffer.h"
#include "base/reason.h"

enum { GRID_ROWS = 260, GRID_COLUMNS = 9 };

struct grid {
    struct buffer cells[GRID_ROWS][GRID_COLUMNS];
    size_t row_count, column_count;
}; /* {0} is empty */

/* Begin with this row; heads: NULL-terminated, at most GRID_COLUMNS. */
void grid_head(struct grid *grid, const char *const *heads);

/* Begin a row; its name is cut to `width_max` characters. */
void grid_row(struct grid *grid, const char *name, size_t width_max);

/* The cell of the last row, to be appended to; borrowed. */
struct buffer *grid_cell(struct grid *grid, size_t column);

/* Append the rows to `out`, and empty the grid. */
void grid_write(struct grid *grid, struct buffer *out);

#endif
