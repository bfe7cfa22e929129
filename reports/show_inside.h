/* reports/show_inside.h -- the parts of a document; for show*.c only. */
#ifndef REPORTS_SHOW_INSIDE_H
#define REPORTS_SHOW_INSIDE_H

#include "reports/show.h"

struct show_cell {
    struct buffer text, below, link, about;
    double number, bar, shade; /* NAN: none */
    enum plot_colour colour;   /* 0: none */
    char mark;                 /* 0: none */
    bool is_told;              /* the mark: by the words */
};

struct show_head {
    struct buffer text;
    bool is_left;
};

struct show_rows {
    struct show_head *heads;
    size_t column_count, head_capacity;
    struct show_cell *cells; /* of row r those from r * column_count on */
    size_t cell_count, cell_capacity;
    size_t row_count, shown, beyond;
    bool has_heads, has_marks; /* has_marks: of names */
};

enum show_kind {
    BLOCK_SECTION,
    BLOCK_PART,
    BLOCK_HEADING,
    BLOCK_FOLD,
    BLOCK_UNFOLD,
    BLOCK_LINE,
    BLOCK_TILE,
    BLOCK_TABLE,
    BLOCK_FIGURE,
};

struct show_block {
    enum show_kind kind;
    unsigned media;
    enum show_line line;
    struct show_cell cell;      /* the title or text of all but tables and figures */
    struct show_rows rows;      /* of a table */
    struct show_figure *figure; /* of the figure; of a fold that holds a figure's data */
    bool is_open;               /* of a fold */
};

struct show {
    char *title;
    unsigned media;
    struct show_block **blocks;
    size_t block_count, block_capacity;
    struct arena arena;
};

static inline struct text show_text_of(const struct buffer *buffer)
{
    return (struct text){buffer->bytes, buffer->length};
}

extern const char show_style[]; /* the style sheet of pages */

#endif
