/* tests/fault/test_input_bad.c -- input that is missing, cut off, damaged or a bomb: refused, quickly and in words. */
#include "tests/support/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buffer.h"
#include "base/input.h"
#include "tests/support/scratch.h"

/* What came out of reading a file to its end or its first error. */
struct outcome {
    struct error error;
    uint64_t line_count;
    uint64_t bytes;
    struct buffer text; /* lines joined by LF, if asked for */
};

static struct outcome read_lines(const char *path, const struct input_caps *caps, bool keep)
{
    struct outcome outcome = {0};
    struct input *input;
    struct text line;
    bool has = true;
    outcome.error = input_open(&input, path, caps);
    if (error_is(outcome.error)) {
        assert_null(input);
        return outcome;
    }
    while (has && !error_is(outcome.error)) {
        outcome.error = input_line(input, &line, &has);
        if (!has)
            break;
        outcome.line_count++;
        outcome.bytes += line.length + 1;
        if (keep) {
            buffer_text(&outcome.text, line);
            buffer_char(&outcome.text, '\n');
        }
    }
    assert_int_equal(input_line_number(input) >= outcome.line_count, 1);
    input_close(input);
    return outcome;
}

/* The report ends so after "error: " and, if the message has one, the path. */
static void assert_refused(struct outcome outcome, enum error_kind kind, const char *expected)
{
    char *report = error_text_new(&outcome.error);
    if (outcome.error.kind != kind || strstr(report, expected) == NULL)
        fail_msg("expected '%s', got %s", expected, report);
    free(report);
    error_release(&outcome.error);
    buffer_release(&outcome.text);
}

TEST(test_not_a_readable_file)
{
    char expected[600];
    const char *path = scratch_path("absent.csv");
    snprintf(expected, sizeof expected, "error: cannot open %s: No such file or directory\n", path);
    assert_refused(read_lines(path, NULL, false), ERROR_IO, expected);
    path = scratch_path("");
    snprintf(expected, sizeof expected, "error: cannot read %s: Is a directory\n", path);
    assert_refused(read_lines(path, NULL, false), ERROR_IO, expected);
    char *bytes;
    size_t length;
    struct outcome outcome = {.error = input_read_all(path, 100, &bytes, &length)};
    assert_null(bytes);
    assert_refused(outcome, ERROR_IO, expected);
    char hex[33];
    outcome = (struct outcome){.error = input_digest(path, hex)};
    assert_refused(outcome, ERROR_IO, expected);
    path = scratch_path("absent/below");
    assert_refused(read_lines(path, NULL, false), ERROR_IO, "No such file or directory");
    scratch_write("file", "x", 1);
    assert_refused(read_lines(scratch_path("file/below"), NULL, false), ERROR_IO, "Not a directory");
    assert_refused(read_lines("", NULL, false), ERROR_IO, "No such file or directory");
}

TEST(test_unreadable)
{
    const uid_t nobody = 65534; /* Debian's base-passwd: nobody */
    const char *path = scratch_write("secret", "x\n", 2);
    assert_int_equal(chmod(path, 0), 0);
    bool is_root = geteuid() == 0;
    if (is_root && seteuid(nobody) != 0) {
        print_message("skipped: root may read everything and cannot become somebody else\n");
        skip();
    }
    struct outcome outcome = read_lines(path, NULL, false);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_refused(outcome, ERROR_IO, "Permission denied");
}

TEST(test_empty)
{
    struct outcome outcome = read_lines(scratch_write("empty", "", 0), NULL, false);
    assert_false(error_is(outcome.error));
    assert_int_equal(outcome.line_count, 0);
    /* by its name it was to be a frame, which is never empty */
    assert_refused(read_lines(scratch_write("empty.zst", "", 0), NULL, false), ERROR_DATA,
                   "the compressed data ends in the middle of a frame");
}

static struct buffer sample_text(void)
{
    struct buffer text = {0};
    for (int i = 0; i < 60; i++)
        buffer_format(&text, "%d,job-%d,%d\n", i, i * i % 97, i % 8);
    return text;
}

