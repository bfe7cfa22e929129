/* policies/wire.h, line by line: what becomes of each when one thing in it is other than it was, against wire_edits.txt.
 *
 * Law: what is read is written as a line that is read and written again as itself, so that nothing is passed over in silence
 * but what is said to be default.  Beside that the file keeps, for each line and kind of edit, how many are refused and how many
 * written back as they came, and a hash of all that was written or complained of; with WINDTUNNEL_WIRE_EDITS=1 all of it is told.
 * With WINDTUNNEL_GOLDEN_UPDATE=1 (make golden-update) the file is written anew instead of compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/support/wire_lines.h"

static const char golden_path[] = "tests/golden/wire_edits.txt";

enum edit { EDIT_NONE, EDIT_DROP, EDIT_ADD, EDIT_NUMBER, EDIT_TEXT, EDIT_LIST, EDIT_COUNT };
static const char *const edit_names[] = {"awaited", "dropped", "added",
                                         "numbers", "texts",   "lists"};

/* Where limits usually lie. */
static const char *const numbers[] = {"-9223372036854775808",
                                      "-2147483649",
                                      "-2147483648",
                                      "-101",
                                      "-2",
                                      "-1",
                                      "0",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "8",
                                      "9",
                                      "15",
                                      "16",
                                      "17",
                                      "31",
                                      "32",
                                      "33",
                                      "63",
                                      "64",
                                      "65",
                                      "99",
                                      "100",
                                      "101",
                                      "127",
                                      "128",
                                      "255",
                                      "256",
                                      "257",
                                      "999",
                                      "1000",
                                      "1001",
                                      "4095",
                                      "4096",
                                      "4097",
                                      "65534",
                                      "65535",
                                      "65536",
                                      "1000000",
                                      "1000001",
                                      "2147483647",
                                      "2147483648",
                                      "4294967294",
                                      "4294967295",
                                      "4294967296",
                                      "1000000000000",
                                      "9223372036854775806",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "0.5",
                                      "0.0004",
                                      "1.0005",
                                      "1e3",
                                      "true",
                                      "\"1\"",
                                      "null"};

struct sums {
    uint64_t hash;
    uint32_t edits, refused, same;
};

struct reading { /* of one line */
    const char *line;
    struct wire_lines wire;
    bool changes_queues;
    struct sums sums[EDIT_COUNT];
};

/* ---- One edit ---- */

