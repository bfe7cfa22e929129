#include "workloads/readers/zone_rules.h"

#include <string.h>

#include "base/input.h"

enum {
    HEADER_BYTES = 44,
    FILE_BYTES_MAX = 1 << 20,
    TYPE_BYTES = 6,
    YEAR_LAST = 2044, /* TIME_NS_MAX is in 2043 */
    SECONDS_PER_DAY = 86400,
    DAYS_PER_WEEK = 7,
    MONTHS = 12,
};

struct zone_rules {
    uint32_t count;
    int64_t *at;          /* seconds since 1970: from here on the next offset holds */
    int64_t *offset;      /* seconds ahead of UTC, from at[i] on */
    int64_t offset_first; /* before at[0] */
};

/* ---- the calendar ---- */

/* Days from 1970-01-01 to the first of a month; months beyond 12 are of later years. */
static int64_t days_to(int year, int month)
{
    static const int before[MONTHS] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const int64_t y = year - 1;
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return 365 * (int64_t)(year - 1970) + (y / 4 - 492) - (y / 100 - 19) + (y / 400 - 4) + before[month - 1] +
           (is_leap && month > 2);
}

int zone_year(time_ns clock)
{
    const int64_t days = clock / TIME_NS_PER_S / SECONDS_PER_DAY;
    int year = 1970 + (int)(days / 366);
    while (days_to(year + 1, 1) <= days)
        year++;
    return year;
}

/* The day (since 1970) of the nth such day of the week in the month; 0 is Sunday, week 5 the last. */
static int64_t day_of_week(int year, int month, int week, int day)
{
    enum { FIRST_WAS = 4 }; /* 1970-01-01 was a Thursday */
    const int64_t first = days_to(year, month);
    const int64_t end = month == MONTHS ? days_to(year + 1, 1) : days_to(year, month + 1);
    const int64_t shows = ((first + FIRST_WAS) % DAYS_PER_WEEK + DAYS_PER_WEEK) % DAYS_PER_WEEK;
    int64_t at = first + (day - shows + DAYS_PER_WEEK) % DAYS_PER_WEEK + (int64_t)(week - 1) * DAYS_PER_WEEK;
    while (at >= end)
        at -= DAYS_PER_WEEK;
    return at;
}

time_ns zone_sunday(int year, int month, int week)
{
    return day_of_week(year, month, week, 0) * SECONDS_PER_DAY * TIME_NS_PER_S;
}

/* ---- the rule for later years ---- */

struct day_rule {
    char kind; /* 'M', 'J', or 'N' for a plain number of days */
    int month, week, day;
    int64_t time; /* of the clock before the change, in seconds */
};

struct later_rule {
    int64_t standard, summer; /* offsets in seconds */
    bool has_summer;
    struct day_rule begin, end;
};

static bool take_number(struct text *text, int *out)
{
    int64_t number = 0;
    size_t digits = 0;
    while (digits < text->length && digits < 6 && text->at[digits] >= '0' && text->at[digits] <= '9')
        number = 10 * number + (text->at[digits++] - '0');
    text->at += digits;
    text->length -= digits;
    *out = (int)number;
    return digits > 0;
}

static bool take(struct text *text, char c)
{
    if (text->length == 0 || text->at[0] != c)
        return false;
    text->at++;
    text->length--;
    return true;
}

/* [+-]hours[:minutes[:seconds]] in seconds. */
static bool take_time(struct text *text, int64_t *out)
{
    int hours, minutes = 0, seconds = 0;
    const bool is_negative = take(text, '-');
    if (!is_negative)
        take(text, '+');
    if (!take_number(text, &hours) ||
        (take(text, ':') && (!take_number(text, &minutes) || (take(text, ':') && !take_number(text, &seconds)))))
        return false;
    *out = hours * INT64_C(3600) + minutes * INT64_C(60) + seconds;
    if (is_negative)
        *out = -*out;
    return true;
}

