/* reports/show.c -- a document is filled. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "reports/show_inside.h"
#include "reports/view.h"

enum { DATA_ROWS_MAX = 28 };

struct show *show_new(const char *title)
{
    struct show *show = mem_zalloc(1, sizeof *show);
    show->title = title != NULL ? mem_copy_text(title) : NULL;
    show->media = SHOW_ALL;
    return show;
}

static void release_cell(struct show_cell *cell)
{
    buffer_release(&cell->text);
    buffer_release(&cell->below);
    buffer_release(&cell->link);
    buffer_release(&cell->about);
}

void show_free(struct show *show)
{
    if (show == NULL)
        return;
    for (size_t b = 0; b < show->block_count; b++) {
        struct show_rows *rows = &show->blocks[b]->rows;
        release_cell(&show->blocks[b]->cell);
        for (size_t c = 0; c < rows->cell_count; c++)
            release_cell(&rows->cells[c]);
        for (size_t c = 0; c < rows->column_count; c++)
            buffer_release(&rows->heads[c].text);
        mem_free(rows->cells);
        mem_free(rows->heads);
        mem_free(show->blocks[b]);
    }
    mem_free(show->blocks);
    mem_free(show->title);
    arena_release(&show->arena);
    mem_free(show);
}

void show_on(struct show *show, unsigned media)
{
    show->media = media;
}

static const struct show_cell no_cell = {.number = NAN, .bar = NAN, .shade = NAN};

static struct show_block *add(struct show *show, enum show_kind kind, const char *title)
{
    MEM_GROW(show->blocks, show->block_capacity, show->block_count + 1);
    struct show_block *block = show->blocks[show->block_count++] = mem_zalloc(1, sizeof *block);
    block->kind = kind;
    block->media = show->media;
    block->cell = no_cell;
    if (title != NULL)
        buffer_string(&block->cell.text, title);
    return block;
}

static struct show_block *last(struct show *show)
{
    assert(show->block_count > 0);
    return show->blocks[show->block_count - 1];
}

/* ---- titles and lines ---- */

void show_section(struct show *show, const char *title)
{
    add(show, BLOCK_SECTION, title);
}

void show_part(struct show *show, const char *title)
{
    add(show, BLOCK_PART, title);
}

void show_heading(struct show *show, const char *title)
{
    add(show, BLOCK_HEADING, title);
}

void show_fold(struct show *show, const char *title, bool is_open)
{
    add(show, BLOCK_FOLD, title)->is_open = is_open;
}

void show_unfold(struct show *show)
{
    add(show, BLOCK_UNFOLD, NULL);
}

struct buffer *show_line(struct show *show, enum show_line kind)
{
    struct show_block *block = add(show, BLOCK_LINE, NULL);
    block->line = kind;
    return &block->cell.text;
}

void show_tile(struct show *show, const char *label, void (*view)(struct buffer *out, double value), double value)
{
    struct show_block *block = add(show, BLOCK_TILE, NULL);
    buffer_string(&block->cell.about, label);
    view(&block->cell.text, value);
    block->cell.number = value;
}

struct buffer *show_tile_below(struct show *show)
{
    assert(last(show)->kind == BLOCK_TILE);
    return &last(show)->cell.below;
}

/* ---- tables ---- */

static struct show_rows *rows_of(struct show *show)
{
    assert(last(show)->kind == BLOCK_TABLE);
    return &last(show)->rows;
}

static void add_column(struct show_rows *rows, const char *head, bool is_left)
{
    assert(rows->row_count == 0);
    MEM_GROW(rows->heads, rows->head_capacity, rows->column_count + 1);
    struct show_head *column = &rows->heads[rows->column_count++];
    *column = (struct show_head){.is_left = is_left || rows->column_count == 1};
    buffer_string(&column->text, head);
}

void show_table(struct show *show, ...)
{
    struct show_rows *rows = &add(show, BLOCK_TABLE, NULL)->rows;
    const char *head;
    va_list heads;
    rows->shown = SIZE_MAX;
    va_start(heads, show);
    while ((head = va_arg(heads, const char *)) != NULL)
        add_column(rows, head + (head[0] == '<'), head[0] == '<');
    va_end(heads);
    rows->has_heads = rows->column_count > 0;
    if (!rows->has_heads) {
        add_column(rows, "", true);
        add_column(rows, "", true);
    }
}

