/* studies/comparison_show/comparison_ci.c -- a comparison for CI systems: JUnit XML, and GitHub's workflow commands. */
#include <string.h>

#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"

/* A side has the same name wherever a reader of the CI system meets it, in full and on one line. */
static void write_name(const char *side, struct buffer *out)
{
    buffer_visible(out, text_of(side));
}

static void gate_text(const struct comparison_verdict *verdict, struct buffer *out)
{
    write_name(verdict->test.side, out);
    buffer_string(out, ": ");
    gate_write_outcome(verdict->test.gate, &verdict->result, out);
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

static void write_gate_case(const struct comparison *comparison, const struct comparison_verdict *verdict,
                            struct buffer *out)
{
    struct buffer name = {0}, text = {0}, first = {0};
    metric_selector_write(&verdict->test.gate->of, &name);
    buffer_string(&name, ", ");
    gate_write_bound(verdict->test.gate, &name);
    gate_text(verdict, &text);
    open_case("gate", buffer_c_string(&name), verdict->test.side, out);
    switch (verdict->result.state) {
    case GATE_PASSED:
        buffer_string(out, "/>\n");
        break;
    case GATE_FAILED:
        write_first(comparison, verdict, &first);
        close_case("failure", "gate", buffer_c_string(&text), buffer_c_string(&first), out);
        break;
    case GATE_INCONCLUSIVE:
    case GATE_NOT_DEFINED:
        /* The schema allows no attribute here. */
        buffer_string(out, ">\n    <skipped>");
        buffer_html(out, text_of(buffer_c_string(&text)));
        buffer_string(out, "</skipped>\n  </testcase>\n");
        break;
    }
    buffer_release(&name);
    buffer_release(&text);
    buffer_release(&first);
}

static void write_run_case(const struct comparison *comparison, const struct comparison_run *run, size_t side,
                           struct buffer *out)
{
    struct buffer name = {0};
    buffer_format(&name, "seed %llu", (unsigned long long)run->seed);
    open_case("run", buffer_c_string(&name), comparison->sides[side].name, out);
    close_case("error", "run", run->failure, run->said, out);
    buffer_release(&name);
}

static void write_caveats(const struct comparison *comparison, struct buffer *out)
{
    if (comparison->caveat_count == 0)
        return;
    buffer_string(out, "  <properties>\n");
    for (size_t i = 0; i < comparison->caveat_count; i++) {
        buffer_string(out, "    <property name=\"warning\" value=\"");
        buffer_html(out, text_of(comparison->warnings[i]));
        buffer_string(out, "\"/>\n");
    }
    buffer_string(out, "  </properties>\n");
}

void comparison_write_junit(const struct comparison *comparison, struct buffer *out)
{
    size_t failed = 0, skipped = 0, side;
    const struct comparison_run *run;
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        failed += comparison->verdicts[i].result.state == GATE_FAILED;
        skipped += comparison->verdicts[i].result.state >= GATE_INCONCLUSIVE;
    }
    buffer_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    buffer_format(
        out,
        "<testsuite name=\"windtunnel compare\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
        "time=\"0\">\n",
        comparison->verdict_count + comparison->failed_count, failed, comparison->failed_count, skipped);
    write_caveats(comparison, out);
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

void comparison_write_github(const struct comparison *comparison, struct buffer *out)
{
    static const char *const commands[] = {NULL, "error", "warning", "warning"}; /* by enum gate_state */
    struct buffer text = {0};
    size_t side;
    const struct comparison_run *run;
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        const struct comparison_verdict *verdict = &comparison->verdicts[i];
        const struct gate *gate = verdict->test.gate;
        text.length = 0;
        gate_text(verdict, &text);
        if (verdict->result.state == GATE_FAILED) {
            buffer_char(&text, '\n');
            write_first(comparison, verdict, &text);
            text.length--; /* the last line end */
        }
        if (commands[verdict->result.state] != NULL)
            write_command(commands[verdict->result.state], is_in_file(comparison, gate) ? gate : NULL,
                          buffer_c_string(&text), out);
    }
    for (size_t i = 0; (run = comparison_failed(comparison, i, &side)) != NULL; i++) {
        text.length = 0;
        buffer_string(&text, "the run of '");
        write_name(comparison->sides[side].name, &text);
        buffer_format(&text, "' with seed %llu failed: %s", (unsigned long long)run->seed, run->failure);
        write_command("error", NULL, buffer_c_string(&text), out);
    }
    for (size_t i = 0; i < comparison->warning_count; i++)
        write_command("warning", NULL, comparison->warnings[i], out);
    text.length = 0;
    comparison_write_verdict(comparison, &text);
    write_command("notice", NULL, buffer_c_string(&text), out);
    buffer_release(&text);
}