TEST(test_truncated_at_every_byte)
{
    struct buffer text = sample_text();
    struct buffer frames = {0};
    scratch_zstd_frame(&frames, text.bytes, text.length / 2, true);
    size_t first_length = frames.length;
    scratch_zstd_frame(&frames, text.bytes + text.length / 2, text.length - text.length / 2, false);
    for (size_t length = 0; length < frames.length; length++) {
        const char *path = scratch_write("cut.csv.zst", frames.bytes, length);
        struct outcome outcome = read_lines(path, NULL, false);
        if (length == first_length) { /* a whole frame: a shorter file, but a good one */
            assert_false(error_is(outcome.error));
            continue;
        }
        assert_refused(outcome, ERROR_DATA,
                       "the compressed data ends in the middle of a frame\n"
                       "  the file was cut off; copy or make it again\n");
        char *bytes;
        size_t count;
        struct error error = input_read_all(path, 1 << 20, &bytes, &count);
        assert_int_equal(error.kind, ERROR_DATA);
        assert_null(bytes);
        error_release(&error);
        /* Under a name that promises nothing, "(" alone may be a text. */
        outcome = read_lines(scratch_write("cut.csv", frames.bytes, length), NULL, false);
        if (length < 2)
            assert_int_equal(outcome.line_count, length);
        else
            assert_refused(outcome, ERROR_DATA, "ends in the middle of a frame");
    }
    struct outcome whole = read_lines(scratch_write("whole", frames.bytes, frames.length), NULL, true);
    assert_false(error_is(whole.error));
    assert_int_equal(whole.text.length, text.length);
    assert_memory_equal(whole.text.bytes, text.bytes, text.length);
    buffer_release(&whole.text);
    buffer_release(&frames);
    buffer_release(&text);
}

/* With a check sum, a changed byte is noticed, or changes nothing (there are unused bits in a header). */
TEST(test_any_damaged_byte)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x10};
    struct buffer text = sample_text();
    struct buffer frame = {0};
    scratch_zstd_frame(&frame, text.bytes, text.length, true);
    size_t refused_count = 0;
    for (size_t at = 0; at < frame.length; at++) {
        for (size_t i = 0; i < sizeof flips; i++) {
            frame.bytes[at] = (char)(frame.bytes[at] ^ flips[i]);
            struct outcome outcome = read_lines(scratch_write("damaged.zst", frame.bytes, frame.length), NULL, true);
            frame.bytes[at] = (char)(frame.bytes[at] ^ flips[i]);
            if (error_is(outcome.error)) {
                assert_int_equal(outcome.error.kind, ERROR_DATA);
                assert_true(strlen(error_message(&outcome.error)) > 10);
                refused_count++;
            } else if (at >= 4) { /* without its magic number it is a text of its own */
                assert_int_equal(outcome.text.length, text.length);
                assert_memory_equal(outcome.text.bytes, text.bytes, text.length);
            }
            error_release(&outcome.error);
            buffer_release(&outcome.text);
        }
    }
    assert_true(refused_count > (frame.length - 8) * 3);
    buffer_release(&frame);
    buffer_release(&text);
}

TEST(test_other_things_after_a_frame)
{
    struct buffer bytes = {0};
    scratch_zstd_frame(&bytes, "a\n", 2, true);
    buffer_string(&bytes, "plain text\n");
    assert_refused(read_lines(scratch_write("mixed", bytes.bytes, bytes.length), NULL, false), ERROR_DATA,
                   "something that is not zstd follows the last frame");
    buffer_release(&bytes);
}

/* RFC 8878, section 3.1.2: magic number 0x184D2A5?, the size in four bytes, and what nobody reads. */
static void add_skippable(struct buffer *out, unsigned nibble, uint32_t size)
{
    const char head[] = {(char)(0x50 | nibble), 0x2a, 0x4d, 0x18};
    buffer_bytes(out, head, sizeof head);
    for (int i = 0; i < 4; i++)
        buffer_char(out, (char)(size >> (8 * i)));
    for (uint32_t i = 0; i < size; i++)
        buffer_char(out, (char)i);
}

