/* tests/unit/test_input.c -- files as lines: ends of lines, ends of blocks, plain and zstd, digests. */
#include "tests/support/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/input.h"
#include "tests/support/scratch.h"

static struct input *open_good(const char *path)
{
    struct input *input;
    struct error error = input_open(&input, path, NULL);
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
    return input;
}

/* The lines of the file are exactly these. */
static void assert_lines(const char *path, const char *const *expected)
{
    struct input *input = open_good(path);
    struct text line;
    bool has = true;
    assert_int_equal(input_line_number(input), 0);
    for (size_t i = 0; has; i++) {
        struct error error = input_line(input, &line, &has);
        assert_false(error_is(error));
        if (has) {
            assert_non_null(expected[i]);
            assert_int_equal(line.length, strlen(expected[i]));
            assert_memory_equal(line.at, expected[i], line.length);
            assert_int_equal(input_line_number(input), i + 1);
        } else {
            assert_null(expected[i]);
            assert_int_equal(input_line_number(input), i);
        }
    }
    input_close(input);
}

/* Plain, as one frame, and as a frame per byte, the bytes have the same lines. */
static void assert_lines_of(const char *bytes, size_t length, const char *const *expected)
{
    assert_lines(scratch_write("plain", bytes, length), expected);
    struct buffer one = {0};
    struct buffer many = {0};
    scratch_zstd_frame(&one, bytes, length, true);
    scratch_zstd_frame(&many, "", 0, false);
    for (size_t i = 0; i < length; i++)
        scratch_zstd_frame(&many, bytes + i, 1, i % 2 == 0);
    assert_lines(scratch_write("one", one.bytes, one.length), expected);
    assert_lines(scratch_write("many", many.bytes, many.length), expected);
    buffer_release(&one);
    buffer_release(&many);
}

#define ASSERT_LINES(bytes, ...) assert_lines_of(bytes, sizeof(bytes) - 1, (const char *const[]){__VA_ARGS__})

TEST(test_line_ends)
{
    ASSERT_LINES("", NULL);
    ASSERT_LINES("\n", "", NULL);
    ASSERT_LINES("a", "a", NULL);
    ASSERT_LINES("a\n", "a", NULL);
    ASSERT_LINES("a\nb", "a", "b", NULL);
    ASSERT_LINES("a\r\nb\r\n", "a", "b", NULL);
    ASSERT_LINES("a\r\n\r\nb", "a", "", "b", NULL);
    ASSERT_LINES("\n\n", "", "", NULL);
    ASSERT_LINES("a\rb\r\r\nc\r", "a\rb\r", "c\r", NULL); /* a lone CR belongs to the line */
}

TEST(test_byte_order_mark)
{
    ASSERT_LINES("\xef\xbb\xbf", NULL);
    ASSERT_LINES("\xef\xbb\xbf\n", "", NULL);
    ASSERT_LINES("\xef\xbb\xbfjob_id\n1\n", "job_id", "1", NULL);
    ASSERT_LINES("\xef\xbb", "\xef\xbb", NULL);
    ASSERT_LINES("a\n\xef\xbb\xbf\n", "a", "\xef\xbb\xbf", NULL); /* only at the start */
}

static uint64_t next_random(uint64_t *state)
{
    *state = hash_mix(*state, 1);
    return *state;
}

/* Lines of all lengths, some longer than a block, against a plain split in memory. */
TEST(test_lines_across_blocks)
{
    static const size_t lengths[] = {0, 1, 100, 5000, 262142, 262143, 262144, 262145, 600000};
    uint64_t random = 1;
    struct buffer text = {0};
    for (int i = 0; i < 300; i++) {
        size_t length = lengths[next_random(&random) % (i % 10 == 0 ? 9 : 4)];
        memset(buffer_reserve(&text, length + 1), 'a' + i % 26, length);
        text.length += length;
        buffer_string(&text, next_random(&random) % 2 == 0 ? "\r\n" : "\n");
    }
    struct buffer frames = {0};
    size_t half = text.length / 2;
    scratch_zstd_frame(&frames, text.bytes, half, true);
    scratch_zstd_frame(&frames, text.bytes + half, text.length - half, true);
    scratch_write("plain", text.bytes, text.length);
    scratch_write("frames", frames.bytes, frames.length);
    for (int form = 0; form < 2; form++) {
        struct input *input = open_good(scratch_path(form == 0 ? "plain" : "frames"));
        struct text rest = {text.bytes, text.length};
        struct text line, expected;
        bool has;
        for (int i = 0; i < 300; i++) {
            assert_false(error_is(input_line(input, &line, &has)));
            assert_true(has);
            assert_true(text_cut(&rest, '\n', &expected));
            if (expected.length != 0 && expected.at[expected.length - 1] == '\r')
                expected.length--;
            assert_true(text_equal(line, expected));
        }
        assert_false(error_is(input_line(input, &line, &has)));
        assert_false(has);
        assert_false(error_is(input_line(input, &line, &has))); /* and it stays at the end */
        assert_false(has);
        input_close(input);
    }
    buffer_release(&frames);
    buffer_release(&text);
}

/* The lines that are left, as a hash. */
static uint64_t hash_rest(struct input *input)
{
    uint64_t hash = 0;
    struct text line;
    bool has = true;
    while (has) {
        assert_false(error_is(input_line(input, &line, &has)));
        hash = has ? hash_mix(hash, hash_bytes(line.at, line.length, hash)) : hash;
    }
    return hash;
}

