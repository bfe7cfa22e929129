/* tests/unit/test_sweep_books.c -- what became of a run is read as it was kept: a result wins over failures, the last
 * failure counts, two results that differ are an error, and what is no file of this sweep does not count. */
#include "tests/support/test.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "studies/sweep/sweep_books.h"
#include "tests/support/scratch.h"

enum { RUNS = 6 };

static struct sweep_run runs[RUNS];
static struct sweep_plan plan;

static int set_up(void **state)
{
    for (uint32_t r = 0; r < RUNS; r++) {
        runs[r] = (struct sweep_run){.first = r, .seed = r};
        hash_hex(&r, sizeof r, runs[r].key);
    }
    runs[5] = (struct sweep_run){.first = 1, .seed = 1}; /* the same run as 1 */
    memcpy(runs[5].key, runs[1].key, sizeof runs[5].key);
    plan = (struct sweep_plan){.runs = runs, .run_count = RUNS, .distinct_count = RUNS - 1, .combination_count = 1};
    scratch_make(state);
    return mkdir(scratch_path(KEPT_RUNS_FOLDER), 0755);
}

static void assert_good(struct error error)
{
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
}

static void keep(size_t run, enum run_state state, const char *text)
{
    assert_good(sweep_books_keep(scratch_path(""), &plan, run, state, text_of(text)));
}

static const char *file_of(size_t run, const char *suffix)
{
    static char name[64];
    snprintf(name, sizeof name, KEPT_RUNS_FOLDER "/%s%s", runs[run].key, suffix);
    return scratch_path(name);
}

static void assert_fails(struct error error, enum error_kind kind, const char *part)
{
    assert_int_equal(error.kind, kind);
    assert_non_null(strstr(error_message(&error), part));
    error_release(&error);
}

TEST_WITH(test_states, set_up, scratch_remove)
{
    struct sweep_books books;
    struct buffer path = {0}, text = {0};
    static const enum run_state states[RUNS] = {RUN_DONE, RUN_DONE, RUN_CRASH, RUN_MISSING, RUN_TIMEOUT, RUN_DONE};
    keep(0, RUN_TIMEOUT, "took longer");
    keep(0, RUN_DONE, "{\"a\": 1}");
    keep(1, RUN_DONE, "");
    keep(1, RUN_KILLED, "late");
    keep(2, RUN_ERROR, "first");
    keep(2, RUN_CRASH, "signal 6: last\nof two lines");
    keep(4, RUN_TIMEOUT, "");
    scratch_write(KEPT_RUNS_FOLDER "/.windtunnel-12-0.tmp", "torn", 4);
    scratch_write(KEPT_RUNS_FOLDER "/0123456789abcdef0123456789abcdef.json.zst", "of another sweep", 16);
    assert_good(sweep_books_read(&books, &plan, scratch_path("")));
    for (size_t r = 0; r < RUNS; r++)
        assert_int_equal(books.entries[r].state, states[r]);
    assert_int_equal(books.counts[RUN_DONE], 3);
    assert_string_equal(books.entries[2].failure, "signal 6: last\nof two lines");
    assert_string_equal(books.entries[4].failure, "");
    assert_null(books.entries[0].failure);
    assert_false(sweep_books_is_complete(&books));
    assert_good(sweep_books_result(&books, 0, &path, &text));
    assert_string_equal(buffer_c_string(&text), "{\"a\": 1}");
    assert_string_equal(path.bytes, file_of(0, ".json.zst"));
    assert_good(sweep_books_result(&books, 5, &path, &text));
    assert_int_equal(text.length, 0);
    buffer_release(&path);
    buffer_release(&text);
    sweep_books_release(&books);
}

TEST_WITH(test_two_results, set_up, scratch_remove)
{
    keep(3, RUN_DONE, "same");
    keep(3, RUN_DONE, "same");
    assert_fails(sweep_books_keep(scratch_path(""), &plan, 3, RUN_DONE, TEXT("other")), ERROR_DATA,
                 "a run was made twice with different results");
}

TEST_WITH(test_wrong_files, set_up, scratch_remove)
{
    struct sweep_books books;
    struct buffer path = {0}, text = {0};
    static const char *const wrong[] = {"", "timeout", "done: x", "missing: x", "timeout:"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        char name[64];
        snprintf(name, sizeof name, KEPT_RUNS_FOLDER "/%s.failed", runs[2].key);
        scratch_write(name, wrong[w], strlen(wrong[w]));
        assert_fails(sweep_books_read(&books, &plan, scratch_path("")), ERROR_DATA, "does not begin with");
    }
    keep(2, RUN_ERROR, "x");
    assert_int_equal(symlink("/dev/zero", file_of(0, ".json.zst")), 0);
    assert_good(sweep_books_read(&books, &plan, scratch_path("")));
    assert_fails(sweep_books_result(&books, 0, &path, &text), ERROR_DATA, runs[0].key);
    sweep_books_release(&books);
    buffer_release(&path);
    buffer_release(&text);
}

TEST_WITH(test_no_folder, set_up, scratch_remove)
{
    struct sweep_books books;
    assert_int_equal(rmdir(scratch_path(KEPT_RUNS_FOLDER)), 0);
    assert_fails(sweep_books_read(&books, &plan, scratch_path("")), ERROR_IO, "runs");
    assert_fails(sweep_books_keep(scratch_path(""), &plan, 0, RUN_DONE, TEXT("x")), ERROR_IO, runs[0].key);
}
