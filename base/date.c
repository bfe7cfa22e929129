#include "base/date.h"

#include <stdio.h>
#include <string.h>

enum { DATE_BYTES_MAX = 64, YEAR_DIGITS = 4 };

/* Three numbers with two equal separators at the beginning; `rest` is what follows. */
struct parts {
    int first, second, year;
    char separator;
    struct text rest;
};

static bool take_digits(struct text *text, size_t least, size_t most, int *out)
{
    size_t count = 0;
    *out = 0;
    while (count < most && count < text->length && text->at[count] >= '0' && text->at[count] <= '9')
        *out = *out * 10 + (text->at[count++] - '0');
    text->at += count;
    text->length -= count;
    return count >= least;
}

static bool take_separator(struct text *text, char *separator)
{
    if (text->length == 0 || (text->at[0] != '.' && text->at[0] != '/'))
        return false;
    *separator = text->at[0];
    text->at++;
    text->length--;
    return true;
}

static bool parts_of(struct text text, struct parts *out)
{
    char again;
    if (!take_digits(&text, 1, 2, &out->first) || !take_separator(&text, &out->separator) ||
        !take_digits(&text, 1, 2, &out->second) || !take_separator(&text, &again) || again != out->separator ||
        !take_digits(&text, 4, 4, &out->year))
        return false;
    out->rest = text;
    return true;
}

/* The clock of a date, " 14:05", with its seconds. */
static bool with_seconds(struct text clock, char *out, size_t bytes)
{
    enum { SHORT = sizeof " 14:05" - 1 };
    const bool is_utc = clock.length > 0 && clock.at[clock.length - 1] == 'Z';
    const size_t length = clock.length - is_utc;
    const char *seconds = length == SHORT && clock.at[3] == ':' ? ":00" : "";
    const int written = snprintf(out, bytes, "%.*s%s%s", (int)length, clock.at, seconds, is_utc ? "Z" : "");
    return written >= 0 && (size_t)written < bytes;
}

/* A date of which the day, the month and the year are known. */
static bool made_of(const struct parts *parts, bool is_day_first, time_ns *out)
{
    char clock[DATE_BYTES_MAX], iso[2 * DATE_BYTES_MAX];
    const int day = is_day_first ? parts->first : parts->second, month = is_day_first ? parts->second : parts->first;
    if (!with_seconds(parts->rest, clock, sizeof clock))
        return false;
    snprintf(iso, sizeof iso, "%04d-%02d-%02d%s", parts->year, month, day, clock);
    return time_parse_date(text_of(iso), out);
}

/* The year first, and a clock without seconds. */
static bool year_first(struct text text, time_ns *out)
{
    enum { DATE = sizeof "2025-12-31" - 1 };
    char clock[DATE_BYTES_MAX], iso[2 * DATE_BYTES_MAX];
    if (time_parse_date(text, out))
        return true;
    if (text.length <= DATE || text.at[YEAR_DIGITS] != '-' ||
        !with_seconds((struct text){text.at + DATE, text.length - DATE}, clock, sizeof clock))
        return false;
    snprintf(iso, sizeof iso, "%.*s%s", (int)DATE, text.at, clock);
    return time_parse_date(text_of(iso), out);
}

bool date_parse(struct text text, enum date_order order, time_ns *out, bool *is_open)
{
    struct parts parts;
    time_ns other;
    *is_open = false;
    if ((text.length > YEAR_DIGITS && text.at[YEAR_DIGITS] == '-') || !parts_of(text, &parts))
        return year_first(text, out); /* a '-' there is in no other form, and most dates have it */
    if (parts.separator == '.')
        return made_of(&parts, true, out);
    if (order != DATE_ORDER_UNKNOWN)
        return made_of(&parts, order == DATE_DAY_FIRST, out);
    const bool is_day_first = made_of(&parts, true, out);
    if (!is_day_first)
        return made_of(&parts, false, out);
    *is_open = parts.first != parts.second && made_of(&parts, false, &other);
    return !*is_open;
}

enum date_order date_order_of(struct text text)
{
    struct parts parts;
    time_ns time;
    if (!parts_of(text, &parts) || parts.separator != '/')
        return DATE_ORDER_UNKNOWN;
    const bool day_first = made_of(&parts, true, &time), month_first = made_of(&parts, false, &time);
    if (day_first == month_first)
        return DATE_ORDER_UNKNOWN;
    return day_first ? DATE_DAY_FIRST : DATE_MONTH_FIRST;
}
