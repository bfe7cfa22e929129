#include "studies/comparison_show/comparison_show.h"

#include "studies/comparison_show/comparison_view.h"

const char *const comparison_format_names[] = {"text", "markdown", "json", "junit", "github", NULL};

void comparison_write(const struct comparison *comparison, enum comparison_format format,
                      const struct comparison_show *show, struct buffer *out)
{
    switch (format) {
    case COMPARISON_TEXT:
        comparison_write_text(comparison, show, out);
        break;
    case COMPARISON_MARKDOWN:
        comparison_write_markdown(comparison, show, out);
        break;
    case COMPARISON_JSON:
        comparison_write_json(comparison, out);
        break;
    case COMPARISON_JUNIT:
        comparison_write_junit(comparison, out);
        break;
    case COMPARISON_GITHUB:
        comparison_write_github(comparison, out);
        break;
    }
}