/* "CET" or "<+03>". */
static bool take_zone_name(struct text *text)
{
    size_t length = 0;
    if (take(text, '<')) {
        while (length < text->length && text->at[length] != '>')
            length++;
        if (length == text->length)
            return false;
        length++;
    } else {
        while (length < text->length && ((text->at[length] | 32) >= 'a' && (text->at[length] | 32) <= 'z'))
            length++;
    }
    text->at += length;
    text->length -= length;
    return length > 0;
}

static bool take_day(struct text *text, struct day_rule *rule)
{
    *rule = (struct day_rule){.kind = 'N', .time = 2 * INT64_C(3600)};
    if (take(text, 'M')) {
        rule->kind = 'M';
        if (!take_number(text, &rule->month) || !take(text, '.') || !take_number(text, &rule->week) ||
            !take(text, '.') || !take_number(text, &rule->day) || rule->month < 1 || rule->month > MONTHS ||
            rule->week < 1 || rule->week > 5 || rule->day >= DAYS_PER_WEEK)
            return false;
    } else {
        if (take(text, 'J'))
            rule->kind = 'J';
        if (!take_number(text, &rule->day) || rule->day > 366)
            return false;
    }
    return !take(text, '/') || take_time(text, &rule->time);
}

/* "CET-1CEST,M3.5.0,M10.5.0/3" */
static bool later_rule_of(struct text text, struct later_rule *rule)
{
    *rule = (struct later_rule){0};
    if (!take_zone_name(&text) || !take_time(&text, &rule->standard))
        return false;
    rule->standard = -rule->standard; /* POSIX counts to the west */
    rule->has_summer = text.length > 0;
    if (!rule->has_summer)
        return true;
    rule->summer = rule->standard + 3600;
    if (!take_zone_name(&text))
        return false;
    if (text.length > 0 && text.at[0] != ',') {
        if (!take_time(&text, &rule->summer))
            return false;
        rule->summer = -rule->summer;
    }
    return take(&text, ',') && take_day(&text, &rule->begin) && take(&text, ',') && take_day(&text, &rule->end) &&
           text.length == 0;
}

/* The time of the clock, in seconds, at which it changes in that year. */
static int64_t day_rule_clock(const struct day_rule *rule, int year)
{
    int64_t day = days_to(year, 1) + rule->day;
    if (rule->kind == 'M')
        day = day_of_week(year, rule->month, rule->week, rule->day);
    else if (rule->kind == 'J') /* from 1; February 29 is never counted */
        day += (days_to(year, 3) - days_to(year, 2) == 29 && rule->day >= 60) - 1;
    return day * SECONDS_PER_DAY + rule->time;
}

static void change(struct zone_rules *rules, int64_t at, int64_t offset)
{
    if (rules->count > 0 && at <= rules->at[rules->count - 1])
        return;
    rules->at[rules->count] = at;
    rules->offset[rules->count++] = offset;
}

/* The changes of all years up to YEAR_LAST that come behind those that are there. */
static void later_add(struct zone_rules *rules, const struct later_rule *rule)
{
    if (!rule->has_summer)
        return;
    for (int year = 1970; year <= YEAR_LAST; year++) {
        const int64_t begin = day_rule_clock(&rule->begin, year) - rule->standard;
        const int64_t end = day_rule_clock(&rule->end, year) - rule->summer;
        if (begin < end) {
            change(rules, begin, rule->summer);
            change(rules, end, rule->standard);
        } else {
            change(rules, end, rule->standard);
            change(rules, begin, rule->summer);
        }
    }
}

/* ---- the file ---- */

static int64_t big_endian(const char *at, int bytes)
{
    int64_t value = (signed char)at[0];
    for (int i = 1; i < bytes; i++)
        value = value * 256 + (unsigned char)at[i];
    return value;
}

/* The counts of a header, in their order. */
enum { COUNT_UT, COUNT_STANDARD, COUNT_LEAP, COUNT_TIME, COUNT_TYPE, COUNT_CHAR, COUNT_COUNT };

static bool header_read(struct text text, int64_t counts[COUNT_COUNT])
{
    enum { COUNTS_AT = 20, COUNTS_MAX = 100000 };
    if (text.length < HEADER_BYTES || memcmp(text.at, "TZif", 4) != 0 || text.at[4] < '2')
        return false;
    for (int i = 0; i < COUNT_COUNT; i++) {
        counts[i] = big_endian(text.at + COUNTS_AT + 4 * i, 4);
        if (counts[i] < 0 || counts[i] > COUNTS_MAX)
            return false;
    }
    return counts[COUNT_TYPE] > 0;
}

