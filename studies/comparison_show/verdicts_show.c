#include "studies/comparison_show/verdicts_show.h"

#include <string.h>

#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"

static const struct verdict *verdict_of(const struct verdicts *verdicts, size_t of_case, size_t side, size_t row)
{
    return &verdicts->cases[of_case].verdicts[side * verdicts->row_count + row];
}

static bool has_gates(const struct verdicts *verdicts)
{
    return verdicts->comparison->verdict_count > 0;
}

static const char *mark_word(char mark)
{
    return mark == '+'   ? "better"
           : mark == '-' ? "worse"
           : mark == '*' ? "different"
           : mark == '=' ? "equal"
           : mark == '~' ? "not clear"
                         : "not defined";
}

static void put_row_name(const struct metric_selector *of, struct buffer *out)
{
    buffer_string(out, of->cut == NULL ? "all jobs" : of->key);
}

/* ---- Sentences ---- */

static void say_change(struct show *show, const struct verdicts *verdicts, size_t of_case, size_t side, size_t row)
{
    const enum verdict_change change = verdicts_change(verdicts, of_case, side, row);
    const struct alternative *of = verdicts->cases[of_case].of;
    if (change == VERDICT_HOLDS)
        return;
    struct buffer *out = show_line(show, change == VERDICT_TURNS ? SHOW_WARNING : SHOW_PLAIN);
    buffer_format(out, "%s ", change == VERDICT_TURNS ? "The verdict depends on it:" : "Less clear:");
    metric_selector_write(&verdicts->rows[row], out);
    buffer_format(out, " of %s is %s as it is, %s with %s.", verdicts->comparison->sides[side].name,
                  mark_word(verdict_of(verdicts, 0, side, row)->mark),
                  mark_word(verdict_of(verdicts, of_case, side, row)->mark), of->name);
}

static void say_gates(struct show *show, const struct verdicts *verdicts, size_t of_case)
{
    const enum verdict_change change = verdicts_change_of_gates(verdicts, of_case);
    if (!has_gates(verdicts) || change == VERDICT_HOLDS)
        return;
    buffer_format(show_line(show, change == VERDICT_TURNS ? SHOW_WARNING : SHOW_PLAIN),
                  "%s the gates are %s as it is, %s with %s.",
                  change == VERDICT_TURNS ? "The verdict depends on it:" : "Less clear:",
                  gate_state_names[verdicts->cases[0].gates], gate_state_names[verdicts->cases[of_case].gates],
                  verdicts->cases[of_case].of->name);
}

/* How often verdicts change so, of all cases. */
static size_t count_changes(const struct verdicts *verdicts, enum verdict_change change)
{
    size_t count = 0;
    for (size_t c = 1; c < verdicts->case_count; c++) {
        count += has_gates(verdicts) && verdicts_change_of_gates(verdicts, c) == change;
        for (size_t side = 1; side < verdicts->comparison->side_count; side++)
            for (size_t row = 0; row < verdicts->row_count; row++)
                count += verdicts_change(verdicts, c, side, row) == change;
    }
    return count;
}

static void say_all(struct show *show, const struct verdicts *verdicts)
{
    if (verdicts->assumed.count == 0) {
        buffer_string(show_line(show, SHOW_PLAIN), "Nothing that matters is assumed of the jobs.");
        return;
    }
    struct buffer *out = show_line(show, SHOW_PLAIN);
    buffer_string(out, "No job says its ");
    assumed_brief(&verdicts->assumed, out);
    buffer_string(out, ". Each row takes something else for one of them, on all sides.");
    for (size_t c = 1; c < verdicts->case_count; c++) {
        say_gates(show, verdicts, c);
        for (size_t side = 1; side < verdicts->comparison->side_count; side++)
            for (size_t row = 0; row < verdicts->row_count; row++)
                say_change(show, verdicts, c, side, row);
    }
    if (count_changes(verdicts, VERDICT_TURNS) == 0 && verdicts->case_count > verdicts->alternatives.count)
        buffer_string(show_line(show, SHOW_PLAIN), "No verdict turns with any of them.");
}

/* ---- The table ---- */

