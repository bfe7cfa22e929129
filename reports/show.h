/* reports/show.h -- what is shown, as data: a document that one writer for each medium writes.
 *
 * A document is sections.  A section holds lines, tables of typed cells, figures and tiles.  A run, a comparison
 * or a plan fills a document once; this module alone makes text for a terminal, an HTML page and Markdown of it.  So
 * escaping, widths, colours, layouts for phones and for paper are in one place.
 *
 *   struct show *show = show_new("Two policies");
 *   show_section(show, "Queue time");
 *   buffer_string(show_line(show, SHOW_NOTE), "From eligible to first start.");
 *   show_table(show, "class", "jobs", "p95", "<difference", NULL);
 *   show_row(show, "training");
 *   show_value(show, view_count, 17);
 *   show_value(show, view_duration, 42.5);
 *   buffer_string(show_cell(show), "+12.3 %");
 *   show_mark(show, '-');
 *   show_text(show, &out);                       (or show_page, show_markdown)
 *   show_free(show);
 *
 * Text       A title directly before a table stands as its first head, and notes between them follow the table.  Lines
 *            are broken at SHOW_WIDTH columns; where a table is wider, its heads are broken and long names stand above
 *            their rows.
 * Page       Needs no network, script or other file, and forbids itself everything but its own styles
 *            (Content-Security-Policy).  A number of a table stands in a <data> element to the last bit.  A figure
 *            is drawn by gnuplot; without it the page says so, and its table of data is open.
 * Markdown   As text, without figures.
 *
 * Law: texts are kept as they are and escaped by the writer alone, so a name cannot end a line, a cell or an element.
 * The bytes depend on the document only (and on gnuplot's version).
 *
 * Buffers that functions return are borrowed until the next call; what is appended is the text as people read it.
 */
#ifndef REPORTS_SHOW_H
#define REPORTS_SHOW_H

#include <stdbool.h>

#include "base/buffer.h"
#include "reports/plot.h"

#define HTML_FILE "report.html" /* the name of a page in a folder */

enum { SHOW_WIDTH = 100 };

enum show_media {
    SHOW_TEXT = 1,
    SHOW_PAGE = 2,
    SHOW_MARKDOWN = 4,
    SHOW_WORDS = SHOW_TEXT | SHOW_MARKDOWN,
    SHOW_ALL = 7
};

struct show; /* opaque */

/* title: of the page; words have none.  NULL: no page is made of it. */
struct show *show_new(const char *title);
void show_free(struct show *show); /* NULL is allowed */

/* What follows is for these media only: a set of enum show_media.  A new document is for SHOW_ALL. */
void show_on(struct show *show, unsigned media);

/* ---- titles and lines ---- */

/* A section ends the one before it.  A part is a title above sections, a heading one within a section. */
void show_section(struct show *show, const char *title);
void show_part(struct show *show, const char *title);
void show_heading(struct show *show, const char *title);

/* What follows is folded on the page until show_unfold, with the title in its place. */
void show_fold(struct show *show, const char *title, bool is_open);
void show_unfold(struct show *show);

enum show_line {
    SHOW_PLAIN,
    SHOW_LEAD,    /* what the document is of, below its title */
    SHOW_NOTE,    /* how to read what is beside it */
    SHOW_WARNING, /* stands out; never broken */
    SHOW_ITEM,    /* of a list, never broken; may bear a mark */
    SHOW_CODE,    /* one or more lines, never broken: a command, a listing */
};
struct buffer *show_line(struct show *show, enum show_line kind);

/* A large number of the page: what is appended to the buffer is below it in small letters. */
void show_tile(struct show *show, const char *label, void (*view)(struct buffer *out, double value), double value);
struct buffer *show_tile_below(struct show *show);

/* ---- tables ---- */

/* Heads up to NULL; a column is aligned to the right, or to the left if its head begins with '<'.  Without heads: rows
 * of a name and what it is. */
void show_table(struct show *show, ...) __attribute__((sentinel));
/* One more column, before the first row; a head of any text. */
void show_column(struct show *show, const char *head);
/* The column that was added last is aligned to the left. */
void show_left(struct show *show);

/* Rows behind as many are folded on the page; text and Markdown count them. */
void show_rows_shown(struct show *show, size_t count);
/* Rows that text and Markdown count with these, and that the caller does not make. */
void show_rows_beyond(struct show *show, size_t count);

void show_row(struct show *show, const char *name);
/* What the row's name means, for the page. */
void show_row_about(struct show *show, const char *about);
struct buffer *show_cell(struct show *show); /* the next one of the row */
void show_value(struct show *show, void (*view)(struct buffer *out, double value), double value);
void show_metric(struct show *show, const char *metric, const char *unit, double value);
/* A bar of this part of its length, as the next cell. */
void show_bar(struct show *show, double ratio, enum plot_colour colour);

/* Of the last cell or item: a second line in small letters; the number that it is; where it leads to, a link that is
 * escaped already; how dark it is, from 0 to 1; the colour of what it names. */
struct buffer *show_below(struct show *show);
void show_number(struct show *show, double number);
struct buffer *show_link(struct show *show);
void show_shade(struct show *show, double part);
void show_colour(struct show *show, enum plot_colour colour);
/* '+' better, '-' worse, '*' moved, '~' not clear, '=' equal, '?' not defined (reports/difference.h); of a row that has
 * no cell yet, its name. */
void show_mark(struct show *show, char mark);
/* The same where the words say it: as a colour of the page alone. */
void show_state(struct show *show, char mark);

/* ---- figures ---- */

struct show_figure {
    struct plot plot; /* texts and series are copied; the numbers are borrowed until show_free */
    const char *y_text, *x_text;
    const char *first;   /* the head of the data's first column; NULL: no table of the data */
    const double *marks; /* its rows; NULL: some of the first series' points */
    size_t mark_count;
    const struct plot_series *more; /* in the table, not drawn */
    size_t more_count;
};
/* Appended to the section: the drawing, with its data folded.  Series that are bands of a stack and those of two points
 * have no column.  The value at a row is that of the first point at or after it; on an axis of durations, whose series
 * are distributions, that of the last point at or before it. */
void show_figure(struct show *show, const struct show_figure *figure);
/* Draw the figure whose plot has that id for a paper; its title and notes are left to the paper.  ERROR_DATA if the
 * document has none. */
struct error show_figure_print(const struct show *show, const char *id, enum plot_form form,
                               const struct plot_tool *tool, struct buffer *out) MUST_CHECK;

/* Zeros that live as long as the document. */
double *show_numbers(struct show *show, size_t count);

/* The end of a scale: 1, 2, 2.5, 4, 5, 8 or 10 times a power of ten, at least `high`. */
double show_scale_end(double high);
double show_highest(const double *values, size_t count);

/* ---- the writers ---- */

void show_text(const struct show *show, struct buffer *out);
void show_page(const struct show *show, const struct plot_tool *tool, struct buffer *out); /* tool NULL: the defaults */
void show_markdown(const struct show *show, struct buffer *out);

#endif