/* The length of a block whose times have so many bytes. */
static size_t block_bytes(const int64_t counts[COUNT_COUNT], int64_t time_bytes)
{
    return (size_t)(counts[COUNT_TIME] * (time_bytes + 1) + counts[COUNT_TYPE] * TYPE_BYTES + counts[COUNT_CHAR] +
                    counts[COUNT_LEAP] * (time_bytes + 4) + counts[COUNT_STANDARD] + counts[COUNT_UT]);
}

static bool rules_read(struct text text, struct arena *arena, struct zone_rules *rules)
{
    int64_t counts[COUNT_COUNT];
    struct later_rule later;
    enum { LATER_MAX = 2 * (YEAR_LAST - 1970 + 1) };
    if (!header_read(text, counts))
        return false;
    const size_t skipped = HEADER_BYTES + block_bytes(counts, 4); /* the block for readers of version 1 */
    if (text.length < skipped || !header_read((struct text){text.at + skipped, text.length - skipped}, counts))
        return false;
    const char *times = text.at + skipped + HEADER_BYTES;
    const size_t rest = text.length - skipped - HEADER_BYTES, bytes = block_bytes(counts, 8);
    if (rest < bytes + 2 || times[bytes] != '\n' || text.at[text.length - 1] != '\n')
        return false;
    const char *indexes = times + 8 * counts[COUNT_TIME], *types = indexes + counts[COUNT_TIME];
    const size_t room = (size_t)counts[COUNT_TIME] + LATER_MAX;
    *rules = (struct zone_rules){.at = arena_alloc_array(arena, room, int64_t),
                                 .offset = arena_alloc_array(arena, room, int64_t),
                                 .offset_first = big_endian(types, 4)};
    for (int64_t i = 0; i < counts[COUNT_TIME]; i++) {
        const unsigned char type = (unsigned char)indexes[i];
        if (type >= counts[COUNT_TYPE])
            return false;
        change(rules, big_endian(times + 8 * i, 8), big_endian(types + type * TYPE_BYTES, 4));
    }
    const struct text last = {times + bytes + 1, rest - bytes - 2};
    if (last.length > 0 && !later_rule_of(last, &later))
        return false;
    if (last.length > 0)
        later_add(rules, &later);
    return true;
}

struct error zone_load(struct zone *out, const char *path, struct arena *arena)
{
    char *bytes;
    size_t length;
    struct zone_rules *rules = arena_alloc_array(arena, 1, struct zone_rules);
    TRY(input_read_all(path, FILE_BYTES_MAX, &bytes, &length));
    const bool is_good = rules_read((struct text){bytes, length}, arena, rules);
    mem_free(bytes);
    *out = ZONE_UTC;
    out->rules = rules;
    return is_good ? ERROR_OK
                   : error_new(ERROR_CONFIG, "%s is no file of the tz database (tzfile(5), version 2)", path);
}

uint32_t zone_rules_moments(const struct zone_rules *rules, time_ns clock, time_ns moments[2])
{
    enum { FAR = 2 * SECONDS_PER_DAY }; /* no clock is so far from UTC */
    const int64_t seconds = clock / TIME_NS_PER_S - (clock % TIME_NS_PER_S < 0);
    const time_ns rest = clock - seconds * TIME_NS_PER_S;
    uint32_t low = 0, high = rules->count, found = 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rules->at[middle] <= seconds - FAR)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; found < 2; i++) { /* between the changes i - 1 and i */
        const int64_t at = seconds - (i > 0 ? rules->offset[i - 1] : rules->offset_first);
        if ((i == 0 || at >= rules->at[i - 1]) && (i == rules->count || at < rules->at[i]))
            moments[found++] = at * TIME_NS_PER_S + rest;
        if (i == rules->count || rules->at[i] > seconds + FAR)
            break;
    }
    return found;
}
