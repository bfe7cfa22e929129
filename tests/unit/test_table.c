/* tests/unit/test_table.c -- the table's numbers, its width, and names that would spoil a terminal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/table.h"
#include "reports/view.h"
#include "tests/support/fake_run.h"

static void check_view(void (*view)(struct buffer *, double), double value, const char *expected)
{
    struct buffer out = {0};
    view(&out, value);
    assert_string_equal(buffer_c_string(&out), expected);
    buffer_release(&out);
}

static void numbers_are_written_as_people_do(void **state)
{
    (void)state;
    check_view(view_count, 0, "0");
    check_view(view_count, 999, "999");
    check_view(view_count, 1000, "1,000");
    check_view(view_count, -1234567, "-1,234,567");
    check_view(view_count, NAN, "\xe2\x80\x93");
    check_view(view_amount, 0, "0");
    check_view(view_amount, 0.421, "0.42");
    check_view(view_amount, 4.21, "4.2");
    check_view(view_amount, 9.96, "10");
    check_view(view_amount, 4213.4, "4,213");
    check_view(view_amount, INFINITY, "\xe2\x80\x93");
    check_view(view_factor, 1, "1.00");
    check_view(view_factor, 9.994, "9.99");
    check_view(view_factor, 9.996, "10");
    check_view(view_factor, NAN, "\xe2\x80\x93");
    check_view(view_percent, 0, "0.0 %");
    check_view(view_percent, 0.0001, "<0.1 %");
    check_view(view_percent, 0.873, "87.3 %");
    check_view(view_percent, NAN, "\xe2\x80\x93");
}

static void durations_have_two_units(void **state)
{
    (void)state;
    check_view(view_duration, 0, "0 s");
    check_view(view_duration, 0.049, "0 s");
    check_view(view_duration, 4.25, "4.2 s");
    check_view(view_duration, 9.96, "10 s");
    check_view(view_duration, 59.4, "59 s");
    check_view(view_duration, 59.6, "1m 00s");
    check_view(view_duration, 725, "12m 05s");
    check_view(view_duration, 3599.7, "1h 00m");
    check_view(view_duration, 86399, "23h 59m");
    check_view(view_duration, 187200, "2d 04h");
    check_view(view_duration, NAN, "\xe2\x80\x93");
}

static void names_are_cut_and_cleaned(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expected;
        size_t width;
    } cases[] = {
        {"short", "short", 8},
        {"eightlet", "eightlet", 8},
        {"nineletter", "ninelet\xe2\x80\xa6", 8},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9\xe2\x80\xa6", 3},
        {"a\x1b[31mb\nc",
         "a\xe2\x90\x9b[31mb\xe2\x90\x8a"
         "c",
         20},
        {"a\xe2\x80\xae"
         "b",
         "a\xef\xbf\xbd"
         "b",
         20}, /* right-to-left override */
        {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd", 20},
        {"\xc2\x9b"
         "2J",
         "\xef\xbf\xbd"
         "2J",
         20}, /* CSI of eight bits */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer out = {0};
        view_name(&out, cases[i].name, cases[i].width);
        assert_string_equal(buffer_c_string(&out), cases[i].expected);
        buffer_release(&out);
    }
}

static void check_lines(struct buffer *table)
{
    for (size_t i = 0; i < table->length; i++) {
        unsigned char c = (unsigned char)table->bytes[i];
        assert_true(c >= 0x20 || c == '\n');
    }
    struct text rest = {table->bytes, table->length - 1}, line;
    assert_true(table->bytes[table->length - 1] == '\n');
    while (text_cut(&rest, '\n', &line))
        if (view_width(line) > TABLE_WIDTH_MAX)
            fail_msg("%zu columns: %.*s", view_width(line), (int)line.length, line.at);
}

static void no_line_is_wider_than_a_screen(void **state)
{
    (void)state;
    static const char *const names[] = {
        "a-queue-with-a-name-that-goes-on-and-on-until-nobody-can-read-it-any-more-and-further",
        "\x1b]0;title\x07",
        "two\nlines",
        "",
        "tab\ttab",
        "q5",
        "q6",
        "q7",
        "q8",
        "q9",
        "q10",
        "q11"};
    struct fake_run run = {.jobs = 3000,
                           .gpus = 64,
                           .queues = 12,
                           .seed = 9,
                           .load = 3,
                           .price_usd_per_gpu_h = 98765.4,
                           .rejected_every = 7,
                           .workload_classes = names,
                           .queue_names = names,
                           .communicates = true};
    for (int is_large = 0; is_large < 2; is_large++) {
        struct metrics *metrics = metrics_new();
        struct record_sink sink = metrics_sink(metrics);
        run.span_s = is_large ? 300 * 86400.0 : 3600;
        fake_run_feed(&run, &sink);
        metrics_finish(metrics);
        struct table_options options = {.cluster = names[0], .policy = names[0], .is_ascii = is_large};
        struct buffer out = {0};
        table_run(metrics, &options, &out);
        check_lines(&out);
        assert_non_null(strstr(buffer_c_string(&out), "and 2 more"));
        assert_non_null(strstr(buffer_c_string(&out), "NeverFits"));
        assert_non_null(strstr(buffer_c_string(&out), "\nCommunication, GPU h "));
        buffer_release(&out);
        metrics_free(metrics);
    }
}

static void an_empty_run_still_prints(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    struct run_facts facts = {.end = TIME_NS_PER_S, .gpu_count = 8, .is_partial = true};
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
    struct buffer out = {0};
    table_run(metrics, NULL, &out);
    check_lines(&out);
    assert_non_null(strstr(buffer_c_string(&out), "PARTIAL"));
    buffer_release(&out);
    metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_people_do), cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(names_are_cut_and_cleaned),        cmocka_unit_test(no_line_is_wider_than_a_screen),
        cmocka_unit_test(an_empty_run_still_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
