/* policies/wire.h, line by line: what becomes of each when one thing in it is other than it was, against
 * wire_edits.txt.
 *
 * Law: what is read is written as a line that is read and written again as itself, so that nothing is passed over in
 * silence but what is said to be default.  Beside that the file keeps, for each line and kind of edit, how many are
 * refused and how many written back as they came, and a hash of all that was written or complained of; with
 * WINDTUNNEL_WIRE_EDITS=1 all of it is told. With WINDTUNNEL_GOLDEN_UPDATE=1 (make golden-update) the file is written
 * anew instead of compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/support/golden.h"
#include "tests/support/json_edits.h"
#include "tests/support/wire_lines.h"

struct sums {
    uint64_t hash;
    uint32_t edits, refused, same;
};

struct reading { /* of one line */
    const char *line;
    struct wire_lines wire;
    bool changes_queues;
    struct sums sums[JSON_EDIT_COUNT], awaited;
};

/* ---- One edit ---- */

static struct error read_line(struct reading *reading, const char *text, struct wire_line *line)
{
    if (reading->changes_queues) { /* for good */
        wire_lines_close(&reading->wire);
        wire_lines_open(&reading->wire);
    }
    return wire_read(reading->wire.wire, "events", 1, wire_lines_text(text), WIRE_TOLD | WIRE_ANSWERED, line);
}

/* Read and write again, which changes nothing more. */
static void check_settled(struct reading *reading, const char *text)
{
    struct wire_line line;
    struct buffer out = {0};
    struct error error = read_line(reading, text, &line);
    if (error_is(error))
        fail_msg("%s is written, and refused: %s", text, error_message(&error));
    wire_lines_write(&reading->wire, &line, &out);
    assert_string_equal(buffer_c_string(&out), text);
    wire_forget(reading->wire.wire);
    buffer_release(&out);
}

static void judge(void *self, enum json_edit edit, const char *text)
{
    struct reading *reading = self;
    struct sums *sums = &reading->sums[edit];
    struct wire_line line = {.kind = WIRE_HEADER};
    struct buffer out = {0};
    struct error error = read_line(reading, text, &line);
    sums->edits++;
    if (error_is(error)) {
        buffer_string(&out, error_message(&error));
        error_release(&error);
        wire_forget(reading->wire.wire);
        sums->refused++;
    } else {
        wire_lines_write(&reading->wire, &line, &out);
        wire_forget(reading->wire.wire);
        sums->same += strcmp(buffer_c_string(&out), text) == 0;
        check_settled(reading, buffer_c_string(&out));
    }
    sums->hash = hash_bytes(out.bytes, out.length, sums->hash);
    if (getenv("WINDTUNNEL_WIRE_EDITS") != NULL)
        print_message("%s %s    %s\n", json_edit_names[edit], text, buffer_c_string(&out));
    buffer_release(&out);
}

/* Unchanged, where this or that kind of line is awaited. */
static void await_all(struct reading *reading)
{
    struct sums *sums = &reading->awaited;
    for (uint32_t awaited = 0; awaited < 64; awaited++) {
        struct wire_line line = {.kind = WIRE_HEADER};
        struct error error = wire_read(reading->wire.wire, "events", 1, wire_lines_text(reading->line), awaited, &line);
        sums->edits++;
        sums->refused += error_is(error);
        const char *complaint = error_is(error) ? error_message(&error) : "";
        sums->hash = hash_bytes(complaint, strlen(complaint), sums->hash);
        sums->hash = hash_mix(sums->hash, error_is(error) ? 0 : (uint64_t)line.kind + 1);
        error_release(&error);
        wire_forget(reading->wire.wire);
    }
}

static void tell_sums(const char *name, const struct sums *sums, struct buffer *out)
{
    if (sums->edits > 0)
        buffer_format(out, "    %-8s %5u, %5u refused, %5u as they came %016llx\n", name, sums->edits, sums->refused,
                      sums->same, (unsigned long long)sums->hash);
}

static void tell_line(const char *line, struct buffer *out)
{
    struct reading reading = {.line = line, .changes_queues = strstr(line, "queues_changed") != NULL};
    wire_lines_open(&reading.wire);
    await_all(&reading);
    json_edits_all(&(struct json_edits){.text = line, .self = &reading, .judge = judge});
    wire_lines_close(&reading.wire);
    buffer_format(out, "%.*s\n", (int)strcspn(line, "\n") < 60 ? (int)strcspn(line, "\n") : 60, line);
    tell_sums("awaited", &reading.awaited, out);
    for (int edit = 0; edit < JSON_EDIT_COUNT; edit++)
        tell_sums(json_edit_names[edit], &reading.sums[edit], out);
}

static void every_edit_ends_as_before(void **state)
{
    struct buffer told = {0};
    (void)state;
    for (size_t i = 0; wire_lines[i] != NULL; i++)
        tell_line(wire_lines[i], &told);
    golden_compare("tests/golden/wire_edits.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_edit_ends_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
