/* reports/grid.c -- cells, padded. */
#include "reports/grid.h"

#include <assert.h>

#include "reports/view.h"

struct buffer *grid_cell(struct grid *grid, size_t column)
{
    assert(grid->row_count > 0 && column < grid->column_count);
    return &grid->cells[grid->row_count - 1][column];
}

void grid_row(struct grid *grid, const char *name, size_t width_max)
{
    assert(grid->row_count < GRID_ROWS);
    grid->row_count++;
    view_name(grid_cell(grid, 0), name, width_max);
}

void grid_head(struct grid *grid, const char *const *heads)
{
    grid->column_count = 0;
    while (heads[grid->column_count] != NULL)
        grid->column_count++;
    assert(grid->row_count == 0 && grid->column_count <= GRID_COLUMNS);
    grid->row_count = 1;
    for (size_t c = 0; c < grid->column_count; c++)
        buffer_string(grid_cell(grid, c), heads[c]);
}

static size_t cell_width(const struct buffer *cell)
{
    return view_width((struct text){cell->bytes, cell->length});
}

static size_t column_width(const struct grid *grid, size_t column)
{
    size_t width = 0;
    for (size_t r = 0; r < grid->row_count; r++) {
        size_t cell = cell_width(&grid->cells[r][column]) + (column == 0 && r > 0 ? 2 : 0);
        if (cell > width)
            width = cell;
    }
    return width;
}

static void pad(struct buffer *out, size_t columns)
{
    while (columns-- > 0)
        buffer_char(out, ' ');
}

void grid_write(struct grid *grid, struct buffer *out)
{
    size_t width[GRID_COLUMNS];
    for (size_t c = 0; c < grid->column_count; c++)
        width[c] = column_width(grid, c);
    for (size_t r = 0; r < grid->row_count; r++) {
        for (size_t c = 0; c < grid->column_count; c++) {
            struct buffer *cell = &grid->cells[r][c];
            size_t indent = c == 0 && r > 0 ? 2 : 0;
            size_t space = width[c] - cell_width(cell) - indent;
            pad(out, c == 0 ? indent : space + 3);
            buffer_bytes(out, cell->bytes, cell->length);
            if (c == 0)
                pad(out, space);
            buffer_release(cell);
        }
        buffer_char(out, '\n');
    }
    grid->row_count = 0;
}
