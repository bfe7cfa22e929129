/* reports/show_text.c -- a document for a terminal, and for a pull request. */
#include <ctype.h>
#include <math.h>

#include "reports/show_inside.h"
#include "reports/view.h"

enum { NAME_WIDTH_MAX = 60, NAME_WIDTH_MIN = 16, COLUMN_GAP = 3, BAR_WIDTH = 40, CODE_INDENT = 2 };

static void pad(struct buffer *out, size_t columns)
{
    while (columns-- > 0)
        buffer_char(out, ' ');
}

static size_t width_of(const struct buffer *text)
{
    return view_width(show_text_of(text));
}

/* As view_name writes it. */
static void write_plain(const struct buffer *text, size_t width, struct buffer *out)
{
    struct buffer source = {0};
    buffer_text(&source, show_text_of(text));
    view_name(out, buffer_c_string(&source), width);
    buffer_release(&source);
}

/* ---- the writer of text ---- */

struct writer {
    const struct show *show;
    struct buffer *out;
    const struct buffer *title; /* that waits for what follows it; NULL: none */
    const struct show_block *notes[32];
    size_t note_count, indent;
};

/* Words in lines of at most SHOW_WIDTH columns; the first begins at `column`, the others behind `indent`. */
static void write_words(struct writer *writer, const struct buffer *text, size_t column, size_t indent)
{
    struct buffer whole = {0};
    write_plain(text, SIZE_MAX, &whole);
    struct text rest = show_text_of(&whole), word;
    for (bool is_first = true; rest.length > 0 && text_cut(&rest, ' ', &word); is_first = false) {
        const size_t width = view_width(word);
        if (!is_first && column + 1 + width > SHOW_WIDTH) {
            buffer_char(writer->out, '\n');
            pad(writer->out, indent);
            column = indent;
        } else if (!is_first) {
            buffer_char(writer->out, ' ');
            column++;
        }
        buffer_text(writer->out, word);
        column += width;
    }
    buffer_char(writer->out, '\n');
    buffer_release(&whole);
}

static void write_line(struct writer *writer, const struct show_block *block)
{
    const size_t indent = writer->indent + (block->line == SHOW_NOTE || block->line == SHOW_ITEM ? 2 : 0);
    if (block->line == SHOW_CODE) {
        struct text rest = show_text_of(&block->cell.text), line;
        while (rest.length > 0 && text_cut(&rest, '\n', &line)) {
            pad(writer->out, writer->indent + CODE_INDENT);
            buffer_shown(writer->out, line);
            buffer_char(writer->out, '\n');
        }
        return;
    }
    pad(writer->out, indent);
    if (block->line == SHOW_ITEM || block->line == SHOW_WARNING) { /* may be looked for in a log: one line */
        write_plain(&block->cell.text, SIZE_MAX, writer->out);
        buffer_char(writer->out, '\n');
    } else {
        write_words(writer, &block->cell.text, indent, indent);
    }
}

static void flush_title(struct writer *writer)
{
    if (writer->title != NULL && writer->title->length > 0) {
        pad(writer->out, writer->indent);
        write_words(writer, writer->title, writer->indent, writer->indent);
    }
    writer->title = NULL;
}

static void flush_notes(struct writer *writer)
{
    for (size_t n = 0; n < writer->note_count; n++)
        write_line(writer, writer->notes[n]);
    writer->note_count = 0;
}

/* ---- tables ---- */

static void write_bar(double ratio, struct buffer *out)
{
    const long filled = lround(ratio * BAR_WIDTH);
    for (long i = 0; i < BAR_WIDTH; i++)
        buffer_string(out, i < filled ? "\xe2\x96\x88" : "\xe2\x96\x91"); /* U+2588, U+2591 */
}

static void cell_text(const struct show_cell *cell, struct buffer *out)
{
    if (!isnan(cell->bar)) {
        write_bar(cell->bar, out);
        return;
    }
    write_plain(&cell->text, SIZE_MAX, out);
    if (cell->below.length > 0) {
        buffer_char(out, ' ');
        write_plain(&cell->below, SIZE_MAX, out);
    }
}

/* A cell that is no name. */
static void value_text(const struct show_cell *cell, struct buffer *out)
{
    cell_text(cell, out);
    if (cell->mark != 0 && !cell->is_told)
        buffer_format(out, " %c", cell->mark);
}

static size_t rows_hidden(const struct show_rows *rows)
{
    return rows->row_count + rows->beyond - (rows->row_count < rows->shown ? rows->row_count : rows->shown);
}

static size_t rows_shown(const struct show_rows *rows)
{
    return rows->row_count < rows->shown ? rows->row_count : rows->shown;
}

