/* reports/show_page.c -- a document as one page without network, script or other file. */
#include <math.h>

#include "reports/show_inside.h"
#include "reports/view.h"

enum { NAME_WIDTH_MAX = 2000, STACKED_COLUMNS_MAX = 6 };

struct page {
    const struct show *show;
    const struct plot_tool *tool;
    struct buffer *out;
    bool is_in_section, is_in_list, is_in_tiles, is_drawn;
};

static void escape(const struct buffer *text, struct buffer *out)
{
    struct buffer source = {0}, shown = {0};
    if (text->length <= NAME_WIDTH_MAX && text_plain_bytes(show_text_of(text)) == text->length) {
        buffer_text(out, show_text_of(text)); /* most cells are numbers */
        return;
    }
    buffer_text(&source, show_text_of(text));
    view_name(&shown, buffer_c_string(&source), NAME_WIDTH_MAX);
    buffer_html(out, show_text_of(&shown));
    buffer_release(&source);
    buffer_release(&shown);
}

/* A line may be broken behind '_'. */
static void escape_name(const struct buffer *text, struct buffer *out)
{
    struct buffer escaped = {0};
    escape(text, &escaped);
    for (size_t i = 0; i < escaped.length; i++) {
        buffer_char(out, escaped.bytes[i]);
        if (escaped.bytes[i] == '_')
            buffer_string(out, "<wbr>");
    }
    buffer_release(&escaped);
}

static const char *class_of(char mark)
{
    return mark == '+' ? "met" : mark == '-' ? "unmet" : "unknown";
}

static const char *meaning_of(char mark)
{
    switch (mark) {
    case '+':
        return "better";
    case '-':
        return "worse";
    case '*':
        return "moved; neither is better";
    case '~':
        return "no clear difference";
    case '=':
        return "equal with every seed";
    default:
        return "not defined on both sides";
    }
}

static void close_list(struct page *page)
{
    if (page->is_in_list)
        buffer_string(page->out, "</ul>\n");
    if (page->is_in_tiles)
        buffer_string(page->out, "</div>\n");
    page->is_in_list = page->is_in_tiles = false;
}

static void close_section(struct page *page)
{
    if (page->is_in_section)
        buffer_string(page->out, "</section>\n");
    page->is_in_section = false;
}

static void write_title(struct page *page, const char *element, const struct show_block *block)
{
    if (block->cell.text.length == 0)
        return;
    buffer_format(page->out, "<%s>", element);
    escape(&block->cell.text, page->out);
    buffer_format(page->out, "</%.2s>\n", element);
}

/* ---- tables ---- */

/* From light to dark blue. */
static void write_shade(double part, struct buffer *out)
{
    static const int light[] = {239, 246, 252}, dark[] = {8, 64, 129};
    buffer_string(out, " style=\"background:#");
    for (int k = 0; k < 3; k++)
        buffer_format(out, "%02x", (unsigned)lrint(light[k] + part * (dark[k] - light[k])) & 0xffU);
    buffer_format(out, ";color:%s\"", part > 0.5 ? "#fff" : "#111");
}

static void write_below(const struct show_cell *cell, struct buffer *out)
{
    if (cell->below.length == 0)
        return;
    buffer_format(out, "<small%s%s%s>", cell->mark != 0 ? " class=\"" : "", cell->mark != 0 ? class_of(cell->mark) : "",
                  cell->mark != 0 ? "\"" : "");
    escape(&cell->below, out);
    buffer_string(out, "</small>");
}

static void write_cell(const struct show_cell *cell, bool is_left, struct buffer *out)
{
    buffer_string(out, is_left ? "<td class=\"left\"" : "<td");
    if (!isnan(cell->shade))
        write_shade(cell->shade, out);
    buffer_char(out, '>');
    if (!isnan(cell->bar)) {
        buffer_format(out, "<div class=\"bar\"><span class=\"fill c%d\" style=\"width:%.2f%%\"></span></div></td>",
                      (int)cell->colour, 100 * cell->bar);
        return;
    }
    const bool is_marked = cell->mark != 0 && cell->below.length == 0;
    if (is_marked)
        buffer_format(out, "<span class=\"%s\">", class_of(cell->mark));
    if (cell->link.length > 0) {
        buffer_string(out, "<a href=\"");
        buffer_html(out, show_text_of(&cell->link));
        buffer_string(out, "\">");
    }
    if (isfinite(cell->number)) {
        buffer_string(out, "<data value=\"");
        buffer_double(out, cell->number);
        buffer_string(out, "\">");
    }
    escape(&cell->text, out);
    buffer_string(out, isfinite(cell->number) ? "</data>" : "");
    buffer_string(out, cell->link.length > 0 ? "</a>" : "");
    buffer_string(out, is_marked ? "</span>" : "");
    write_below(cell, out);
    buffer_string(out, "</td>");
}

