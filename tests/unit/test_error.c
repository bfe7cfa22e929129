/* tests/unit/test_error.c -- errors by value: what they keep, and how a report looks. */
#include "tests/support/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 1
#endif

#if HAS_OWN_MALLOC
/* The allocator of this program, which fails once when the countdown reaches zero. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t bytes);

/* Negative: never.  Volatile: the compiler takes malloc for one that reads nothing of ours. */
static volatile long allocations_until_failure = -1;

static bool must_fail(void)
{
    long left = allocations_until_failure;
    if (left >= 0)
        allocations_until_failure = left - 1;
    return left == 0;
}

void *malloc(size_t bytes)
{
    return must_fail() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t bytes)
{
    return must_fail() ? NULL : __libc_realloc(block, bytes);
}
#endif

/* The report of the error is exactly this; the error is released. */
static void assert_report(struct error error, const char *expected)
{
    char *text = error_text_new(&error);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    error_release(&error);
    assert_false(error_is(error));
    assert_null(error.detail);
}

TEST(test_no_error_is_zero)
{
    struct error error = ERROR_OK;
    struct error zero;
    memset(&zero, 0, sizeof zero);
    assert_false(error_is(error));
    assert_false(error_is(zero));
    assert_string_equal(error_message(&error), "");
    error_release(&error);
    error_release(&error);
}

static struct error fail_if(bool is_bad, int *passed_count)
{
    if (is_bad)
        return error_new(ERROR_DATA, "bad");
    ++*passed_count;
    return ERROR_OK;
}

static struct error try_both(bool is_first_bad, bool is_second_bad, int *passed_count)
{
    TRY(fail_if(is_first_bad, passed_count));
    TRY(fail_if(is_second_bad, passed_count));
    return ERROR_OK;
}

TEST(test_try_leaves_at_the_first_error)
{
    int passed_count = 0;
    struct error error = try_both(false, false, &passed_count);
    assert_false(error_is(error));
    assert_int_equal(passed_count, 2);
    error = try_both(true, false, &passed_count);
    assert_true(error_is(error));
    assert_int_equal(error.kind, ERROR_DATA);
    assert_int_equal(passed_count, 2);
    error_release(&error);
    error = try_both(false, true, &passed_count);
    assert_true(error_is(error));
    assert_int_equal(passed_count, 3);
    error_release(&error);
}

TEST(test_message_is_formatted)
{
    struct error error = error_new(ERROR_USAGE, "no verb '%s', %d known", "rnu", 12);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_string_equal(error_message(&error), "no verb 'rnu', 12 known");
    assert_report(error, "error: no verb 'rnu', 12 known\n");
}

TEST(test_exit_status_of_every_kind)
{
    assert_int_equal(error_exit_status(ERROR_NONE), 0);
    assert_int_equal(error_exit_status(ERROR_USAGE), 2);
    assert_int_equal(error_exit_status(ERROR_CONFIG), 2);
    assert_int_equal(error_exit_status(ERROR_DATA), 3);
    assert_int_equal(error_exit_status(ERROR_IO), 4);
    assert_int_equal(error_exit_status(ERROR_INTERNAL), 5);
}

TEST(test_io_names_verb_path_and_reason)
{
    struct error error = error_io("open", "no/such.csv", ENOENT);
    assert_int_equal(error.kind, ERROR_IO);
    assert_report(error, "error: cannot open no/such.csv: No such file or directory\n");
    assert_report(error_io("write", "x", 987654), "error: cannot write x: error 987654\n");
}

TEST(test_unknown_places_are_left_out)
{
    assert_report(error_at(ERROR_DATA, "a.csv", 3, 7, "m"), "error: a.csv:3:7: m\n");
    assert_report(error_at(ERROR_DATA, "a.csv", 3, 0, "m"), "error: a.csv:3: m\n");
    assert_report(error_at(ERROR_DATA, "a.csv", 0, 0, "m"), "error: a.csv: m\n");
    assert_report(error_at(ERROR_DATA, NULL, 3, 7, "m"), "error: m\n");
}

