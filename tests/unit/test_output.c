/* tests/unit/test_output.c -- files that appear whole or not at all, devices, folders. */
#include "tests/support/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/output.h"
#include "tests/support/scratch.h"

static struct output *open_good(const char *path, enum output_form form)
{
    struct output *out;
    struct error error = output_open(&out, path, form);
    assert_string_equal(error_message(&error), "");
    assert_non_null(out);
    return out;
}

static void commit_good(struct output **out)
{
    struct error error = output_commit(out);
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
    assert_null(*out);
}

static void assert_holds(const char *name, const char *expected)
{
    struct buffer bytes = scratch_read(name);
    assert_string_equal(buffer_c_string(&bytes), expected);
    buffer_release(&bytes);
}

static int clean(void **state)
{
    (void)state;
    scratch_empty();
    return 0;
}

TEST_WITH(test_appears_at_commit, NULL, clean)
{
    struct output *out = open_good(scratch_path("a.csv"), OUTPUT_PLAIN);
    buffer_string(output_buffer(out), "job_id\n");
    assert_false(scratch_exists("a.csv"));
    commit_good(&out);
    assert_holds("a.csv", "job_id\n");
    assert_int_equal(scratch_count(""), 1);
}

TEST_WITH(test_old_file_stays_until_then, NULL, clean)
{
    scratch_write("a.csv", "old", 3);
    struct output *out = open_good(scratch_path("a.csv"), OUTPUT_PLAIN);
    buffer_string(output_buffer(out), "new");
    assert_holds("a.csv", "old");
    commit_good(&out);
    assert_holds("a.csv", "new");
    assert_int_equal(scratch_count(""), 1);
}

TEST_WITH(test_discard_leaves_nothing, NULL, clean)
{
    scratch_write("old", "old", 3);
    for (int i = 0; i < 2; i++) {
        struct output *out = open_good(scratch_path(i == 0 ? "old" : "new"), i == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD);
        buffer_string(output_buffer(out), "text");
        output_discard(&out);
        assert_null(out);
        output_discard(&out); /* nothing is fine */
    }
    assert_holds("old", "old");
    assert_int_equal(scratch_count(""), 1);
}

/* A library that writes at any place, and reads what it wrote. */
TEST_WITH(test_random_access, NULL, clean)
{
    char back[4] = "";
    scratch_write("a.db", "old", 3);
    struct output *out = open_good(scratch_path("a.db"), OUTPUT_RANDOM);
    assert_int_equal(pwrite(output_descriptor(out), "last", 4, 6), 4);
    assert_int_equal(pwrite(output_descriptor(out), "first ", 6, 0), 6);
    assert_int_equal(pread(output_descriptor(out), back, 4, 6), 4);
    assert_memory_equal(back, "last", 4);
    assert_holds("a.db", "old");
    commit_good(&out);
    assert_holds("a.db", "first last");
    out = open_good(scratch_path("a.db"), OUTPUT_RANDOM);
    assert_int_equal(pwrite(output_descriptor(out), "x", 1, 0), 1);
    output_discard(&out);
    assert_holds("a.db", "first last");
    assert_int_equal(scratch_count(""), 1);
    struct error error = output_open(&out, "/dev/full", OUTPUT_RANDOM);
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
}