static void write_pairs(struct writer *writer, const struct show_rows *rows)
{
    size_t width = 0;
    for (size_t r = 0; r < rows->row_count; r++) {
        const size_t own = width_of(&rows->cells[2 * r].text);
        width = own > width ? own : width;
    }
    for (size_t r = 0; r < rows->row_count; r++) {
        struct buffer text = {0};
        const size_t start = writer->out->length;
        write_plain(&rows->cells[2 * r].text, NAME_WIDTH_MAX, writer->out);
        pad(writer->out,
            width + 2 - view_width((struct text){writer->out->bytes + start, writer->out->length - start}));
        if (2 * r + 1 < rows->cell_count)
            cell_text(&rows->cells[2 * r + 1], &text);
        write_words(writer, &text, width + 2, width + 2);
        buffer_release(&text);
    }
}

/* The widest word of a head, which is broken at blanks where a row would be too wide. */
static size_t word_width(const struct buffer *head)
{
    struct text rest = show_text_of(head), word;
    size_t width = 0;
    while (rest.length > 0 && text_cut(&rest, ' ', &word))
        width = view_width(word) > width ? view_width(word) : width;
    return width;
}

/* The piece of a head that stands in its `line`-th line from below; the number of lines. */
static size_t head_piece(const struct buffer *head, size_t width, size_t line, struct text *piece)
{
    struct text rest = show_text_of(head), word, pieces[8] = {{0}};
    size_t count = 0;
    while (rest.length > 0 && text_cut(&rest, ' ', &word)) {
        struct text *last = count > 0 ? &pieces[count - 1] : NULL;
        if (last != NULL && (count == 8 || view_width(*last) + 1 + view_width(word) <= width))
            last->length = (size_t)(word.at + word.length - last->at);
        else
            pieces[count++] = word;
    }
    *piece = line < count ? pieces[count - 1 - line] : (struct text){0};
    return count;
}

/* The widths of the columns.  If rows are wider than the screen, heads are broken, and names stand above their row. */
static void measure(const struct writer *writer, const struct show_rows *rows, const struct buffer *texts,
                    size_t *widths)
{
    const size_t shown = rows_shown(rows), columns = rows->column_count, indent = 2 + 2 * (size_t)rows->has_marks;
    for (int is_broken = 0; is_broken < 2; is_broken++) {
        size_t sum = writer->indent;
        for (size_t c = 0; c < columns; c++) {
            const struct buffer *head = &rows->heads[c].text;
            widths[c] = c == 0 && writer->title != NULL ? 0 : is_broken && c > 0 ? word_width(head) : width_of(head);
            for (size_t r = 0; r < shown; r++) {
                size_t own = width_of(&texts[r * columns + c]) + (c == 0 ? indent : 0);
                own = c == 0 && own > NAME_WIDTH_MAX ? NAME_WIDTH_MAX : own;
                widths[c] = own > widths[c] ? own : widths[c];
            }
            sum += widths[c] + (c > 0 ? COLUMN_GAP : 0);
        }
        if (sum <= SHOW_WIDTH)
            return;
        const size_t more = sum - SHOW_WIDTH;
        if (is_broken && widths[0] > more + NAME_WIDTH_MIN) /* else it would not suffice */
            widths[0] -= more;
    }
}

static void write_column(struct writer *writer, const struct show_rows *rows, size_t c, size_t width, struct text text)
{
    const size_t own = view_width(text), space = width > own ? width - own : 0;
    pad(writer->out, COLUMN_GAP + (rows->heads[c].is_left ? 0 : space));
    buffer_text(writer->out, text);
    if (rows->heads[c].is_left && c + 1 < rows->column_count)
        pad(writer->out, space);
}

static void end_row(struct buffer *out)
{
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->length--;
    buffer_char(out, '\n');
}

/* The first column of a row: text that is too wide stands on a line of its own. */
static void write_first(struct writer *writer, size_t indent, const struct buffer *text, char mark, size_t width)
{
    struct buffer name = {0};
    pad(writer->out, indent);
    if (mark != 0)
        buffer_format(writer->out, "%c ", mark);
    indent += mark != 0 ? 2 : 0;
    write_plain(text, indent == writer->indent ? SIZE_MAX : NAME_WIDTH_MAX, &name);
    buffer_text(writer->out, show_text_of(&name));
    size_t column = indent + width_of(&name);
    if (column > writer->indent + width) {
        end_row(writer->out);
        column = 0;
    }
    pad(writer->out, writer->indent + width - column);
    buffer_release(&name);
}