TEST(test_several_frames_and_skippable_ones)
{
    struct buffer bytes = {0};
    add_skippable(&bytes, 0, 5);
    scratch_zstd_frame(&bytes, "a\nb", 3, true);
    add_skippable(&bytes, 15, 400000);
    scratch_zstd_frame(&bytes, "", 0, false);
    scratch_zstd_frame(&bytes, "c\n", 2, false);
    add_skippable(&bytes, 7, 0);
    struct outcome outcome = read_lines(scratch_write("frames", bytes.bytes, bytes.length), NULL, true);
    assert_false(error_is(outcome.error));
    assert_int_equal(outcome.line_count, 2);
    assert_memory_equal(outcome.text.bytes, "a\nbc\n", 5);
    buffer_release(&outcome.text);
    bytes.length = 0;
    add_skippable(&bytes, 3, 100);
    for (size_t length = 2; length < bytes.length; length++)
        if (length >= 4)
            assert_refused(read_lines(scratch_write("cut", bytes.bytes, length), NULL, false), ERROR_DATA,
                           "ends in the middle of a frame");
    outcome = read_lines(scratch_write("only", bytes.bytes, bytes.length), NULL, false);
    assert_false(error_is(outcome.error));
    assert_int_equal(outcome.line_count, 0);
    buffer_release(&bytes);
}

/* RFC 8878, section 3.1.1.1.2: a frame whose window is 2^(10 + exponent) bytes, with one raw block "a". */
TEST(test_windows)
{
    char frame[] = "\x28\xb5\x2f\xfd\x00?\x09\x00\x00"
                   "a";
    frame[5] = (char)(17 << 3); /* 2^27: 128 MiB */
    struct outcome outcome = read_lines(scratch_write("window", frame, sizeof frame - 1), NULL, true);
    assert_string_equal(error_message(&outcome.error), "");
    assert_int_equal(outcome.line_count, 1);
    assert_memory_equal(outcome.text.bytes, "a\n", 2);
    buffer_release(&outcome.text);
    frame[5] = (char)(18 << 3);
    assert_refused(read_lines(scratch_write("window", frame, sizeof frame - 1), NULL, false), ERROR_DATA,
                   "decompressing it needs a window above 128 MiB\n"
                   "  compress it again without --long above 27\n");
}

/* ---- bombs ---- */

static long memory_max_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* 512 GiB of one byte in about 16 MiB: a frame of 64 MiB, repeated. */
static const char *write_bomb(char byte)
{
    enum { FRAME_BYTES = 64 << 20, FRAME_COUNT = 8192 };
    char *bytes = malloc(FRAME_BYTES);
    assert_non_null(bytes);
    memset(bytes, byte, FRAME_BYTES);
    struct buffer frame = {0};
    scratch_zstd_frame(&frame, bytes, FRAME_BYTES, false);
    free(bytes);
    const char *path = scratch_path("bomb");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < FRAME_COUNT; i++)
        assert_int_equal(fwrite(frame.bytes, frame.length, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    buffer_release(&frame);
    return path;
}

TEST(test_bomb_of_lines)
{
    const char *path = write_bomb('\n');
    long before_kib = memory_max_kib();
    struct outcome outcome = read_lines(path, NULL, false);
    assert_in_range(outcome.line_count, 60 << 20, 64 << 20);
    assert_refused(outcome, ERROR_DATA,
                   "it grows more than 200-fold when decompressed\n"
                   "  if that is meant, decompress it first\n");
    struct input_caps caps = {.bytes_max = 1 << 20};
    outcome = read_lines(path, &caps, false);
    assert_in_range(outcome.line_count, 0, 1 << 20);
    assert_refused(outcome, ERROR_DATA, "it holds more than the 1048576 bytes allowed");
    caps = (struct input_caps){.ratio_max = 1000000, .bytes_max = 100 << 20};
    outcome = read_lines(path, &caps, false);
    assert_in_range(outcome.line_count, 99 << 20, 100 << 20);
    assert_refused(outcome, ERROR_DATA, "it holds more than the 104857600 bytes allowed");
    assert_in_range(memory_max_kib() - before_kib, 0, 32 << 10);
}

TEST(test_bomb_of_zeros)
{
    const char *path = write_bomb('\0');
    long before_kib = memory_max_kib();
    assert_refused(read_lines(path, NULL, false), ERROR_DATA, ":1: the line is longer than the 16777216 bytes allowed");
    char *bytes;
    size_t length;
    struct outcome outcome = {.error = input_read_all(path, 10 << 20, &bytes, &length)};
    assert_refused(outcome, ERROR_DATA, "it holds more than the 10485760 bytes allowed");
    outcome = (struct outcome){.error = input_read_all(path, UINT64_C(1) << 40, &bytes, &length)};
    assert_null(bytes);
    assert_refused(outcome, ERROR_DATA, "it grows more than 200-fold");
    /* 64 MiB of zeros were held before the ratio counted, twice while the block grew */
    assert_in_range(memory_max_kib() - before_kib, 0, 300 << 10);
}

/* ---- lines ---- */

TEST(test_line_too_long)
{
    struct input_caps caps = {.line_max = 1000};
    char text[1100];
    memset(text, 'x', sizeof text);
    static const char *const ends[] = {"", "\n", "\r\n", "\nnext\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (size_t length = 998; length <= 1003; length++) {
            struct buffer bytes = {0};
            buffer_string(&bytes, "first\n");
            buffer_bytes(&bytes, text, length);
            buffer_string(&bytes, ends[i]);
            struct outcome outcome = read_lines(scratch_write("long", bytes.bytes, bytes.length), &caps, false);
            buffer_release(&bytes);
            if (length <= 1000) {
                assert_false(error_is(outcome.error));
                assert_int_equal(outcome.line_count, i == 3 ? 3 : 2);
            } else {
                assert_int_equal(outcome.line_count, 1);
                assert_refused(outcome, ERROR_DATA, ":2: the line is longer than the 1000 bytes allowed\n");
            }
        }
    }
}