static void write_name(const struct show_cell *cell, struct buffer *out)
{
    buffer_string(out, "<th scope=\"row\"");
    if (cell->about.length > 0) {
        buffer_string(out, " title=\"");
        escape(&cell->about, out);
        buffer_char(out, '"');
    }
    buffer_char(out, '>');
    if (cell->colour != 0)
        buffer_format(out, "<span class=\"c%d\"><i class=\"box fill\"></i></span>", (int)cell->colour);
    if (cell->mark != 0)
        buffer_format(out, "<span class=\"mark %s\" title=\"%s\">%c</span> ", class_of(cell->mark),
                      meaning_of(cell->mark), cell->mark);
    escape_name(&cell->text, out);
    write_below(cell, out);
    buffer_string(out, "</th>");
}

/* On a phone a row of few columns, or of cells of two lines, stands as a name above its values. */
static const char *class_of_rows(const struct show_rows *rows)
{
    bool has_below = rows->has_marks;
    for (size_t c = 0; c < rows->cell_count; c++)
        has_below |= rows->cells[c].below.length > 0;
    return !rows->has_heads                                         ? " class=\"pairs\""
           : has_below && rows->column_count <= STACKED_COLUMNS_MAX ? " class=\"stacked\""
                                                                    : "";
}

static void write_part(const struct show_rows *rows, size_t from, size_t to, struct buffer *out)
{
    buffer_format(out, "<div class=\"scroll\"><table%s>\n", class_of_rows(rows));
    if (rows->has_heads) {
        buffer_string(out, "<thead><tr>");
        for (size_t c = 0; c < rows->column_count; c++) {
            buffer_string(out,
                          c > 0 && rows->heads[c].is_left ? "<th scope=\"col\" class=\"left\">" : "<th scope=\"col\">");
            escape_name(&rows->heads[c].text, out);
            buffer_string(out, "</th>");
        }
        buffer_string(out, "</tr></thead>\n");
    }
    buffer_string(out, "<tbody>\n");
    for (size_t r = from; r < to; r++) {
        buffer_string(out, "<tr>");
        for (size_t c = 0, at = r * rows->column_count; c < rows->column_count; c++, at++)
            if (c == 0)
                write_name(&rows->cells[at], out);
            else if (at < rows->cell_count)
                write_cell(&rows->cells[at], rows->heads[c].is_left, out);
            else
                buffer_string(out, "<td></td>");
        buffer_string(out, "</tr>\n");
    }
    buffer_string(out, "</tbody></table></div>\n");
}

static void write_table(const struct show_rows *rows, struct buffer *out)
{
    const size_t shown = rows->row_count < rows->shown ? rows->row_count : rows->shown;
    write_part(rows, 0, shown, out);
    if (shown == rows->row_count)
        return;
    buffer_format(out, "<details><summary>the other %zu</summary>\n", rows->row_count - shown);
    write_part(rows, shown, rows->row_count, out);
    buffer_string(out, "</details>\n");
}

/* ---- figures, tiles, lines ---- */

static void write_legend(const struct plot *plot, struct buffer *out)
{
    buffer_string(out, "<ul class=\"legend\" aria-hidden=\"true\">");
    for (size_t i = 0; i < plot->series_count; i++) {
        const struct plot_series *series = &plot->series[i];
        if (series->label == NULL)
            continue;
        struct buffer label = {0};
        buffer_string(&label, series->label);
        buffer_format(out, "<li class=\"c%d\"><i%s></i>", (int)series->colour,
                      series->is_dashed ? " class=\"dash\"" : "");
        escape(&label, out);
        buffer_string(out, "</li>");
        buffer_release(&label);
    }
    buffer_string(out, "</ul>\n");
}