/* "-" appends to whatever standard output is, and "-" is no file. */
TEST_WITH(test_standard_output, NULL, clean)
{
    struct output *out;
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    FILE *file = fopen(scratch_write("printed", "above\n", 6), "a");
    assert_int_equal(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    struct error error = output_open(&out, "-", OUTPUT_PLAIN);
    if (!error_is(error)) {
        buffer_string(output_buffer(out), "below\n");
        error = output_commit(&out);
    }
    dup2(before, STDOUT_FILENO);
    close(before);
    fclose(file);
    assert_false(error_is(error));
    assert_holds("printed", "above\nbelow\n");
    assert_int_equal(scratch_count(""), 1);
}

TEST_WITH(test_empty_files, NULL, clean)
{
    struct output *out = open_good(scratch_path("plain"), OUTPUT_PLAIN);
    commit_good(&out);
    assert_holds("plain", "");
    out = open_good(scratch_path("frame"), OUTPUT_ZSTD);
    commit_good(&out);
    char *bytes;
    size_t length = 1;
    assert_false(error_is(input_read_all(scratch_path("frame"), 10, &bytes, &length)));
    assert_int_equal(length, 0);
    mem_free(bytes);
    struct buffer frame = scratch_read("frame");
    assert_true(frame.length > 4); /* a frame that holds nothing, not an empty file */
    buffer_release(&frame);
}

/* Many megabytes through a small buffer, and back. */
TEST_WITH(test_large, NULL, clean)
{
    enum { LINES = 600000 };
    for (int form = 0; form < 2; form++) {
        const char *path = scratch_path(form == 0 ? "plain" : "frame");
        struct output *out = open_good(path, form == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD);
        size_t length_max = 0;
        for (int i = 0; i < LINES; i++) {
            buffer_format(output_buffer(out), "%d,%d\n", i, i * 79 % 10007);
            if (output_buffer(out)->length > length_max)
                length_max = output_buffer(out)->length;
            assert_false(error_is(output_flush_if_full(out)));
        }
        assert_in_range(length_max, 1, 1 << 20); /* it was flushed now and then */
        commit_good(&out);
        struct input *input;
        struct text line;
        bool has;
        char expected[32];
        assert_false(error_is(input_open(&input, path, NULL)));
        for (int i = 0; i < LINES; i++) {
            assert_false(error_is(input_line(input, &line, &has)));
            assert_true(has);
            snprintf(expected, sizeof expected, "%d,%d", i, i * 79 % 10007);
            assert_true(text_is(line, expected));
        }
        assert_false(error_is(input_line(input, &line, &has)));
        assert_false(has);
        input_close(input);
    }
    struct stat plain, frame;
    assert_int_equal(stat(scratch_path("plain"), &plain), 0);
    assert_int_equal(stat(scratch_path("frame"), &frame), 0);
    assert_true(frame.st_size * 2 < plain.st_size);
}

/* The same bytes whatever the calls of flush: a record's digest depends on them. */
TEST_WITH(test_compression_does_not_depend_on_flushes, NULL, clean)
{
    enum { LINES = 200000 };
    struct buffer first = {0};
    for (int round = 0; round < 2; round++) {
        struct output *out = open_good(scratch_path("frame"), OUTPUT_ZSTD);
        for (int i = 0; i < LINES; i++) {
            buffer_format(output_buffer(out), "%d,%d\n", i, i * 79 % 10007);
            if (round == 0 || i % 40000 == 0)
                assert_false(error_is(output_flush_if_full(out)));
        }
        commit_good(&out);
        struct buffer frame = scratch_read("frame");
        if (round == 0) {
            first = frame;
            continue;
        }
        assert_int_equal(frame.length, first.length);
        assert_memory_equal(frame.bytes, first.bytes, frame.length);
        buffer_release(&frame);
    }
    buffer_release(&first);
}

/* Bytes that zstd cannot make fewer, so that the last call has more to write than it can hold. */
TEST_WITH(test_random_bytes, NULL, clean)
{
    enum { LENGTH_MAX = 600000 };
    char *expected = malloc(LENGTH_MAX);
    assert_non_null(expected);
    uint64_t random = 1;
    for (size_t i = 0; i < LENGTH_MAX; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407; /* Knuth, MMIX */
        expected[i] = (char)(random >> 56);
    }
    for (size_t length = 1; length < LENGTH_MAX; length = length * 5 / 4 + 1) {
        struct output *out = open_good(scratch_path("frame"), OUTPUT_ZSTD);
        buffer_bytes(output_buffer(out), expected, length);
        commit_good(&out);
        char *bytes;
        size_t got;
        assert_false(error_is(input_read_all(scratch_path("frame"), length, &bytes, &got)));
        assert_int_equal(got, length);
        assert_memory_equal(bytes, expected, length);
        mem_free(bytes);
    }
    free(expected);
}

TEST_WITH(test_seal, NULL, clean)
{
    for (int form = 0; form < 2; form++) {
        struct output *out = open_good(scratch_path("file"), form == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD);
        buffer_string(output_buffer(out), "text");
        assert_false(error_is(output_seal(out)));
        assert_false(error_is(output_seal(out)));
        assert_int_equal(scratch_count(""), 0);
        commit_good(&out);
        char *bytes;
        size_t length;
        assert_false(error_is(input_read_all(scratch_path("file"), 10, &bytes, &length)));
        assert_int_equal(length, 4);
        assert_memory_equal(bytes, "text", 4);
        mem_free(bytes);
        scratch_empty();
    }
}

TEST_WITH(test_links_and_modes, NULL, clean)
{
    scratch_write("target", "old", 3);
    assert_int_equal(symlink("target", scratch_path("link")), 0);
    struct output *out = open_good(scratch_path("link"), OUTPUT_PLAIN);
    buffer_string(output_buffer(out), "new");
    commit_good(&out);
    struct stat status;
    assert_int_equal(lstat(scratch_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_holds("target", "new");
    mode_t mask = umask(027);
    out = open_good(scratch_path("mode"), OUTPUT_PLAIN);
    commit_good(&out);
    umask(mask);
    assert_int_equal(stat(scratch_path("mode"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

/* Names without a folder, and two files of one folder at a time. */
TEST_WITH(test_here_and_side_by_side, NULL, clean)
{
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch_path("")), 0);
    struct output *a = open_good("a", OUTPUT_PLAIN);
    struct output *b = open_good("./b", OUTPUT_PLAIN);
    assert_int_equal(chdir(before), 0); /* the folder is held, not its name */
    buffer_string(output_buffer(a), "1");
    buffer_string(output_buffer(b), "2");
    commit_good(&b);
    commit_good(&a);
    assert_holds("a", "1");
    assert_holds("b", "2");
    assert_int_equal(scratch_count(""), 2);
}

/* Left behind by a killed process of the same number. */
TEST_WITH(test_old_temporary_names, NULL, clean)
{
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, ".windtunnel-%ld-%d.tmp", (long)getpid(), i);
        scratch_write(name, "x", 1);
    }
    struct output *out = open_good(scratch_path("a"), OUTPUT_PLAIN);
    commit_good(&out);
    assert_true(scratch_exists("a"));
    assert_int_equal(scratch_count(""), 4);
}

TEST_WITH(test_devices_and_pipes, NULL, clean)
{
    struct output *out = open_good("/dev/null", OUTPUT_ZSTD);
    buffer_string(output_buffer(out), "gone");
    commit_good(&out);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    const char *path = scratch_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int end = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(end >= 0);
    out = open_good(path, OUTPUT_PLAIN);
    buffer_string(output_buffer(out), "through");
    commit_good(&out);
    char bytes[16];
    assert_int_equal(read(end, bytes, sizeof bytes), 7);
    assert_memory_equal(bytes, "through", 7);
    close(end);
}

TEST_WITH(test_make_folder, NULL, clean)
{
    struct stat status;
    assert_false(error_is(output_make_folder(scratch_path("a/b//c/"))));
    assert_int_equal(stat(scratch_path("a/b/c"), &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_false(error_is(output_make_folder(scratch_path("a/b/c"))));
    assert_false(error_is(output_make_folder("/")));
    assert_false(error_is(output_make_folder(".")));
}

/* ---- files of a folder that is written as a whole ---- */

static struct error write_inside(const char *folder, const char *name, const char *text)
{
    struct output *out;
    TRY(output_open_inside(&out, scratch_path(folder), name, OUTPUT_PLAIN));
    buffer_string(output_buffer(out), text);
    return output_commit(&out);
}

/* What stands under the name is replaced, never followed or opened. */
TEST_WITH(test_inside_replaces, NULL, clean)
{
    assert_int_equal(mkdir(scratch_path("rec"), 0755), 0);
    assert_false(error_is(write_inside("rec", "new", "one")));
    assert_false(error_is(write_inside("rec", "new", "two")));
    assert_holds("rec/new", "two");
    scratch_write("target", "mine", 4);
    assert_int_equal(symlink("../target", scratch_path("rec/link")), 0);
    assert_int_equal(symlink("nowhere/at-all", scratch_path("rec/broken")), 0);
    assert_int_equal(mkfifo(scratch_path("rec/pipe"), 0644), 0); /* to open it would take for ever */
    static const char *const names[] = {"link", "broken", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[32];
        struct stat status;
        assert_false(error_is(write_inside("rec", names[i], "ours")));
        snprintf(path, sizeof path, "rec/%s", names[i]);
        assert_int_equal(lstat(scratch_path(path), &status), 0);
        assert_true(S_ISREG(status.st_mode));
        assert_holds(path, "ours");
    }
    assert_holds("target", "mine");
    assert_int_equal(scratch_count("rec"), 4);
}

TEST_WITH(test_inside_refuses_a_folder, NULL, clean)
{
    assert_int_equal(mkdir(scratch_path("rec"), 0755), 0);
    assert_int_equal(mkdir(scratch_path("rec/name"), 0755), 0);
    struct error error = write_inside("rec", "name", "ours");
    assert_int_equal(error.kind, ERROR_IO);
    assert_non_null(strstr(error_message(&error), "rec/name"));
    error_release(&error);
    error = write_inside("missing", "name", "ours");
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    assert_int_equal(scratch_count("rec"), 1);
    assert_int_equal(scratch_count(""), 1);
}

TEST_GROUP(scratch_make, scratch_remove)
