/* studies/comparison_markdown.c -- a comparison for a pull request. */
#include <string.h>

#include "reports/view.h"
#include "studies/comparison_view.h"

enum { MOVED_MAX = 20, NAME_WIDTH = 80 };

static const char *const state_signs[] = {"✅", "❌", "❔", "❔"}; /* by enum gate_state */

/* Text that must not be read as Markdown. */
static void escape(struct buffer *out, const struct buffer *text)
{
    for (size_t i = 0; i < text->length; i++) {
        if (strchr("\\`*_{}[]<>()#+-!|~", text->bytes[i]) != NULL && text->bytes[i] != '\0' &&
            strchr("()+-#!", text->bytes[i]) == NULL)
            buffer_char(out, '\\');
        buffer_char(out, text->bytes[i]);
    }
}

static void write_name(struct buffer *out, const char *name)
{
    struct buffer text = {0};
    view_name(&text, name, NAME_WIDTH);
    escape(out, &text);
    buffer_release(&text);
}

static void write_gates(const struct comparison *comparison, struct buffer *out)
{
    struct buffer text = {0};
    if (comparison->verdict_count == 0)
        return;
    buffer_string(out, "\n| | gate |\n|---|---|\n");
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        const struct comparison_verdict *verdict = &comparison->verdicts[i];
        text.length = 0;
        gate_write(&verdict->test, &verdict->result, &text);
        buffer_format(out, "| %s | ", state_signs[verdict->result.state]);
        escape(out, &text);
        buffer_string(out, " |\n");
    }
    buffer_release(&text);
}

static void write_row(const struct difference *difference, struct buffer *out)
{
    struct buffer text = {0};
    buffer_format(out, "| `%c` | ", difference->mark);
    metric_selector_write(&difference->of, &text);
    escape(out, &text);
    buffer_string(out, " | ");
    comparison_write_value(difference, difference->base, out);
    buffer_string(out, " | ");
    comparison_write_value(difference, difference->candidate, out);
    buffer_string(out, " | ");
    text.length = 0;
    difference_write(difference, &text);
    escape(out, &text);
    buffer_string(out, " |\n");
    buffer_release(&text);
}

static void write_side(const struct comparison *comparison, size_t side, const struct comparison_show *show,
                       struct buffer *out)
{
    size_t count, counts[COMPARISON_MARKS];
    struct difference *list = comparison_sorted_new(comparison, side, show->is_all, &count);
    buffer_string(out, "\n### ");
    write_name(out, comparison->sides[side].name);
    buffer_string(out, " against ");
    write_name(out, comparison->sides[0].name);
    buffer_string(out, "\n\n| | metric | ");
    write_name(out, comparison->sides[0].name);
    buffer_string(out, " | ");
    write_name(out, comparison->sides[side].name);
    buffer_string(out, " | difference |\n|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < count && (show->is_all || i < MOVED_MAX); i++)
        if (show->is_all || strchr("+-*", list[i].mark) != NULL)
            write_row(&list[i], out);
    comparison_count_marks(comparison, side, show->is_all ? "" : NULL, NULL, counts);
    buffer_format(
        out,
        "\n%zu better (`+`), %zu worse (`-`), %zu moved (`*`), %zu without a clear difference (`~`), %zu equal (`=`)\n",
        counts[0], counts[1], counts[2], counts[3], counts[4]);
    mem_free(list);
}

void comparison_write_markdown(const struct comparison *comparison, const struct comparison_show *show,
                               struct buffer *out)
{
    size_t side;
    const struct comparison_run *run;
    buffer_string(out, "## ");
    comparison_write_verdict(comparison, out);
    buffer_string(out, "\n\n");
    comparison_write_seeds(comparison, out);
    buffer_string(out, "; the base is ");
    write_name(out, comparison->sides[0].name);
    buffer_char(out, '\n');
    for (size_t i = 0; (run = comparison_failed(comparison, i, &side)) != NULL; i++) {
        buffer_string(out, i == 0 ? "\n- " : "- ");
        write_name(out, comparison->sides[side].name);
        buffer_format(out, ", seed %llu: ", (unsigned long long)run->seed);
        write_name(out, run->failure);
        buffer_char(out, '\n');
    }
    for (size_t i = 0; i < comparison->warning_count; i++) {
        buffer_string(out, i == 0 ? "\n- " : "- ");
        write_name(out, comparison->warnings[i]);
        buffer_char(out, '\n');
    }
    write_gates(comparison, out);
    for (size_t s = 1; s < comparison->side_count; s++)
        write_side(comparison, s, show, out);
}
