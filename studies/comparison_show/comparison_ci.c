/* studies/comparison_show/comparison_ci.c -- a comparison for CI systems: JUnit XML, and GitHub's workflow commands. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/comparison/proposal.h"
#include "studies/comparison_show/comparison_view.h"

/* A side has the same name wherever a reader of the CI system meets it, in full and on one line. */
static void write_name(const char *side, struct buffer *out)
{
    buffer_visible(out, text_of(side));
}

static void gate_text(const struct comparison_verdict *verdict, struct buffer *out)
{
    if (verdict->is_new)
        buffer_string(out, "new, judges nothing: ");
    write_name(verdict->test.side, out);
    buffer_string(out, ": ");
    gate_write_outcome(verdict->test.gate, &verdict->result, out);
}

/* How this is made again. */
static void write_command_line(const struct comparison *comparison, struct buffer *out)
{
    if (comparison->options->command != NULL)
        buffer_format(out, "to repeat: %s\n", comparison->options->command);
}

static void write_value(const struct gate *gate, const char *side, double value, struct buffer *out)
{
    write_name(side, out);
    buffer_char(out, ' ');
    view_metric(out, gate->of.metric, gate->unit, value);
}

/* The text of a JUnit case or an annotation: the values, their seeds, and the command that repeats the comparison. */
static void write_details(const struct comparison *comparison, const struct comparison_verdict *verdict,
                          struct buffer *out)
{
    const struct gate_result *result = &verdict->result;
    if (!isnan(result->candidate)) {
        buffer_string(out, "means: ");
        if (!isnan(result->base)) {
            write_value(verdict->test.gate, comparison->sides[0].name, result->base, out);
            buffer_string(out, ", ");
        }
        write_value(verdict->test.gate, verdict->test.side, result->candidate, out);
        buffer_string(out, "; ");
    }
    comparison_write_seeds(comparison, out);
    buffer_char(out, '\n');
    write_command_line(comparison, out);
}

/* Where the side of a gate first decided otherwise than the base; nothing for the base itself. */
static void write_first(const struct comparison *comparison, const struct comparison_verdict *verdict,
                        struct buffer *out)
{
    const size_t side = comparison_find_side(comparison, verdict->test.side);
    if (side != 0 && side != SIZE_MAX)
        comparison_write_first(comparison, side, "", out);
}

/* ---- JUnit ---- */

static void open_case(const char *class, const char *name, const char *side, struct buffer *out)
{
    struct buffer shown = {0};
    write_name(side, &shown);
    buffer_format(out, "  <testcase classname=\"windtunnel.%s\" name=\"", class);
    buffer_html(out, text_of(buffer_c_string(&shown)));
    buffer_string(out, ": ");
    buffer_html(out, text_of(name));
    buffer_string(out, "\" time=\"0\"");
    buffer_release(&shown);
}

/* detail: more than the message; "": nothing.  The text repeats the message because some CI systems show it alone. */
static void close_case(const char *element, const char *type, const char *message, const char *detail,
                       struct buffer *out)
{
    buffer_format(out, ">\n    <%s type=\"%s\" message=\"", element, type);
    buffer_html(out, text_of(message));
    buffer_string(out, "\">");
    buffer_html(out, text_of(message));
    buffer_string(out, detail[0] != '\0' ? "\n" : "");
    buffer_html(out, text_of(detail));
    buffer_format(out, "</%s>\n  </testcase>\n", element);
}

/* The one element of the case. */
static void write_element(const char *element, const char *text, struct buffer *out)
{
    buffer_format(out, ">\n    <%s>", element);
    buffer_html(out, text_of(text));
    buffer_format(out, "</%s>\n  </testcase>\n", element);
}

static void write_gate_case(const struct comparison *comparison, const struct comparison_verdict *verdict,
                            struct buffer *out)
{
    struct buffer name = {0}, text = {0}, details = {0};
    metric_selector_write(&verdict->test.gate->of, &name);
    buffer_string(&name, ", ");
    gate_write_bound(verdict->test.gate, &name);
    gate_text(verdict, &text);
    open_case("gate", buffer_c_string(&name), verdict->test.side, out);
    write_details(comparison, verdict, &details);
    if (verdict->is_new || verdict->result.state >= GATE_INCONCLUSIVE) { /* the schema allows no attribute here */
        buffer_format(&text, "\n%s", buffer_c_string(&details));
        write_element("skipped", buffer_c_string(&text), out);
    } else if (verdict->result.state == GATE_FAILED) {
        write_first(comparison, verdict, &details);
        close_case("failure", "gate", buffer_c_string(&text), buffer_c_string(&details), out);
    } else {
        buffer_format(&text, "\n%s", buffer_c_string(&details));
        write_element("system-out", buffer_c_string(&text), out);
    }
    buffer_release(&name);
    buffer_release(&text);
    buffer_release(&details);
}