static void add_verdict(struct show *show, const struct verdicts *verdicts, size_t of_case, size_t side, size_t row)
{
    const struct verdict *verdict = verdict_of(verdicts, of_case, side, row);
    const struct metric *metric = metric_find(verdicts->rows[row].metric);
    const struct service_level level = {.of = verdicts->rows[row], .unit = metric->unit};
    struct buffer *out = show_cell(show);
    service_level_value(&level, verdict->base, out);
    buffer_string(out, " \xe2\x86\x92 ");
    service_level_value(&level, verdict->candidate, out);
    show_mark(show, verdict->mark);
}

static void add_table(struct show *show, const struct verdicts *verdicts, size_t side)
{
    struct buffer title = {0};
    buffer_format(&title, "%s: %s \xe2\x86\x92 %s", verdicts->rows[0].metric, verdicts->comparison->sides[0].name,
                  verdicts->comparison->sides[side].name);
    show_heading(show, buffer_c_string(&title));
    buffer_release(&title);
    show_table(show, "<taken", NULL);
    for (size_t row = 0; row < verdicts->row_count; row++) {
        struct buffer head = {0};
        put_row_name(&verdicts->rows[row], &head);
        show_column(show, buffer_c_string(&head));
        buffer_release(&head);
    }
    if (has_gates(verdicts))
        show_column(show, "gates");
    for (size_t c = 0; c < verdicts->case_count; c++) {
        const struct verdict_case *of = &verdicts->cases[c];
        show_row(show, of->of == NULL ? "as it is" : of->of->name);
        for (size_t row = 0; row < verdicts->row_count; row++) {
            if (of->failure == NULL)
                add_verdict(show, verdicts, c, side, row);
            else
                buffer_string(show_cell(show), "failed");
        }
        if (has_gates(verdicts))
            buffer_string(show_cell(show), of->failure == NULL ? gate_state_names[of->gates] : "failed");
    }
}

void verdicts_show(struct show *show, const struct verdicts *verdicts)
{
    show_section(show, "What the verdict depends on");
    say_all(show, verdicts);
    for (size_t c = 1; c < verdicts->case_count; c++)
        if (verdicts->cases[c].failure != NULL)
            buffer_format(show_line(show, SHOW_WARNING), "With %s the comparison failed: %s",
                          verdicts->cases[c].of->name, verdicts->cases[c].failure);
    for (size_t side = 1; side < verdicts->comparison->side_count && verdicts->case_count > 1; side++)
        if (verdicts->row_count > 0)
            add_table(show, verdicts, side);
}

/* ---- JSON ---- */

static void json_verdicts(const struct verdicts *verdicts, size_t of_case, struct buffer *out)
{
    static const char *const changes[] = {"holds", "fades", "turns"};
    for (size_t side = 1; side < verdicts->comparison->side_count; side++)
        for (size_t row = 0; row < verdicts->row_count; row++) {
            const struct verdict *verdict = verdict_of(verdicts, of_case, side, row);
            const struct metric_selector *of = &verdicts->rows[row];
            const char mark[] = {verdict->mark, '\0'};
            buffer_members(out, ",\n    {'side': %s", verdicts->comparison->sides[side].name);
            if (of->cut != NULL)
                buffer_members(out, ", %s: %s", of->cut, of->key);
            buffer_members(out, ", 'base': %g, 'candidate': %g, 'mark': %s, 'verdict': %s}", verdict->base,
                           verdict->candidate, mark, changes[verdicts_change(verdicts, of_case, side, row)]);
        }
}

void verdicts_json(const struct verdicts *verdicts, struct buffer *out)
{
    buffer_members(out, "{'metric': %s,\n 'assumed': ", verdicts->row_count > 0 ? verdicts->rows[0].metric : "");
    assumed_json(&verdicts->assumed, out);
    buffer_members(out, ",\n 'cases': [");
    for (size_t c = 0; c < verdicts->case_count; c++) {
        const struct verdict_case *of = &verdicts->cases[c];
        buffer_members(out, ",\n  {");
        if (of->of != NULL)
            buffer_members(out, ", 'assumption': %s, 'taken': %s, 'setting': %s", of->of->what, of->of->name,
                           of->of->set);
        if (of->failure != NULL)
            buffer_members(out, ", 'failure': %s", of->failure);
        if (of->failure == NULL && has_gates(verdicts))
            buffer_members(out, ", 'gates': %s", gate_state_names[of->gates]);
        buffer_members(out, ", 'verdicts': [");
        if (of->failure == NULL)
            json_verdicts(verdicts, c, out);
        buffer_string(out, "]}");
    }
    buffer_string(out, "]}");
}