TEST(test_full_report)
{
    const char *line = "  \"gpus_per_node\": \"8\",";
    struct error error = error_at(ERROR_CONFIG, "cluster.json", 14, 20,
                                  "'gpus_per_node' must be an integer from %d to %d, got \"8\"", 1, 16);
    error_set_excerpt(&error, line, strlen(line), 3);
    error_set_where(&error, "/pools/h100/gpus_per_node");
    error_set_hint(&error, "remove the %s", "quotes");
    assert_report(error, "error: cluster.json:14:20: 'gpus_per_node' must be an integer from 1 to "
                         "16, got \"8\"\n"
                         " 14 |   \"gpus_per_node\": \"8\",\n"
                         "    |                    ^~~\n"
                         "  at /pools/h100/gpus_per_node; remove the quotes\n");
}

TEST(test_where_and_hint_alone)
{
    struct error error = error_new(ERROR_CONFIG, "m");
    error_set_where(&error, "/a/0");
    assert_report(error, "error: m\n  at /a/0\n");
    error = error_new(ERROR_CONFIG, "m");
    error_set_hint(&error, "do %s", "that");
    assert_report(error, "error: m\n  do that\n");
    error = error_new(ERROR_CONFIG, "m");
    error_set_where(&error, "");
    assert_report(error, "error: m\n  at the root\n");
}

TEST(test_setters_replace)
{
    struct error error = error_at(ERROR_DATA, "f", 1, 1, "m");
    error_set_excerpt(&error, "old line", 8, 8);
    error_set_excerpt(&error, "new", 3, 1);
    error_set_where(&error, "/old");
    error_set_where(&error, "/new");
    error_set_hint(&error, "old");
    error_set_hint(&error, "new");
    assert_report(error, "error: f:1:1: m\n"
                         " 1 | new\n"
                         "   | ^\n"
                         "  at /new; new\n");
}

TEST(test_excerpt_without_column_or_line)
{
    struct error error = error_at(ERROR_DATA, "f", 123, 0, "m");
    error_set_excerpt(&error, "1,2,3", 5, 1);
    assert_report(error, "error: f:123: m\n"
                         " 123 | 1,2,3\n");
    error = error_new(ERROR_DATA, "m");
    error_set_excerpt(&error, "1,2,3", 5, 1);
    assert_report(error, "error: m\n"
                         "  | 1,2,3\n");
}

TEST(test_underline_stays_in_the_line)
{
    struct error error = error_at(ERROR_DATA, "f", 9, 3, "m");
    error_set_excerpt(&error, "1,234", 5, 1000);
    assert_report(error, "error: f:9:3: m\n"
                         " 9 | 1,234\n"
                         "   |   ^~~\n");
    /* something is missing behind the end */
    error = error_at(ERROR_DATA, "f", 9, 6, "m");
    error_set_excerpt(&error, "1,234", 5, 3);
    assert_report(error, "error: f:9:6: m\n"
                         " 9 | 1,234\n"
                         "   |      ^\n");
    error = error_at(ERROR_DATA, "f", 9, 1, "m");
    error_set_excerpt(&error, "", 0, 0);
    assert_report(error, "error: f:9:1: m\n"
                         " 9 | \n"
                         "   | ^\n");
}

TEST(test_controls_cannot_reach_a_terminal)
{
    /* escape, NUL, DEL, a C1 control, a byte that is no UTF-8; a tab keeps its one column */
    static const char line[] = "\ta\x1b[2J\0\x7f\xc2\x9b\xff|x";
    struct error error = error_at(ERROR_DATA, "e\x1bvil", 1, 13, "got '\x1b]0;'");
    error_set_excerpt(&error, line, sizeof line - 1, 1);
    error_set_where(&error, "/a\nb");
    error_set_hint(&error, "\r");
    assert_report(error, "error: e?vil:1:13: got '?]0;'\n"
                         " 1 |  a?[2J????|x\n"
                         "   |            ^\n"
                         "  at /a?b; ?\n");
}

TEST(test_caret_counts_characters_not_bytes)
{
    static const char line[] = "\"größe\": \"große\"";
    struct error error = error_at(ERROR_CONFIG, "f", 1, 12, "m");
    error_set_excerpt(&error, line, sizeof line - 1, 8);
    assert_report(error, "error: f:1:12: m\n"
                         " 1 | \"größe\": \"große\"\n"
                         "   |          ^~~~~~~\n");
}

/* A line of `length` columns in which only column `mark` (from 1) is 'X'. */
static char *marked_line_new(size_t length, size_t mark)
{
    char *line = test_malloc(length + 1);
    memset(line, '.', length);
    line[mark - 1] = 'X';
    line[length] = '\0';
    return line;
}