static void write_run_case(const struct comparison *comparison, const struct comparison_run *run, size_t side,
                           struct buffer *out)
{
    struct buffer name = {0}, detail = {0};
    buffer_format(&name, "seed %llu", (unsigned long long)run->seed);
    buffer_string(&detail, run->said);
    write_command_line(comparison, &detail);
    open_case("run", buffer_c_string(&name), comparison->sides[side].name, out);
    close_case("error", "run", run->failure, buffer_c_string(&detail), out);
    buffer_release(&name);
    buffer_release(&detail);
}

static void write_property(const char *name, const char *value, struct buffer *out)
{
    buffer_format(out, "    <property name=\"%s\" value=\"", name);
    buffer_html(out, text_of(value));
    buffer_string(out, "\"/>\n");
}

static void write_change_properties(const struct comparison *comparison, struct buffer *out)
{
    const struct proposal *proposal = comparison->options->proposal;
    struct buffer text = {0};
    for (size_t i = 0; proposal != NULL && i < proposal->line_count; i++) {
        text.length = 0;
        comparison_write_change(comparison, &proposal->lines[i], &text);
        write_property("change", buffer_c_string(&text), out);
    }
    for (size_t i = 0; proposal != NULL && i < proposal->input_count; i++) {
        const struct proposal_input *input = &proposal->inputs[i];
        text.length = 0;
        buffer_format(&text, "%s %s: base %s, change %s", input->role, input->path,
                      input->digests[0] != NULL ? input->digests[0] : "none",
                      input->digests[1] != NULL ? input->digests[1] : "none");
        write_property("input", buffer_c_string(&text), out);
    }
    buffer_release(&text);
}

static void write_properties(const struct comparison *comparison, struct buffer *out)
{
    struct buffer verdict = {0};
    comparison_write_verdict(comparison, &verdict);
    buffer_string(out, "  <properties>\n");
    write_property("verdict", buffer_c_string(&verdict), out);
    if (comparison->options->command != NULL)
        write_property("command", comparison->options->command, out);
    for (size_t i = 0; i < comparison->caveat_count; i++)
        write_property("warning", comparison->warnings[i], out);
    write_change_properties(comparison, out);
    buffer_string(out, "  </properties>\n");
    buffer_release(&verdict);
}

/* A change without effect has no gate to tell of, and a report without a case looks as if it had not been made. */
static void write_same_case(const struct comparison *comparison, struct buffer *out)
{
    if (!comparison->is_same)
        return;
    open_case("change", "nothing differs", comparison->sides[1].name, out);
    buffer_string(out, "/>\n");
}

void comparison_write_junit(const struct comparison *comparison, struct buffer *out)
{
    size_t failed = 0, skipped = 0, side;
    const struct comparison_run *run;
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        const bool is_skipped =
            comparison->verdicts[i].is_new || comparison->verdicts[i].result.state >= GATE_INCONCLUSIVE;
        failed += !is_skipped && comparison->verdicts[i].result.state == GATE_FAILED;
        skipped += is_skipped;
    }
    buffer_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    buffer_format(
        out,
        "<testsuite name=\"windtunnel compare\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
        "time=\"0\">\n",
        comparison->verdict_count + comparison->failed_count + comparison->is_same, failed, comparison->failed_count,
        skipped);
    write_properties(comparison, out);
    write_same_case(comparison, out);
    for (size_t i = 0; i < comparison->verdict_count; i++)
        write_gate_case(comparison, &comparison->verdicts[i], out);
    for (size_t i = 0; (run = comparison_failed(comparison, i, &side)) != NULL; i++)
        write_run_case(comparison, run, side, out);
    buffer_string(out, "</testsuite>\n</testsuites>\n");
}

/* ---- GitHub ---- */