static void write_figure(struct page *page, const struct show_figure *figure)
{
    struct buffer *out = page->out, svg = {0};
    struct error error = plot_svg(&figure->plot, page->tool, &svg);
    page->is_drawn = !error_is(error);
    if (error_is(error)) {
        buffer_string(out, "<p class=\"warn\">No drawing: ");
        buffer_html(out, text_of(error_message(&error)));
        buffer_string(out, figure->first != NULL ? ". The table below holds the data.</p>\n" : ".</p>\n");
        error_release(&error);
        return;
    }
    write_legend(&figure->plot, out);
    buffer_string(out, "<figure><figcaption><span>");
    buffer_html(out, text_of(figure->y_text));
    buffer_string(out, "</span></figcaption>\n");
    buffer_bytes(out, svg.bytes, svg.length);
    buffer_string(out, "<figcaption><span></span><span>");
    buffer_html(out, text_of(figure->x_text));
    buffer_string(out, "</span></figcaption></figure>\n");
    buffer_release(&svg);
}

static void write_tile(struct page *page, const struct show_cell *cell)
{
    struct buffer *out = page->out;
    buffer_string(out, page->is_in_tiles ? "" : "<div class=\"tiles\">\n");
    page->is_in_tiles = true;
    buffer_string(out, "<dl class=\"tile\"><dt>");
    escape(&cell->about, out);
    buffer_string(out, "</dt><dd><data value=\"");
    buffer_double(out, cell->number);
    buffer_string(out, "\">");
    escape(&cell->text, out);
    buffer_string(out, "</data></dd><dd>");
    escape(&cell->below, out);
    buffer_string(out, "</dd></dl>\n");
}

static void write_line(struct page *page, const struct show_block *block)
{
    static const char *const opens[] = {[SHOW_PLAIN] = "<p>",
                                        [SHOW_LEAD] = "<p class=\"sub\">",
                                        [SHOW_NOTE] = "<p class=\"note\">",
                                        [SHOW_WARNING] = "<p class=\"warn\">",
                                        [SHOW_ITEM] = "<li>",
                                        [SHOW_CODE] = "<pre>"};
    struct buffer *out = page->out;
    if (block->line == SHOW_ITEM) {
        buffer_string(out, page->is_in_list ? "" : "<ul class=\"gates\">\n");
        page->is_in_list = true;
        buffer_format(out, "<li class=\"%s\">", block->cell.mark != 0 ? class_of(block->cell.mark) : "plain");
    } else {
        buffer_string(out, opens[block->line]);
    }
    if (block->line == SHOW_CODE)
        buffer_html(out, show_text_of(&block->cell.text));
    else
        escape(&block->cell.text, out);
    buffer_string(out, block->line == SHOW_ITEM ? "</li>\n" : block->line == SHOW_CODE ? "</pre>\n" : "</p>\n");
}

static void write_block(struct page *page, const struct show_block *block)
{
    struct buffer *out = page->out;
    const bool is_in_list = block->kind == BLOCK_TILE || (block->kind == BLOCK_LINE && block->line == SHOW_ITEM);
    if (!is_in_list)
        close_list(page);
    switch (block->kind) {
    case BLOCK_SECTION:
        close_section(page);
        buffer_string(out, "<section>");
        page->is_in_section = true;
        write_title(page, "h2", block);
        break;
    case BLOCK_PART:
        close_section(page);
        write_title(page, "h2 class=\"part\"", block);
        break;
    case BLOCK_HEADING:
        write_title(page, "h3", block);
        break;
    case BLOCK_FOLD:
        buffer_format(out, "<details%s><summary>",
                      block->is_open || (block->figure != NULL && !page->is_drawn) ? " open" : "");
        escape(&block->cell.text, out);
        buffer_string(out, "</summary>\n");
        break;
    case BLOCK_UNFOLD:
        buffer_string(out, "</details>\n");
        break;
    case BLOCK_LINE:
        write_line(page, block);
        break;
    case BLOCK_TILE:
        write_tile(page, &block->cell);
        break;
    case BLOCK_TABLE:
        write_table(&block->rows, out);
        break;
    case BLOCK_FIGURE:
        write_figure(page, block->figure);
        break;
    }
}

void show_page(const struct show *show, const struct plot_tool *tool, struct buffer *out)
{
    struct page page = {.show = show, .tool = tool, .out = out};
    struct buffer title = {0};
    buffer_string(&title, show->title);
    plot_clean(tool);
    buffer_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    escape(&title, out);
    buffer_string(out, "</title>\n<style>\n");
    buffer_string(out, show_style);
    buffer_string(out, "</style>\n</head>\n<body><main>\n<h1>");
    escape(&title, out);
    buffer_string(out, "</h1>\n");
    buffer_release(&title);
    for (size_t b = 0; b < show->block_count; b++)
        if (show->blocks[b]->media & SHOW_PAGE)
            write_block(&page, show->blocks[b]);
    close_list(&page);
    close_section(&page);
    buffer_string(out, "</main></body>\n</html>\n");
}