static void write_heads(struct writer *writer, const struct show_rows *rows, const size_t *widths)
{
    size_t lines = 1;
    struct text piece;
    for (size_t c = 1; c < rows->column_count; c++) {
        const size_t own = head_piece(&rows->heads[c].text, widths[c], 0, &piece);
        lines = own > lines ? own : lines;
    }
    for (size_t line = lines; line-- > 0;) {
        const struct buffer *first = writer->title != NULL ? writer->title : &rows->heads[0].text;
        if (line == lines - 1)
            write_first(writer, writer->indent, first, 0, widths[0]);
        else
            pad(writer->out, writer->indent + widths[0]);
        for (size_t c = 1; c < rows->column_count; c++) {
            struct buffer source = {0}, text = {0};
            head_piece(&rows->heads[c].text, widths[c], line, &piece);
            buffer_text(&source, piece);
            write_plain(&source, SIZE_MAX, &text);
            write_column(writer, rows, c, widths[c], show_text_of(&text));
            buffer_release(&source);
            buffer_release(&text);
        }
        end_row(writer->out);
    }
    writer->title = NULL;
}

static void write_rows(struct writer *writer, const struct show_rows *rows)
{
    const size_t columns = rows->column_count, shown = rows_shown(rows);
    struct buffer *texts = mem_zalloc(shown * columns + 1, sizeof *texts);
    size_t *widths = mem_zalloc(columns, sizeof *widths);
    for (size_t i = 0; i < shown * columns && i < rows->cell_count; i++)
        if (i % columns == 0)
            cell_text(&rows->cells[i], &texts[i]);
        else
            value_text(&rows->cells[i], &texts[i]);
    measure(writer, rows, texts, widths);
    write_heads(writer, rows, widths);
    for (size_t r = 0; r < shown; r++) {
        const char mark = rows->cells[r * columns].mark;
        write_first(writer, writer->indent + 2, &texts[r * columns], mark == 0 && rows->has_marks ? ' ' : mark,
                    widths[0]);
        for (size_t c = 1; c < columns; c++)
            write_column(writer, rows, c, widths[c], show_text_of(&texts[r * columns + c]));
        end_row(writer->out);
    }
    for (size_t i = 0; i < shown * columns; i++)
        buffer_release(&texts[i]);
    mem_free(texts);
    mem_free(widths);
    if (rows_hidden(rows) > 0) {
        pad(writer->out, writer->indent + 2);
        buffer_format(writer->out, "and %zu more\n", rows_hidden(rows));
    }
}

/* ---- blocks ---- */

static void write_break(struct writer *writer)
{
    flush_title(writer);
    flush_notes(writer);
    if (writer->out->length > 0)
        buffer_char(writer->out, '\n');
}

static void write_block(struct writer *writer, const struct show_block *block)
{
    switch (block->kind) {
    case BLOCK_PART:
        write_break(writer);
        writer->indent = 0;
        buffer_string(writer->out, "== ");
        write_words(writer, &block->cell.text, 3, 3);
        break;
    case BLOCK_SECTION:
        write_break(writer);
        writer->indent = 0;
        writer->title = block->cell.text.length > 0 ? &block->cell.text : NULL;
        break;
    case BLOCK_HEADING:
        if (writer->title != NULL)
            flush_title(writer);
        else
            write_break(writer);
        writer->indent = 2;
        writer->title = &block->cell.text;
        break;
    case BLOCK_FOLD:
        flush_title(writer);
        flush_notes(writer);
        writer->title = &block->cell.text;
        break;
    case BLOCK_LINE:
        if (block->line == SHOW_NOTE && writer->title != NULL &&
            writer->note_count < sizeof writer->notes / sizeof writer->notes[0]) {
            writer->notes[writer->note_count++] = block;
            break;
        }
        flush_title(writer);
        write_line(writer, block);
        break;
    case BLOCK_TABLE:
        if (block->rows.has_heads) {
            write_rows(writer, &block->rows);
        } else {
            flush_title(writer);
            write_pairs(writer, &block->rows);
        }
        flush_notes(writer);
        break;
    case BLOCK_UNFOLD:
    case BLOCK_TILE:
    case BLOCK_FIGURE:
        break;
    }
}

void show_text(const struct show *show, struct buffer *out)
{
    struct buffer own = {0};
    struct writer writer = {.show = show, .out = &own};
    for (size_t b = 0; b < show->block_count; b++)
        if (show->blocks[b]->media & SHOW_TEXT)
            write_block(&writer, show->blocks[b]);
    flush_title(&writer);
    flush_notes(&writer);
    buffer_bytes(out, own.bytes, own.length);
    buffer_release(&own);
}

