/* studies/comparison_page/comparison_page_parts.c -- what the parts of the page share: values, differences, runs. */
#include <math.h>
#include <string.h>

#include "studies/comparison_page/comparison_page_inside.h"

enum { RELATIVE_MAX = 20, CENTS_BELOW = 1000 };

const char *page_mark_class(char mark)
{
    return mark == '+' ? "met" : mark == '-' ? "unmet" : "unknown";
}

void page_value(const struct difference *of, double value, struct buffer *out)
{
    buffer_string(out, "<td><data value=\"");
    buffer_double(out, value);
    buffer_string(out, "\">");
    if (of->unit != NULL && strcmp(of->unit, "usd") == 0 && fabs(value) < CENTS_BELOW)
        buffer_format(out, "%.2f", value);
    else
        comparison_write_value(of, value, out);
    buffer_string(out, "</data>");
}

void page_difference(const struct difference *difference, bool has_interval, struct buffer *out)
{
    struct buffer text = {0};
    struct difference shown = *difference;
    if (fabs(shown.relative) > RELATIVE_MAX) { /* of next to nothing: said in the metric's unit */
        shown.relative = NAN;
        shown.relative_low = -INFINITY;
        shown.relative_high = INFINITY;
    }
    difference_write(&shown, &text);
    const char *whole = buffer_c_string(&text), *bracket = strchr(whole, '(');
    const size_t length = bracket != NULL && bracket > whole ? (size_t)(bracket - whole) - 1 : text.length;
    buffer_format(out, "<small class=\"%s\">", page_mark_class(difference->mark));
    buffer_html(out, (struct text){whole, length});
    if (difference->mark == '~' && !has_interval)
        buffer_string(out, " ~");
    buffer_string(out, "</small>");
    if (has_interval && length < text.length) {
        buffer_string(out, "<small>");
        buffer_html(out, text_of(bracket));
        buffer_string(out, "</small>");
    }
    buffer_release(&text);
}

const struct comparison_run *page_first_run(const struct comparison_side *side, size_t seed_count)
{
    for (size_t seed = 0; seed < seed_count; seed++)
        if (side->runs[seed].state == COMPARISON_RUN_DONE)
            return &side->runs[seed];
    return NULL;
}
