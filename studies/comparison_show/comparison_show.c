#include "studies/comparison_show/comparison_show.h"

#include "studies/comparison_show/comparison_view.h"

const char *const comparison_format_names[] = {"text", "markdown", "json", "junit", "github", NULL};

void comparison_write(const struct comparison *comparison, enum comparison_format format,
                      const struct comparison_show *show, struct buffer *out)
{
    struct show *document = NULL;
    switch (format) {
    case COMPARISON_TEXT:
    case COMPARISON_MARKDOWN:
        document = comparison_show_new(comparison, show, NULL);
        (format == COMPARISON_TEXT ? show_text : show_markdown)(document, out);
        show_free(document);
        break;
    case COMPARISON_JSON:
        comparison_write_json(comparison, show, out);
        break;
    case COMPARISON_JUNIT:
        comparison_write_junit(comparison, out);
        break;
    case COMPARISON_GITHUB:
        comparison_write_github(comparison, out);
        break;
    }
}
