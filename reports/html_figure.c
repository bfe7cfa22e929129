/* reports/html_figure.c -- a figure: the drawing with its legend, and the table of its data. */
#include <string.h>

#include "reports/html_inside.h"

static void legend(const struct plot *plot, struct buffer *out)
{
    buffer_string(out, "<ul class=\"legend\" aria-hidden=\"true\">");
    for (size_t i = 0; i < plot->series_count; i++) {
        const struct plot_series *series = &plot->series[i];
        buffer_format(out, "<li class=\"c%d\"><i%s></i>", (int)series->colour,
                      series->is_dashed ? " class=\"dash\"" : "");
        html_name(out, series->label);
        buffer_string(out, "</li>");
    }
    buffer_string(out, "</ul>\n");
}

void html_drawing(const struct plot *plot, const struct plot_tool *tool, const char *y_text, const char *x_text,
                  struct buffer *out)
{
    struct buffer svg = {0};
    struct error error = plot_svg(plot, tool, &svg);
    if (error_is(error)) {
        buffer_string(out, "<p class=\"warn\">No drawing: ");
        buffer_html(out, text_of(error_message(&error)));
        buffer_string(out, ". The table below holds the data.</p>\n");
        error_release(&error);
    } else {
        legend(plot, out);
        buffer_format(out, "<figure><figcaption><span>%s</span></figcaption>\n", y_text);
        buffer_bytes(out, svg.bytes, svg.length);
        buffer_format(out, "<figcaption><span></span><span>%s</span></figcaption></figure>\n", x_text);
    }
    buffer_release(&svg);
}

void html_data_open(bool is_open, const char *first, struct buffer *out)
{
    buffer_format(out,
                  "<details%s><summary>Data</summary><div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">%s</th>",
                  is_open ? " open" : "", first);
}

void html_data_close(struct buffer *out)
{
    buffer_string(out, "</tbody></table></div></details>\n");
}

bool html_has_drawing(const struct buffer *out, size_t from)
{
    return memmem(out->bytes + from, out->length - from, "<svg ", 5) != NULL;
}