/* Escaped as GitHub's toolkit does: data, and with is_property a property. */
static void write_command_text(const char *text, bool is_property, struct buffer *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' || (is_property && (*text == ':' || *text == ',')))
            buffer_format(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            buffer_char(out, *text);
    }
}

/* gate NULL: it has no place in a file. */
static void write_command(const char *command, const struct gate *gate, const char *text, struct buffer *out)
{
    buffer_format(out, "::%s title=windtunnel compare", command);
    if (gate != NULL) {
        buffer_string(out, ",file=");
        write_command_text(gate->file, true, out);
        buffer_format(out, ",line=%zu", gate->line);
    }
    buffer_string(out, "::");
    write_command_text(text, false, out);
    buffer_char(out, '\n');
}

/* A file that a reader of the annotation can open: not an override, nor what a record kept of its scenario. */
static bool is_in_file(const struct comparison *comparison, const struct gate *gate)
{
    if (gate->file == NULL || gate->line == 0 || strncmp(gate->file, "--set", 5) == 0)
        return false;
    for (size_t side = 0; side < comparison->side_count; side++) {
        const char *record = comparison->options->sides[side].record;
        if (record != NULL && strcmp(record, gate->file) == 0)
            return false;
    }
    return true;
}

/* The settings in one notice; a warning for each rule, at its line. */
static void write_change_commands(const struct comparison *comparison, struct buffer *out)
{
    const struct proposal *proposal = comparison->options->proposal;
    struct buffer all = {0};
    for (size_t i = 0; proposal != NULL && i < proposal->line_count; i++) {
        const struct proposal_line *line = &proposal->lines[i];
        struct buffer text = {0};
        comparison_write_change(comparison, line, &text);
        if (line->kind == PROPOSAL_OF_RULES)
            write_command("warning", line->gate != NULL && is_in_file(comparison, line->gate) ? line->gate : NULL,
                          buffer_c_string(&text), out);
        else
            buffer_format(&all, "%s%s", all.length > 0 ? "\n" : "", buffer_c_string(&text));
        buffer_release(&text);
    }
    if (all.length > 0)
        write_command(proposal_count(proposal, PROPOSAL_OF_JOBS) > 0 ? "warning" : "notice", NULL,
                      buffer_c_string(&all), out);
    buffer_release(&all);
}

static void write_gate_commands(const struct comparison *comparison, struct buffer *out)
{
    static const char *const commands[] = {NULL, "error", "warning", "warning"}; /* by enum gate_state */
    struct buffer text = {0};
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        const struct comparison_verdict *verdict = &comparison->verdicts[i];
        const struct gate *gate = verdict->test.gate;
        const char *command = verdict->is_new ? "notice" : commands[verdict->result.state];
        if (command == NULL)
            continue;
        text.length = 0;
        gate_text(verdict, &text);
        buffer_char(&text, '\n');
        write_details(comparison, verdict, &text);
        if (verdict->result.state == GATE_FAILED)
            write_first(comparison, verdict, &text);
        text.length--; /* the last line end */
        write_command(command, is_in_file(comparison, gate) ? gate : NULL, buffer_c_string(&text), out);
    }
    buffer_release(&text);
}

static void write_run_commands(const struct comparison *comparison, struct buffer *out)
{
    struct buffer text = {0};
    const struct comparison_run *run;
    size_t side;
    for (size_t i = 0; (run = comparison_failed(comparison, i, &side)) != NULL; i++) {
        text.length = 0;
        buffer_string(&text, "the run of '");
        write_name(comparison->sides[side].name, &text);
        buffer_format(&text, "' with seed %llu failed: %s\n", (unsigned long long)run->seed, run->failure);
        comparison_write_said(run, "  | ", &text);
        write_command_line(comparison, &text);
        text.length--;
        write_command("error", NULL, buffer_c_string(&text), out);
    }
    buffer_release(&text);
}

void comparison_write_github(const struct comparison *comparison, struct buffer *out)
{
    struct buffer text = {0};
    write_change_commands(comparison, out);
    write_gate_commands(comparison, out);
    write_run_commands(comparison, out);
    for (size_t i = 0; i < comparison->warning_count; i++)
        write_command("warning", NULL, comparison->warnings[i], out);
    comparison_write_verdict(comparison, &text);
    write_command("notice", NULL, buffer_c_string(&text), out);
    buffer_release(&text);
}
