/* tests/unit/test_time.c -- seconds, durations and dates become nanoseconds. */
#include "tests/support/test.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/time.h"

static void assert_seconds(const char *c_string, time_ns expected)
{
    time_ns t = -7;
    assert_true(time_parse_seconds(text_of(c_string), &t));
    assert_int_equal(t, expected);
}

static void assert_duration(const char *c_string, time_ns expected)
{
    time_ns t = -7;
    assert_true(time_parse_duration(text_of(c_string), &t));
    assert_int_equal(t, expected);
}

static void assert_date(const char *c_string, time_ns expected)
{
    time_ns t = -7;
    assert_true(time_parse_date(text_of(c_string), &t));
    assert_int_equal(t, expected);
}

/* Refused, and the target untouched. */
static void assert_refused(bool parse(struct text, time_ns *), const char *c_string)
{
    time_ns t = -7;
    if (parse(text_of(c_string), &t))
        fail_msg("'%s' was taken as %lld", c_string, (long long)t);
    assert_int_equal(t, -7);
}

TEST(test_from_seconds_rounds_to_microseconds)
{
    assert_int_equal(time_from_seconds(0), 0);
    assert_int_equal(time_from_seconds(1), TIME_NS_PER_S);
    assert_int_equal(time_from_seconds(-1.5), -1500 * TIME_NS_PER_MS);
    assert_int_equal(time_from_seconds(0.1), 100 * TIME_NS_PER_MS);
    assert_int_equal(time_from_seconds(1e-6), 1000);
    assert_int_equal(time_from_seconds(1.4e-6), 1000);
    assert_int_equal(time_from_seconds(1.6e-6), 2000);
    assert_int_equal(time_from_seconds(4e-7), 0);
    assert_int_equal(time_from_seconds(1209600.123456), 1209600123456000);
    /* neighbouring doubles do not give different times */
    assert_int_equal(time_from_seconds(nextafter(1234.5, 0)), time_from_seconds(1234.5));
}

TEST(test_from_seconds_clamps)
{
    const time_ns most = TIME_NS_MAX / 1000 * 1000; /* still a whole microsecond */
    static const double large[] = {2.4e9, 1e18, 1e300, INFINITY};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        assert_int_equal(time_from_seconds(large[i]), most);
        assert_int_equal(time_from_seconds(-large[i]), -most);
    }
    assert_int_equal(time_from_seconds(2e9), INT64_C(2000000000) * TIME_NS_PER_S);
}

TEST(test_to_seconds)
{
    assert_true(time_to_seconds(1500 * TIME_NS_PER_MS) == 1.5);
    assert_true(time_to_seconds(-1) == -1e-9);
}

TEST(test_parse_seconds_is_exact)
{
    assert_seconds("66.0", 66 * TIME_NS_PER_S);
    assert_seconds("1e3", 1000 * TIME_NS_PER_S);
    assert_seconds("-1", -TIME_NS_PER_S);
    assert_seconds("0.1", 100000000);
    assert_seconds("0.000000001", 1);
    assert_seconds("0.0000000019", 1); /* cut, not rounded */
    assert_seconds("-0.0000000019", -1);
    assert_seconds("1507532515.123456789", INT64_C(1507532515123456789));
    assert_seconds("2305843009.213693951", TIME_NS_MAX);
    assert_seconds("-2305843009.213693951", -TIME_NS_MAX);
}

TEST(test_parse_seconds_refuses)
{
    static const char *const bad[] = {
        "",    " 1",  "1 ",   "1s",  "abc",          "0x10",          "nan",
        "inf", "1,5", "1e19", "--1", "2305843009.3", "-2305843009.3", "1e400",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(time_parse_seconds, bad[i]);
}

TEST(test_parse_duration)
{
    assert_duration("90s", 90 * TIME_NS_PER_S);
    assert_duration("15m", 900 * TIME_NS_PER_S);
    assert_duration("36h", 129600 * TIME_NS_PER_S);
    assert_duration("14d", 1209600 * TIME_NS_PER_S);
    assert_duration("2w", 1209600 * TIME_NS_PER_S);
    assert_duration("250ms", 250 * TIME_NS_PER_MS);
    assert_duration("7us", 7000);
    assert_duration("7ns", 7);
    assert_duration("12", 12 * TIME_NS_PER_S);
    assert_duration("0", 0);
    assert_duration("1.5h", 5400 * TIME_NS_PER_S);
    assert_duration("0.25ms", 250000);
    assert_duration("1e3s", 1000 * TIME_NS_PER_S);
    assert_duration("26687d", 26687 * (86400 * TIME_NS_PER_S));
}

TEST(test_parse_duration_refuses)
{
    static const char *const bad[] = {
        "",   "s",     "1 s",  "-1s", "-1",     "-0",   "1S",         "1y",
        "1x", "1.5.h", "1e9w", "1sm", "26688d", "1min", "999999999w", "h1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(time_parse_duration, bad[i]);
    time_ns t;
    assert_false(time_parse_duration((struct text){NULL, 0}, &t));
}

TEST(test_parse_date_forms)
{
    assert_date("1970-01-01", 0);
    assert_date("1970-01-01 00:00:01", TIME_NS_PER_S);
    assert_date("1969-12-31T23:59:59Z", -TIME_NS_PER_S);
    assert_date("2017-10-09", 1507507200 * TIME_NS_PER_S); /* date -u -d 2017-10-09 +%s */
    assert_date("2017-10-09 07:01:55", 1507532515 * TIME_NS_PER_S);
    assert_date("2017-10-09T07:01:55", 1507532515 * TIME_NS_PER_S);
    assert_date("2017-10-09T07:01:55Z", 1507532515 * TIME_NS_PER_S);
    assert_date("2017-10-09 07:01:55.25", 1507532515 * TIME_NS_PER_S + 250000000);
    assert_date("2017-10-09T07:01:55.123456789Z", INT64_C(1507532515123456789));
    assert_date("2017-10-09 07:01:55.1234567899", INT64_C(1507532515123456789));
}

TEST(test_parse_date_refuses)
{
    static const char *const bad[] = {
        "",
        "2017",
        "2017-10",
        "2017-10-9",
        "2017-13-01",
        "2017-00-10",
        "2017-10-00",
        "2017-10-32",
        "2017-02-29",
        "1900-02-29",
        "2017-10-09 ",
        "2017-10-09 24:00:00",
        "2017-10-09 07:60:00",
        "2017-10-09 07:01:60",
        "2017-10-09 07:01",
        "2017-10-09 07:01:55.",
        "2017-10-09 07:01:55.Z",
        "2017-10-09 07:01:55.1x",
        "2017-10-09 07:01:55+01:00",
        "2017-10-09 07:01:55 PST",
        "2017-10-09 07:01:55ZZ",
        "2017-10-09Z",
        "-017-10-09",
        "2017--1-09",
        "2017/10/09",
        "1850-01-01",
        "2100-01-01",
        "9999-12-31",
        "0000-01-01",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(time_parse_date, bad[i]);
}

/* Every day that a time can hold, against the C library. */
TEST(test_parse_date_agrees_with_the_c_library)
{
    const int64_t day_s = 86400;
    const int64_t days_max = TIME_NS_MAX / TIME_NS_PER_S / day_s;
    for (int64_t day = -days_max + 1; day < days_max; day++) {
        time_t expected_s = day * day_s + (day & 1023) * 83; /* some time of that day */
        struct tm parts;
        assert_non_null(gmtime_r(&expected_s, &parts));
        char date[64];
        assert_int_equal(strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts), 19);
        assert_date(date, expected_s * TIME_NS_PER_S);
    }
}