void show_column(struct show *show, const char *head)
{
    add_column(rows_of(show), head, false);
}

void show_left(struct show *show)
{
    struct show_rows *rows = rows_of(show);
    rows->heads[rows->column_count - 1].is_left = true;
}

void show_rows_shown(struct show *show, size_t count)
{
    rows_of(show)->shown = count;
}

void show_rows_beyond(struct show *show, size_t count)
{
    rows_of(show)->beyond = count;
}

static struct show_cell *add_cell(struct show_rows *rows)
{
    assert(rows->cell_count < rows->row_count * rows->column_count);
    MEM_GROW(rows->cells, rows->cell_capacity, rows->cell_count + 1);
    struct show_cell *cell = &rows->cells[rows->cell_count++];
    *cell = no_cell;
    return cell;
}

void show_row(struct show *show, const char *name)
{
    struct show_rows *rows = rows_of(show);
    while (rows->cell_count < rows->row_count * rows->column_count)
        add_cell(rows);
    rows->row_count++;
    buffer_string(&add_cell(rows)->text, name[0] != '\0' ? name : "(none)");
}

static struct show_cell *last_cell(struct show *show)
{
    struct show_block *block = last(show);
    if (block->kind != BLOCK_TABLE)
        return &block->cell;
    assert(block->rows.cell_count > 0);
    return &block->rows.cells[block->rows.cell_count - 1];
}

void show_row_about(struct show *show, const char *about)
{
    buffer_string(&last_cell(show)->about, about);
}

struct buffer *show_cell(struct show *show)
{
    return &add_cell(rows_of(show))->text;
}

void show_value(struct show *show, void (*view)(struct buffer *out, double value), double value)
{
    view(show_cell(show), value);
    show_number(show, value);
}

void show_metric(struct show *show, const char *metric, const char *unit, double value)
{
    view_metric(show_cell(show), metric, unit, value);
    show_number(show, value);
}

void show_bar(struct show *show, double ratio, enum plot_colour colour)
{
    show_cell(show);
    last_cell(show)->bar = fmin(fmax(ratio, 0), 1);
    last_cell(show)->colour = colour;
}

struct buffer *show_below(struct show *show)
{
    return &last_cell(show)->below;
}

void show_number(struct show *show, double number)
{
    last_cell(show)->number = number;
}

struct buffer *show_link(struct show *show)
{
    return &last_cell(show)->link;
}

void show_shade(struct show *show, double part)
{
    last_cell(show)->shade = part;
}

void show_colour(struct show *show, enum plot_colour colour)
{
    last_cell(show)->colour = colour;
}

void show_mark(struct show *show, char mark)
{
    struct show_block *block = last(show);
    last_cell(show)->mark = mark;
    if (block->kind == BLOCK_TABLE && block->rows.cell_count % block->rows.column_count == 1)
        block->rows.has_marks = true;
}

void show_state(struct show *show, char mark)
{
    last_cell(show)->mark = mark;
    last_cell(show)->is_told = true;
}

/* ---- figures ---- */

double *show_numbers(struct show *show, size_t count)
{
    return arena_alloc_array(&show->arena, count, double);
}

static const char *keep(struct show *show, const char *text)
{
    return text != NULL ? arena_copy(&show->arena, text_of(text)) : NULL;
}

static struct plot_series *keep_series(struct show *show, const struct plot_series *series, size_t count)
{
    struct plot_series *kept = arena_alloc_array(&show->arena, count + 1, struct plot_series);
    for (size_t s = 0; s < count; s++) {
        kept[s] = series[s];
        kept[s].label = keep(show, series[s].label);
    }
    return kept;
}

static bool has_column(const struct plot_series *series)
{
    return series->label != NULL && series->base == NULL && series->count != 2;
}

