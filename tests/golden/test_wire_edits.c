/* policies/wire.h, line by line: what becomes of each when one thing in it is other than it was, against
 * wire_edits.txt.
 *
 * Law: what is read is written as a line that is read and written again as itself, so that nothing is passed over in
 * silence but what is said to be default.  Beside that the file keeps, for each line and kind of edit, how many are
 * refused and how many written back as they came, and a hash of all that was written or complained of.
 *
 * wire_trails.txt (tests/support/golden.h) says where: a run is a line, named line/0, line/1 and so on, and a step of
 * it is an edit; the first 64 are the line unchanged, where this or that kind of line is awaited.  Of the first line
 * that differs the test prints the edit.  With the name of a line as its argument the program prints all its edits. */
#include <stdio.h>

#include "tests/support/test.h"

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
    struct golden_trails *trails;
    uint64_t hash; /* of all edits so far */
    bool is_printed;
    uint32_t wanted_step; /* to be printed; 0: none */
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

/* An edit is done; out: what was written, or complained of. */
static void step(struct reading *reading, const char *edit, const char *text, const char *out)
{
    reading->hash = hash_bytes(out, strlen(out), reading->hash);
    golden_trails_step(reading->trails, reading->hash);
    if (reading->is_printed)
        printf("%s %s    %s\n", edit, text, out);
    if (reading->trails->steps == reading->wanted_step)
        print_error("Now that step is: %s %s    %s\n", edit, text, out);
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
    step(reading, json_edit_names[edit], text, buffer_c_string(&out));
    buffer_release(&out);
}

static void step_awaited(struct reading *reading, uint32_t awaited, const char *complaint, uint32_t read)
{
    char edit[32];
    struct buffer out = {0};
    snprintf(edit, sizeof edit, "awaited %u", awaited);
    if (read != 0)
        buffer_format(&out, "read as kind %u", read);
    buffer_string(&out, complaint);
    step(reading, edit, "", buffer_c_string(&out));
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
        step_awaited(reading, awaited, complaint, error_is(error) ? 0 : line.kind + 1u);
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

static void tell_line(struct reading *reading, struct buffer *out)
{
    const char *line = reading->line;
    reading->changes_queues = strstr(line, "queues_changed") != NULL;
    wire_lines_open(&reading->wire);
    await_all(reading);
    json_edits_all(&(struct json_edits){.text = line, .self = reading, .judge = judge});
    wire_lines_close(&reading->wire);
    buffer_format(out, "%.*s\n", (int)strcspn(line, "\n") < 60 ? (int)strcspn(line, "\n") : 60, line);
    tell_sums("awaited", &reading->awaited, out);
    for (int edit = 0; edit < JSON_EDIT_COUNT; edit++)
        tell_sums(json_edit_names[edit], &reading->sums[edit], out);
}

/* How many lines were told.  wanted: the name of a run; NULL: all.  start: a reading at its beginning. */
static uint32_t tell(const char *wanted, const struct reading *start, struct buffer *out)
{
    char *line;
    uint32_t told = 0;
    for (size_t i = 0; (line = wire_lines_new(i)) != NULL; i++) {
        char run[32];
        struct reading reading = *start;
        snprintf(run, sizeof run, "line/%zu", i);
        reading.line = line;
        if (wanted == NULL || strcmp(wanted, run) == 0) {
            golden_trails_begin(reading.trails, "line", run + strlen("line/"));
            tell_line(&reading, out);
            told++;
        }
        free(line);
    }
    return told;
}

/* One line once more.  False: there is none of this name. */
static bool tell_again(const char *run, struct reading start)
{
    struct golden_trails trails = {0};
    struct buffer out = {0};
    start.trails = &trails;
    bool is_known = tell(run, &start, &out) == 1;
    golden_trails_release(&trails);
    buffer_release(&out);
    return is_known;
}

TEST(every_edit_ends_as_before)
{
    struct buffer told = {0};
    struct golden_trails trails = {0};
    struct golden_difference first;
    tell(NULL, &(struct reading){.trails = &trails}, &told);
    bool differs = golden_differs("tests/golden/wire_edits.txt", &told);
    if (golden_trails_differ("tests/golden/wire_trails.txt", &trails, &first)) {
        tell_again(first.run, (struct reading){.wanted_step = first.step});
        golden_print_replay(first.run);
        differs = true;
    }
    assert_false(differs);
}

static int print_line(const char *run)
{
    if (tell_again(run, (struct reading){.is_printed = true}))
        return 0;
    fprintf(stderr, "no line '%s': line/NUMBER, as in line/3\n", run);
    return 2;
}

int main(int argc, char **argv)
{
    return argc > 1 ? print_line(argv[1]) : test_run();
}