TEST(test_long_lines_are_windowed)
{
    static const size_t marks[] = {1, 2, 60, 61, 62, 100, 101, 500, 950, 999, 1000};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char *line = marked_line_new(1000, marks[i]);
        struct error error = error_at(ERROR_DATA, "f", 7, marks[i], "m");
        error_set_excerpt(&error, line, 1000, 1);
        char *text = error_text_new(&error);
        assert_non_null(text);
        char *excerpt = strchr(text, '\n') + 1;
        char *underline = strchr(excerpt, '\n') + 1;
        assert_in_range(underline - excerpt, 100, 100 + sizeof " 7 | ......\n");
        assert_int_equal(strchr(excerpt, 'X') - excerpt, strchr(underline, '^') - underline);
        free(text);
        error_release(&error);
        test_free(line);
    }
}

TEST(test_window_shows_what_was_cut)
{
    char expected[400];
    char dots[101];
    memset(dots, '.', 100);
    dots[100] = '\0';
    /* exactly 100 columns: nothing is cut */
    char *line = marked_line_new(100, 100);
    struct error error = error_at(ERROR_DATA, "f", 1, 100, "m");
    error_set_excerpt(&error, line, 100, 1);
    snprintf(expected, sizeof expected, "error: f:1:100: m\n 1 | %.99sX\n   | %99s^\n", dots, "");
    assert_report(error, expected);
    test_free(line);
    /* in the middle: dots of both ends, 60 columns to the left of the caret */
    line = marked_line_new(1000, 500);
    error = error_at(ERROR_DATA, "f", 1, 500, "m");
    error_set_excerpt(&error, line, 1000, 1);
    snprintf(expected, sizeof expected, "error: f:1:500: m\n 1 | ...%.60sX%.39s...\n   | %63s^\n", dots, dots, "");
    assert_report(error, expected);
    test_free(line);
}

/* What is left when not even the detail could be allocated. */
TEST(test_kind_survives_lost_detail)
{
    struct error error = {ERROR_DATA, NULL};
    assert_true(error_is(error));
    assert_string_equal(error_message(&error), "");
    error_set_excerpt(&error, "x", 1, 1);
    error_set_where(&error, "/x");
    error_set_hint(&error, "x");
    assert_null(error.detail);
    assert_report(error, "error: out of memory; the details are lost\n");
}

#if HAS_OWN_MALLOC
/* Not under valgrind, which puts its own in place of every malloc. */
static bool is_malloc_ours(void)
{
    allocations_until_failure = 0;
    void *volatile block = malloc(1);
    bool is_ours = block == NULL;
    allocations_until_failure = -1;
    free(block);
    return is_ours;
}

static char *report_with_failure(long failing_allocation, enum error_kind *kind)
{
    allocations_until_failure = failing_allocation;
    struct error error = error_at(ERROR_CONFIG, "f", 1, 1, "message %d", 1);
    error_set_excerpt(&error, "line", 4, 1);
    error_set_where(&error, "/where");
    error_set_hint(&error, "hint %d", 1);
    char *text = error_text_new(&error);
    *kind = error.kind;
    error_release(&error);
    return text;
}

TEST(test_every_allocation_may_fail)
{
    if (!is_malloc_ours()) {
        print_message("skipped: the sanitizer has the allocator\n");
        skip();
    }
    bool has_run_through = false;
    long failing = 0;
    for (; !has_run_through; failing++) {
        enum error_kind kind;
        char *text = report_with_failure(failing, &kind);
        has_run_through = allocations_until_failure >= 0;
        allocations_until_failure = -1;
        assert_int_equal(kind, ERROR_CONFIG);
        if (has_run_through)
            assert_string_equal(text, "error: f:1:1: message 1\n 1 | line\n   | ^\n"
                                      "  at /where; hint 1\n");
        else if (text != NULL)
            assert_memory_equal(text, "error: ", 7);
        free(text);
    }
    assert_in_range(failing, 7, 100); /* at least the detail and its five texts were refused once */
}
#endif

TEST(test_a_place_moves_down)
{
    struct error error = error_at(ERROR_DATA, "f", 2, 3, "bad");
    error_move_down(&error, 40);
    char *text = error_text_new(&error);
    assert_string_equal(text, "error: f:42:3: bad\n");
    free(text);
    error_release(&error);
    error = error_new(ERROR_DATA, "bad");
    error_move_down(&error, 40);
    text = error_text_new(&error);
    assert_string_equal(text, "error: bad\n");
    free(text);
    error_release(&error);
}
