/* tests/unit/test_date.c -- dates as people write them: every day of some years in each way, and no order is guessed.
 */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/date.h"

enum { DAY_S = 86400 };

static void reads(const char *text, enum date_order order, time_ns wanted)
{
    bool is_open = true;
    time_ns got = -1;
    if (!date_parse(text_of(text), order, &got, &is_open) || is_open || got != wanted)
        fail_msg("'%s': %lld, not %lld%s", text, (long long)got, (long long)wanted, is_open ? ", open" : "");
}

static void refuses(const char *text, enum date_order order, bool is_a_date)
{
    bool is_open = false;
    time_ns got;
    if (date_parse(text_of(text), order, &got, &is_open) || is_open != is_a_date)
        fail_msg("'%s' is%s open", text, is_open ? "" : " not");
}

/* The oracle counts days: the calendar of the C library is not used. */
TEST(each_day_in_each_way)
{
    static const int days_in[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = 0;
    char text[64];
    for (int year = 1970; year < 1974; year++)
        for (int month = 1; month <= 12; month++) {
            const int length = days_in[month - 1] + (month == 2 && year == 1972);
            for (int day = 1; day <= length; day++, days++) {
                const time_ns at = (days * DAY_S + 14 * 3600 + 5 * 60) * TIME_NS_PER_S;
                snprintf(text, sizeof text, "%04d-%02d-%02dT14:05", year, month, day);
                reads(text, DATE_ORDER_UNKNOWN, at);
                snprintf(text, sizeof text, "%04d-%02d-%02d 14:05Z", year, month, day);
                reads(text, DATE_ORDER_UNKNOWN, at);
                snprintf(text, sizeof text, "%d.%d.%04d 14:05", day, month, year);
                reads(text, DATE_ORDER_UNKNOWN, at);
                snprintf(text, sizeof text, "%02d.%02d.%04d 14:05:30.5", day, month, year);
                reads(text, DATE_MONTH_FIRST, at + 30500 * TIME_NS_PER_MS);
                snprintf(text, sizeof text, "%02d/%02d/%04d 14:05", day, month, year);
                reads(text, DATE_DAY_FIRST, at);
                if (day > 12 || day == month)
                    reads(text, DATE_ORDER_UNKNOWN, at);
                else
                    refuses(text, DATE_ORDER_UNKNOWN, true);
                assert_int_equal(date_order_of(text_of(text)), day > 12 ? DATE_DAY_FIRST : DATE_ORDER_UNKNOWN);
                snprintf(text, sizeof text, "%02d/%02d/%04d 14:05", month, day, year);
                reads(text, DATE_MONTH_FIRST, at);
                if (day > 12)
                    refuses(text, DATE_DAY_FIRST, false);
                assert_int_equal(date_order_of(text_of(text)), day > 12 ? DATE_MONTH_FIRST : DATE_ORDER_UNKNOWN);
            }
        }
}

TEST(what_is_no_date)
{
    static const char *const bad[] = {"",
                                      "31.12",
                                      "31.12/2025",
                                      "31.12.25",
                                      "32.01.2025",
                                      "0.1.2025",
                                      "31/12/2025 24:00",
                                      "31/12/2025 1:05",
                                      "2025-12-31 14",
                                      "31.12.2025x",
                                      "13/13/2025",
                                      "31-12-2025",
                                      "2025-12-31T14:5",
                                      "2025-12-31 14:05 ",
                                      "29.02.2025"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(bad[i], DATE_ORDER_UNKNOWN, false);
}