/* After fork(2) the child and its parent read on as if each were alone, plain and zstd. */
TEST(test_children)
{
    enum { LINES = 60000 };
    struct buffer text = {0}, frame = {0};
    for (int i = 0; i < LINES; i++)
        buffer_format(&text, "line %d of %d, %d\n", i, LINES, (i % 977) * (i % 977) % 977);
    scratch_zstd_frame(&frame, text.bytes, text.length, true);
    scratch_write("plain", text.bytes, text.length);
    scratch_write("frames", frame.bytes, frame.length);
    for (int form = 0; form < 2; form++) {
        struct input *input = open_good(scratch_path(form == 0 ? "plain" : "frames"));
        uint64_t hash = 0;
        int ends[2];
        struct text line;
        bool has;
        for (int i = 0; i < LINES / 4; i++)
            assert_false(error_is(input_line(input, &line, &has)));
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            hash = hash_rest(input);
            _exit(write(ends[1], &hash, sizeof hash) != sizeof hash);
        }
        assert_int_equal(read(ends[0], &hash, sizeof hash), sizeof hash); /* the child has read all */
        assert_true(hash == hash_rest(input));
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(ends[0]);
        close(ends[1]);
        input_close(input);
    }
    buffer_release(&frame);
    buffer_release(&text);
}

/* Standard input that comes a byte at a time; zstd in one of the two rounds. */
TEST(test_standard_input_in_dribbles)
{
    static const char text[] = "\xef\xbb\xbf"
                               "first\r\nsecond\n\nlast";
    struct buffer frame = {0};
    scratch_zstd_frame(&frame, text, sizeof text - 1, true);
    for (int round = 0; round < 2; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const char *bytes = round == 0 ? text : frame.bytes;
            size_t length = round == 0 ? sizeof text - 1 : frame.length;
            for (size_t i = 0; i < length; i++)
                if (write(ends[1], bytes + i, 1) != 1)
                    _exit(1);
            _exit(0);
        }
        close(ends[1]);
        int before = dup(STDIN_FILENO);
        assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
        close(ends[0]);
        assert_lines("-", (const char *const[]){"first", "second", "", "last", NULL});
        if (before >= 0) {
            dup2(before, STDIN_FILENO);
            close(before);
        } else {
            close(STDIN_FILENO);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    buffer_release(&frame);
}

TEST(test_error_at_a_piece)
{
    static const char text[] = "\xef\xbb\xbfjob_id,gpus\n17,-3,x\n";
    const char *path = scratch_write("jobs.csv", text, sizeof text - 1);
    struct input *input = open_good(path);
    struct text line, rest, piece;
    bool has;
    assert_string_equal(input_path(input), path);
    assert_false(error_is(input_line(input, &line, &has)));
    assert_false(error_is(input_line(input, &line, &has)));
    assert_true(has);
    rest = line;
    text_cut(&rest, ',', &piece);
    text_cut(&rest, ',', &piece);
    struct error error = input_error(input, line, piece, "'gpus' must be at least %d", 1);
    assert_int_equal(error.kind, ERROR_DATA);
    char expected[512];
    snprintf(expected, sizeof expected,
             "error: %s:2:4: 'gpus' must be at least 1\n"
             " 2 | 17,-3,x\n"
             "   |    ^~\n",
             path);
    char *report = error_text_new(&error);
    assert_string_equal(report, expected);
    free(report);
    error_release(&error);
    error = input_error(input, line, (struct text){0}, "expected 2 fields, got 3");
    snprintf(expected, sizeof expected,
             "error: %s:2: expected 2 fields, got 3\n"
             " 2 | 17,-3,x\n",
             path);
    report = error_text_new(&error);
    assert_string_equal(report, expected);
    free(report);
    error_release(&error);
    input_close(input);
}

TEST(test_read_all)
{
    struct buffer text = {0};
    for (int i = 0; i < 200000; i++)
        buffer_format(&text, "%d\n", i);
    struct buffer frame = {0};
    scratch_zstd_frame(&frame, text.bytes, text.length, true);
    scratch_write("plain", text.bytes, text.length);
    scratch_write("frame", frame.bytes, frame.length);
    for (int form = 0; form < 2; form++) {
        const char *path = scratch_path(form == 0 ? "plain" : "frame");
        char *bytes;
        size_t length;
        struct error error = input_read_all(path, text.length, &bytes, &length);
        assert_false(error_is(error));
        assert_int_equal(length, text.length);
        assert_memory_equal(bytes, text.bytes, length);
        mem_free(bytes);
        error = input_read_all(path, text.length - 1, &bytes, &length);
        assert_int_equal(error.kind, ERROR_DATA);
        assert_non_null(strstr(error_message(&error), "it holds more than the 1288889 bytes allowed"));
        assert_null(bytes);
        error_release(&error);
    }
    char *bytes;
    size_t length = 1;
    assert_false(error_is(input_read_all(scratch_write("none", "", 0), 10, &bytes, &length)));
    assert_int_equal(length, 0);
    mem_free(bytes);
    buffer_release(&frame);
    buffer_release(&text);
}

TEST(test_digest)
{
    static const size_t lengths[] = {0, 1, 16, 17, 240, 241, 1000, 262144, 1000003};
    char *bytes = malloc(1000003);
    assert_non_null(bytes);
    for (size_t i = 0; i < 1000003; i++)
        bytes[i] = (char)(i * i >> 3);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char expected[33];
        char got[33];
        hash_hex(bytes, lengths[i], expected);
        assert_false(error_is(input_digest(scratch_write("file", bytes, lengths[i]), got)));
        assert_string_equal(got, expected);
    }
    free(bytes);
    char hex[33] = "x";
    struct error error = input_digest(scratch_path("absent"), hex);
    assert_int_equal(error.kind, ERROR_IO);
    assert_string_equal(hex, "");
    error_release(&error);
}

TEST_GROUP(scratch_make, scratch_remove)