/* ---- Markdown ---- */

/* May the character at this place mean something in a cell or a line?  An underscore within a word does not. */
static bool is_special(struct text text, size_t at)
{
    const char c = text.at[at];
    if (c == '_' && at > 0 && at + 1 < text.length)
        return !isalnum((unsigned char)text.at[at - 1]) || !isalnum((unsigned char)text.at[at + 1]);
    return c != '\0' && strchr("\\`*_[]<>|~", c) != NULL;
}

static void escape(const struct buffer *text, struct buffer *out)
{
    struct buffer plain = {0};
    write_plain(text, SIZE_MAX, &plain);
    for (size_t i = 0; i < plain.length; i++) {
        if (is_special(show_text_of(&plain), i))
            buffer_char(out, '\\');
        buffer_char(out, plain.bytes[i]);
    }
    buffer_release(&plain);
}

static const char *sign_of(char mark)
{
    return mark == '+'   ? "\xe2\x9c\x85 "  /* U+2705 */
           : mark == '-' ? "\xe2\x9d\x8c "  /* U+274C */
                         : "\xe2\x9d\x94 "; /* U+2754 */
}

static void markdown_cell(const struct show_rows *rows, size_t at, struct buffer *out)
{
    struct buffer text = {0};
    const struct show_cell *cell = &rows->cells[at];
    const bool is_name = at % rows->column_count == 0;
    if (is_name && rows->has_marks)
        buffer_format(out, " `%c`", cell->mark != 0 ? cell->mark : ' ');
    cell_text(cell, &text);
    buffer_char(out, ' ');
    escape(&text, out);
    if (!is_name && cell->mark != 0 && !cell->is_told)
        buffer_format(out, " `%c`", cell->mark);
    buffer_string(out, " |");
    buffer_release(&text);
}

static void markdown_table(const struct show_rows *rows, struct buffer *out)
{
    const size_t shown = rows_shown(rows);
    buffer_string(out, "\n|");
    for (size_t c = 0; c < rows->column_count; c++) {
        buffer_char(out, ' ');
        escape(&rows->heads[c].text, out);
        buffer_string(out, " |");
    }
    buffer_string(out, "\n|");
    for (size_t c = 0; c < rows->column_count; c++)
        buffer_string(out, rows->heads[c].is_left ? "---|" : "---:|");
    buffer_char(out, '\n');
    for (size_t r = 0; r < shown; r++) {
        buffer_char(out, '|');
        for (size_t c = 0; c < rows->column_count; c++)
            if (r * rows->column_count + c < rows->cell_count)
                markdown_cell(rows, r * rows->column_count + c, out);
        buffer_char(out, '\n');
    }
    if (rows_hidden(rows) > 0)
        buffer_format(out, "\nand %zu more\n", rows_hidden(rows));
}

static void markdown_line(const struct show_block *block, bool is_in_list, struct buffer *out)
{
    if (block->line == SHOW_CODE) {
        struct text rest = show_text_of(&block->cell.text), line;
        buffer_char(out, '\n');
        while (rest.length > 0 && text_cut(&rest, '\n', &line)) {
            buffer_string(out, "    ");
            buffer_visible(out, line);
            buffer_char(out, '\n');
        }
        return;
    }
    buffer_string(out, block->line == SHOW_ITEM ? (is_in_list ? "- " : "\n- ") : "\n");
    if (block->cell.mark != 0)
        buffer_string(out, sign_of(block->cell.mark));
    escape(&block->cell.text, out);
    buffer_char(out, '\n');
}

void show_markdown(const struct show *show, struct buffer *out)
{
    static const char *const levels[] = {
        [BLOCK_SECTION] = "\n## ", [BLOCK_PART] = "\n## ", [BLOCK_HEADING] = "\n### ", [BLOCK_FOLD] = "\n#### "};
    bool is_in_list = false;
    const size_t start = out->length;
    for (size_t b = 0; b < show->block_count; b++) {
        const struct show_block *block = show->blocks[b];
        if (!(block->media & SHOW_MARKDOWN))
            continue;
        if (block->kind == BLOCK_LINE)
            markdown_line(block, is_in_list, out);
        else if (block->kind == BLOCK_TABLE)
            markdown_table(&block->rows, out);
        else if (block->kind <= BLOCK_FOLD && block->cell.text.length > 0) {
            buffer_string(out, levels[block->kind] + (out->length == start));
            escape(&block->cell.text, out);
            buffer_char(out, '\n');
        }
        is_in_list = block->kind == BLOCK_LINE && block->line == SHOW_ITEM;
    }
}
