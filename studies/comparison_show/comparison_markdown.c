/* studies/comparison_show/comparison_markdown.c -- a comparison for a pull request. */
#include <ctype.h>
#include <string.h>

#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"

enum { MOVED_MAX = 20, NAME_WIDTH = 80 };

static const char *const state_signs[] = {"✅", "❌", "❔", "❔"}; /* by enum gate_state */

/* May the character at this place mean something in a cell or a line?  An underscore within a word does not. */
static bool is_special(struct text text, size_t at)
{
    const char c = text.at[at];
    if (c == '_' && at > 0 && at + 1 < text.length)
        return !isalnum((unsigned char)text.at[at - 1]) || !isalnum((unsigned char)text.at[at + 1]);
    return c != '\0' && strchr("\\`*_[]<>|~", c) != NULL;
}

/* Text that must not be read as Markdown. */
static void escape(struct buffer *out, const struct buffer *text)
{
    for (size_t i = 0; i < text->length; i++) {
        if (is_special((struct text){text->bytes, text->length}, i))
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

static void write_cells(const struct difference *difference, struct buffer *out)
{
    struct buffer text = {0};
    comparison_write_value(difference, difference->base, out);
    buffer_string(out, " | ");
    comparison_write_value(difference, difference->candidate, out);
    buffer_string(out, " | ");
    difference_write(difference, &text);
    escape(out, &text);
    buffer_string(out, " |\n");
    buffer_release(&text);
}

static void write_row(const struct difference *difference, struct buffer *out)
{
    struct buffer text = {0};
    buffer_format(out, "| `%c` | ", difference->mark);
    metric_selector_write(&difference->of, &text);
    escape(out, &text);
    buffer_string(out, " | ");
    write_cells(difference, out);
    buffer_release(&text);
}

static void write_head(const struct comparison *comparison, size_t side, const char *what, struct buffer *out)
{
    buffer_format(out, "\n| | %s | ", what);
    write_name(out, comparison->sides[0].name);
    buffer_string(out, " | ");
    write_name(out, comparison->sides[side].name);
    buffer_string(out, " | difference |\n|---|---|---:|---:|---|\n");
}

static void write_cut(const struct comparison *comparison, size_t side, const char *cut, const char *title,
                      const char *metric, struct buffer *out)
{
    size_t count;
    struct buffer text = {0};
    const struct difference **list = comparison_cut_new(comparison, side, cut, metric, &count);
    buffer_format(&text, "%s, by %s", title, metric);
    if (count > 1)
        write_head(comparison, side, buffer_c_string(&text), out);
    for (size_t i = 0; i < count && count > 1; i++) {
        buffer_format(out, "| `%c` | ", list[i]->mark);
        write_name(out, list[i]->of.key);
        buffer_string(out, " | ");
        write_cells(list[i], out);
    }
    buffer_release(&text);
    mem_free(list);
}

/* As a code block, by indentation. */
static void write_first(const struct comparison *comparison, size_t side, struct buffer *out)
{
    struct buffer text = {0};
    if (comparison_write_first(comparison, side, "    ", &text)) {
        buffer_format(out, "\nWhere they part, with seed %llu:\n\n", (unsigned long long)comparison->seeds[0]);
        buffer_bytes(out, text.bytes, text.length);
    }
    buffer_release(&text);
}

static void write_long(const struct comparison *comparison, size_t side, struct buffer *out)
{
    struct buffer text = {0};
    if (comparison_write_long(comparison, side, "    ", &text)) {
        buffer_string(out, "\n" COMPARISON_LONG_HEADING ":\n\n");
        buffer_bytes(out, text.bytes, text.length);
    }
    buffer_release(&text);
}

static void write_side(const struct comparison *comparison, size_t side, const struct comparison_show *show,
                       struct buffer *out)
{
    size_t count, clear, counts[COMPARISON_MARKS];
    struct difference *list = comparison_sorted_new(comparison, side, show->is_all, &count);
    const size_t shown = comparison_shown_count(list, count, show->is_all ? count : MOVED_MAX, &clear);
    buffer_string(out, "\n### ");
    write_name(out, comparison->sides[side].name);
    buffer_string(out, " against ");
    write_name(out, comparison->sides[0].name);
    buffer_char(out, '\n');
    if (shown > 0)
        write_head(comparison, side, show->is_all || clear > 0 ? "metric" : "metric (nothing moved clearly)", out);
    for (size_t i = 0; i < shown; i++)
        write_row(&list[i], out);
    comparison_count_marks(comparison, side, show->is_all ? "" : NULL, NULL, counts);
    buffer_format(out,
                  "\n%zu better (`+`), %zu worse (`-`), %zu moved (`*`), %zu without a clear difference (`~`), "
                  "%zu equal (`=`), %zu not defined on both sides (`?`)\n",
                  counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    write_long(comparison, side, out);
    write_first(comparison, side, out);
    write_cut(comparison, side, "class", "class", show->winner_metric, out);
    write_cut(comparison, side, "workload_class", "workload class", show->winner_metric, out);
    if (comparison_has_tenants(comparison))
        write_cut(comparison, side, "tenant", "tenant", show->winner_metric, out);
    mem_free(list);
}

void comparison_write_markdown(const struct comparison *comparison, const struct comparison_show *show,
                               struct buffer *out)
{
    size_t side;
    struct buffer base = {0};
    const struct comparison_run *run;
    buffer_string(out, "## ");
    comparison_write_verdict(comparison, out);
    buffer_string(out, "\n\n");
    comparison_write_seeds(comparison, out);
    buffer_string(out, "; the base is ");
    comparison_write_base(comparison, &base);
    escape(out, &base);
    buffer_release(&base);
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
