/* tests/unit/test_view.c -- numbers for people, and names that would spoil a terminal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/view.h"

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

static void sentences_hold_numbers(void **state)
{
    (void)state;
    struct buffer out = {0};
    view_words(&out, "%g jobs, %a GPU h, %fx, %e, %E, %G of %s", 1234.0, 0.42, 1.5, 0.873, 725.0, -4.2, "100 %");
    assert_string_equal(buffer_c_string(&out), "1,234 jobs, 0.42 GPU h, 1.50x, 87.3 %, 12m 05s, -4.2 s of 100 %");
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_people_do), cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(names_are_cut_and_cleaned), cmocka_unit_test(sentences_hold_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
