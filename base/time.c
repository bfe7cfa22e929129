/* base/time.c -- see base/time.h. */
#include "base/time.h"

#include <assert.h>
#include <math.h>

time_ns time_from_seconds(double seconds)
{
    assert(!isnan(seconds));
    const int64_t us_max = TIME_NS_MAX / TIME_NS_PER_US;
    double us = rint(seconds * 1e6); /* exact below 2^53 us, and us_max is below it */
    if (us >= (double)us_max)
        return us_max * TIME_NS_PER_US;
    if (us <= -(double)us_max)
        return -us_max * TIME_NS_PER_US;
    return (int64_t)us * TIME_NS_PER_US;
}

bool time_parse_seconds(struct text text, time_ns *out)
{
    int64_t ns;
    if (!text_to_scaled(text, TIME_NS_PER_S, &ns) || ns > TIME_NS_MAX || ns < -TIME_NS_MAX)
        return false;
    *out = ns;
    return true;
}

bool time_parse_duration(struct text text, time_ns *out)
{
    /* The number is read in steps of 1/scale of the unit; a step is step_ns long. */
    static const struct {
        char name[3];
        int64_t scale;
        int64_t step_ns;
    } units[] = {
        {"ns", 1, 1},          {"us", 1000, 1},         {"ms", 1000000, 1},       {"s", 1000000000, 1},
        {"m", 1000000000, 60}, {"h", 1000000000, 3600}, {"d", 1000000000, 86400}, {"w", 1000000000, 604800},
    };
    if (text.length == 0)
        return false;
    struct text unit = {text.at + text.length, 0};
    while (unit.length < text.length && unit.at[-1] >= 'a' && unit.at[-1] <= 'z') {
        unit.at--;
        unit.length++;
    }
    if (unit.length == 0)
        unit = TEXT("s");
    else
        text.length -= unit.length;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!text_is(unit, units[i].name))
            continue;
        int64_t ns;
        if (!text_to_scaled(text, units[i].scale, &ns) || text.at[0] == '-')
            return false;
        if (__builtin_mul_overflow(ns, units[i].step_ns, &ns) || ns > TIME_NS_MAX)
            return false;
        *out = ns;
        return true;
    }
    return false;
}

/* Parse `digits` digits and cut them off the front. */
static inline bool take_number(struct text *text, size_t digits, int *out)
{
    int value = 0;
    if (text->length < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        const int digit = text->at[i] - '0';
        if (digit < 0 || digit > 9)
            return false;
        value = value * 10 + digit;
    }
    text->at += digits;
    text->length -= digits;
    *out = value;
    return true;
}

static inline bool take_char(struct text *text, char c)
{
    if (text->length == 0 || text->at[0] != c)
        return false;
    text->at++;
    text->length--;
    return true;
}

static bool is_leap_year(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* In the Gregorian calendar, year >= 1. */
static int64_t days_before_year(int year)
{
    int64_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400;
}

static bool days_from_date(int year, int month, int day, int64_t *days)
{
    static const int days_before[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return false;
    bool has_29 = is_leap_year(year);
    int days_in = days_before[month] - days_before[month - 1] + (month == 2 && has_29);
    if (day > days_in)
        return false;
    *days = days_before_year(year) - days_before_year(1970) + days_before[month - 1] + (month > 2 && has_29) + day - 1;
    return true;
}

/* The whole text must be "07:01:55[.fraction][Z]". */
static bool clock_parse(struct text text, time_ns *out)
{
    int hour, minute, second;
    if (!take_number(&text, 2, &hour) || hour > 23 || !take_char(&text, ':') || !take_number(&text, 2, &minute) ||
        minute > 59 || !take_char(&text, ':') || !take_number(&text, 2, &second) || second > 59)
        return false;
    int64_t fraction_ns = 0;
    if (take_char(&text, '.')) {
        int64_t step_ns = TIME_NS_PER_S / 10;
        if (text.length == 0 || text.at[0] == 'Z')
            return false;
        for (; text.length != 0 && text.at[0] != 'Z'; text.at++, text.length--) {
            if (text.at[0] < '0' || text.at[0] > '9')
                return false;
            fraction_ns += (text.at[0] - '0') * step_ns;
            step_ns /= 10;
        }
    }
    take_char(&text, 'Z');
    *out = (hour * 3600 + minute * 60 + second) * TIME_NS_PER_S + fraction_ns;
    return text.length == 0;
}

bool time_parse_date(struct text text, time_ns *out)
{
    int year, month, day;
    if (!take_number(&text, 4, &year) || !take_char(&text, '-') || !take_number(&text, 2, &month) ||
        !take_char(&text, '-') || !take_number(&text, 2, &day))
        return false;
    int64_t days;
    if (!days_from_date(year, month, day, &days))
        return false;
    time_ns clock_ns = 0;
    if (text.length != 0) {
        if (!take_char(&text, ' ') && !take_char(&text, 'T'))
            return false;
        if (!clock_parse(text, &clock_ns))
            return false;
    }
    int64_t ns;
    if (__builtin_mul_overflow(days, 86400 * TIME_NS_PER_S, &ns) || __builtin_add_overflow(ns, clock_ns, &ns) ||
        ns > TIME_NS_MAX || ns < -TIME_NS_MAX)
        return false;
    *out = ns;
    return true;
}