static struct error read_line(struct reading *reading, const char *text, struct wire_line *line)
{
    if (reading->changes_queues) { /* for good */
        wire_lines_close(&reading->wire);
        wire_lines_open(&reading->wire);
    }
    return wire_read(reading->wire.wire, "events", 1, wire_lines_text(text),
                     WIRE_TOLD | WIRE_ANSWERED, line);
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

static void judge(struct reading *reading, enum edit edit, const char *text)
{
    struct sums *sums = &reading->sums[edit];
    struct wire_line line;
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
        print_message("%s %s    %s\n", edit_names[edit], text, buffer_c_string(&out));
    buffer_release(&out);
}

/* The line with something else from `from` to `to`. */
static void edit_to(struct reading *reading, enum edit edit, const char *from, const char *to,
                    const char *instead)
{
    struct buffer text = {0};
    buffer_bytes(&text, reading->line, (size_t)(from - reading->line));
    buffer_string(&text, instead);
    buffer_string(&text, to);
    judge(reading, edit, buffer_c_string(&text));
    buffer_release(&text);
}

/* ---- All edits of a line, which is written without blanks ---- */

static const char *end_of_text(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static void drop(struct reading *reading, enum edit edit, const char *from, const char *to)
{
    const bool is_followed = *to == ',';
    edit_to(reading, edit, from - (!is_followed && from[-1] == ','), to + is_followed, "");
}

static const char *edit_value(struct reading *reading, const char *at);

static const char *edit_object(struct reading *reading, const char *at)
{
    edit_to(reading, EDIT_ADD, at + 1, at + 1, "\"zz\":0,");
    while (*at != '}') {
        const char *key = at + 1;
        at = edit_value(reading, end_of_text(key) + 1);
        drop(reading, EDIT_DROP, key, at);
    }
    return at + 1;
}

static const char *edit_list(struct reading *reading, const char *at)
{
    const char *first = at + 1;
    while (*at != ']') {
        const char *item = at + 1;
        if (*item == ']')
            return item + 1;
        struct buffer twice = {0};
        at = edit_value(reading, item);
        buffer_bytes(&twice, item, (size_t)(at - item));
        buffer_char(&twice, ',');
        edit_to(reading, EDIT_LIST, item, item, buffer_c_string(&twice));
        drop(reading, EDIT_LIST, item, at);
        buffer_release(&twice);
    }
    edit_to(reading, EDIT_LIST, first, at, "");
    return at + 1;
}

static const char *edit_value(struct reading *reading, const char *at)
{
    if (*at == '{')
        return edit_object(reading, at);
    if (*at == '[')
        return edit_list(reading, at);
    if (*at == '"') {
        const char *end = end_of_text(at);
        edit_to(reading, EDIT_TEXT, at, end, "\"\"");
        edit_to(reading, EDIT_TEXT, at, end, "\"zz\"");
        edit_to(reading, EDIT_TEXT, at, end, "7");
        edit_to(reading, EDIT_TEXT, at + 1, at + 1, "0");
        edit_to(reading, EDIT_TEXT, end - 1, end - 1, "0");
        return end;
    }
    const char *end = at + strcspn(at, ",]}");
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        edit_to(reading, EDIT_NUMBER, at, end, numbers[n]);
    return end;
}

/* Unchanged, where this or that kind of line is awaited. */
static void await_all(struct reading *reading)
{
    struct sums *sums = &reading->sums[EDIT_NONE];
    for (uint32_t awaited = 0; awaited < 64; awaited++) {
        struct wire_line line = {.kind = WIRE_FACT};
        struct error error = wire_read(reading->wire.wire, "events", 1,
                                       wire_lines_text(reading->line), awaited, &line);
        sums->edits++;
        sums->refused += error_is(error);
        const char *complaint = error_is(error) ? error_message(&error) : "";
        sums->hash = hash_bytes(complaint, strlen(complaint), sums->hash);
        sums->hash = hash_mix(sums->hash, error_is(error) ? 0 : (uint64_t)line.kind + 1);
        error_release(&error);
        wire_forget(reading->wire.wire);
    }
}

static void tell_line(const char *line, struct buffer *out)
{
    struct reading reading = {.line = line,
                              .changes_queues = strstr(line, "queues_changed") != NULL};
    wire_lines_open(&reading.wire);
    await_all(&reading);
    edit_value(&reading, line);
    wire_lines_close(&reading.wire);
    buffer_format(out, "%.*s\n", (int)strcspn(line, "\n") < 60 ? (int)strcspn(line, "\n") : 60,
                  line);
    for (int edit = 0; edit < EDIT_COUNT; edit++) {
        const struct sums *sums = &reading.sums[edit];
        if (sums->edits > 0)
            buffer_format(out, "    %-8s %5u, %5u refused, %5u as they came %016llx\n",
                          edit_names[edit], sums->edits, sums->refused, sums->same,
                          (unsigned long long)sums->hash);
    }
}

/* ---- The file ---- */

static void every_edit_ends_as_before(void **state)
{
    struct buffer told = {0}, golden = {0};
    const char *update = getenv("WINDTUNNEL_GOLDEN_UPDATE");
    (void)state;
    for (size_t i = 0; wire_lines[i] != NULL; i++)
        tell_line(wire_lines[i], &told);
    if (update != NULL && strcmp(update, "1") == 0) {
        FILE *file = fopen(golden_path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(told.bytes, 1, told.length, file), told.length);
        assert_int_equal(fclose(file), 0);
        print_message("wrote %s\n", golden_path);
    }
    FILE *file = fopen(golden_path, "rb");
    char bytes[4096];
    size_t length;
    assert_non_null(file);
    while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
        buffer_bytes(&golden, bytes, length);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(buffer_c_string(&told), buffer_c_string(&golden));
    buffer_release(&told);
    buffer_release(&golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_edit_ends_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