static void write_place(const struct plot *plot, double x, struct buffer *out)
{
    if (plot->x_kind == PLOT_X_DURATION_LOG)
        view_duration(out, x);
    else
        buffer_format(out, "%.4g", x);
}

/* NAN: the series has ended before. */
static double value_at(const struct plot *plot, const struct plot_series *series, double x)
{
    const bool is_last = plot->x_kind == PLOT_X_DURATION_LOG; /* else the first point at x or behind */
    size_t low = 0, high = series->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (series->x[middle] < x || (is_last && series->x[middle] <= x))
            low = middle + 1;
        else
            high = middle;
    }
    if (is_last)
        return low > 0 ? series->y[low - 1] : 0;
    return low < series->count ? series->y[low] : NAN;
}

static void add_value(struct show *show, const struct plot *plot, double value)
{
    if (plot->y_kind == PLOT_Y_PERCENT)
        view_percent(show_cell(show), value / 100);
    else
        view_amount(show_cell(show), value);
}

static void add_data(struct show *show, const struct show_figure *figure)
{
    const struct plot *plot = &figure->plot;
    const struct plot_series *first = &plot->series[0];
    const size_t points = figure->marks != NULL ? figure->mark_count : first->count;
    const size_t stride = (points + DATA_ROWS_MAX - 1) / DATA_ROWS_MAX;
    const double *x = figure->marks != NULL ? figure->marks : first->x;
    show_table(show, figure->first, NULL);
    for (size_t s = 0; s < plot->series_count; s++)
        if (has_column(&plot->series[s]))
            show_column(show, plot->series[s].label);
    for (size_t s = 0; s < figure->more_count; s++)
        show_column(show, figure->more[s].label);
    for (size_t i = 0; i < points; i += stride) {
        struct buffer place = {0};
        write_place(plot, x[i], &place);
        show_row(show, buffer_c_string(&place));
        buffer_release(&place);
        for (size_t s = 0; s < plot->series_count; s++)
            if (has_column(&plot->series[s]))
                add_value(show, plot, value_at(plot, &plot->series[s], x[i]));
        for (size_t s = 0; s < figure->more_count; s++)
            add_value(show, plot, value_at(plot, &figure->more[s], x[i]));
    }
}

void show_figure(struct show *show, const struct show_figure *figure)
{
    struct show_figure *kept = arena_alloc(&show->arena, sizeof *kept);
    const unsigned media = show->media;
    *kept = *figure;
    kept->plot.title = keep(show, figure->plot.title);
    kept->plot.description = keep(show, figure->plot.description);
    kept->plot.id = keep(show, figure->plot.id);
    kept->plot.series = keep_series(show, figure->plot.series, figure->plot.series_count);
    kept->y_text = keep(show, figure->y_text);
    kept->x_text = keep(show, figure->x_text);
    kept->more = NULL; /* in the table, once it is made */
    show->media = media & SHOW_PAGE;
    add(show, BLOCK_FIGURE, NULL)->figure = kept;
    if (figure->first != NULL) {
        show_fold(show, "Data", false);
        last(show)->figure = kept;
        add_data(show, figure);
        show_unfold(show);
    }
    show->media = media;
}

struct error show_figure_print(const struct show *show, const char *id, enum plot_form form,
                               const struct plot_tool *tool, struct buffer *out)
{
    for (size_t b = 0; b < show->block_count; b++) {
        const struct show_figure *figure = show->blocks[b]->figure;
        if (show->blocks[b]->kind == BLOCK_FIGURE && strcmp(figure->plot.id, id) == 0)
            return plot_print(&figure->plot, figure->x_text, figure->y_text, form, tool, out);
    }
    return error_new(ERROR_DATA, "the run has nothing to draw in that figure");
}

double show_scale_end(double high)
{
    static const double steps[] = {1, 2, 2.5, 4, 5, 8, 10};
    if (!(high > 0))
        return 1;
    double power = pow(10, floor(log10(high)));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i] * power >= high * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

double show_highest(const double *values, size_t count)
{
    double high = 0;
    for (size_t i = 0; i < count; i++)
        high = fmax(high, values[i]);
    return high;
}