/* A cap above the block's size, crossed by a line that has no end. */
TEST(test_line_without_end)
{
    enum { LENGTH = 3 << 20 };
    struct input_caps caps = {.line_max = 1 << 20};
    char *text = malloc(LENGTH);
    assert_non_null(text);
    memset(text, 'x', LENGTH);
    assert_refused(read_lines(scratch_write("endless", text, LENGTH), &caps, false), ERROR_DATA,
                   ":1: the line is longer than the 1048576 bytes allowed");
    caps.line_max = LENGTH;
    struct outcome outcome = read_lines(scratch_path("endless"), &caps, false);
    assert_false(error_is(outcome.error));
    assert_int_equal(outcome.bytes, LENGTH + 1);
    free(text);
}

TEST(test_nul_byte)
{
    static const char text[] = "a,b\nc\0d,e\nf\n";
    struct outcome outcome = read_lines(scratch_write("nul", text, sizeof text - 1), NULL, false);
    assert_int_equal(outcome.line_count, 1);
    assert_refused(outcome, ERROR_DATA,
                   ":2:2: a NUL byte; this is no text\n"
                   " 2 | c?d,e\n"
                   "   |  ^\n");
    /* far behind, in another block, and at the very end */
    struct buffer bytes = {0};
    for (int i = 0; i < 100000; i++)
        buffer_string(&bytes, "0123456789\n");
    buffer_string(&bytes, "xyz");
    buffer_char(&bytes, '\0');
    outcome = read_lines(scratch_write("nul", bytes.bytes, bytes.length), NULL, false);
    assert_int_equal(outcome.line_count, 100000);
    assert_refused(outcome, ERROR_DATA, ":100001:4: a NUL byte; this is no text\n");
    buffer_release(&bytes);
    /* UTF-16 is full of them */
    assert_refused(read_lines(scratch_write("utf16", "\xff\xfej\0o\0b\0\n\0", 10), NULL, false), ERROR_DATA,
                   ":1:4: a NUL byte");
}

TEST(test_plain_size_cap)
{
    struct input_caps caps = {.bytes_max = 10};
    struct outcome outcome = read_lines(scratch_write("ten", "1234\n5678\n", 10), &caps, false);
    assert_false(error_is(outcome.error));
    assert_int_equal(outcome.line_count, 2);
    assert_refused(read_lines(scratch_write("eleven", "1234\n5678\n9", 11), &caps, false), ERROR_DATA,
                   "it holds more than the 10 bytes allowed");
}

TEST_GROUP(scratch_make, scratch_remove)
