/* tests/unit/test_zone.c -- zones by name: the hours of some zones as the C library reads them. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/buffer.h"
#include "base/mem.h"
#include "tests/support/interval.h"
#include "workloads/readers/zone.h"

static const char *const names[] = {"Europe/Berlin",    "America/New_York",          "Australia/Lord_Howe",
                                    "Asia/Shanghai",    "Africa/Casablanca",         "America/St_Johns",
                                    "Pacific/Auckland", "America/Argentina/Ushuaia", "Asia/Kathmandu"};

static void date_text(struct buffer *out, const struct tm *tm)
{
    out->length = 0;
    buffer_format(out, "%04d-%02d-%02dT%02d:%02d:%02d", tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour,
                  tm->tm_min, tm->tm_sec);
}

/* Each moment is among those that its own date means, and each of these has that date. */
static void check_zone(const char *name)
{
    struct arena arena = {0};
    struct zone zone;
    struct buffer date = {0}, other = {0};
    struct tm tm;
    uint32_t twice = 0;
    const time_t step = test_is_full() ? 1800 : 27000;
    struct error error = zone_of(&zone, name, &arena);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    setenv("TZ", name, 1);
    tzset();
    for (time_t at = 315532800; at < 2303000000; at += step) { /* 1980 to 2042 */
        localtime_r(&at, &tm);
        date_text(&date, &tm);
        const struct zone_moments moments = zone_moments((struct text){date.bytes, date.length}, &zone);
        bool is_there = false;
        for (uint32_t i = 0; i < moments.count; i++) {
            const time_t back = moments.at[i] / TIME_NS_PER_S;
            is_there |= back == at;
            localtime_r(&back, &tm);
            date_text(&other, &tm);
            assert_string_equal(buffer_c_string(&other), buffer_c_string(&date));
        }
        if (!is_there)
            fail_msg("%s: %lld is not among the moments of %s", name, (long long)at, buffer_c_string(&date));
        assert_true(moments.count < 2 || moments.at[0] < moments.at[1]);
        twice += moments.count == 2;
    }
    print_message("%s: %u moments in hours that come twice\n", name, twice);
    buffer_release(&date);
    buffer_release(&other);
    arena_release(&arena);
}

TEST(test_as_the_c_library)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_zone(names[i]);
}

static struct zone_moments of(const char *date, const struct zone *zone)
{
    return zone_moments(text_of(date), zone);
}

TEST(test_hours_that_come_twice_or_never)
{
    struct arena arena = {0};
    struct zone berlin;
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
        skip();
    struct error error = zone_of(&berlin, "Europe/Berlin", &arena);
    assert_false(error_is(error));
    const struct zone_moments twice = of("2025-10-26T02:30:00", &berlin);
    assert_int_equal(twice.count, 2);
    assert_true(twice.at[0] == 1761438600 * TIME_NS_PER_S && twice.at[1] - twice.at[0] == 3600 * TIME_NS_PER_S);
    assert_int_equal(of("2026-03-29T02:30:00", &berlin).count, 0);
    assert_true(of("2026-03-29T02:30:00", &berlin).is_date);
    assert_int_equal(of("2025-10-26T02:30:00+01:00", &berlin).count, 1);
    assert_false(of("2025-10-26T02:30:00", &berlin).is_guess);
    assert_true(of("2025-10-26T02:30:00", &(struct zone){0}).is_guess);
    assert_false(of("2025-10-26T02:30:00Z", &(struct zone){0}).is_guess);
    arena_release(&arena);
}

TEST(test_what_is_no_zone)
{
    static const char *const bad[] = {"",
                                      "/etc/passwd",
                                      "../../../etc/passwd",
                                      "Europe/../Europe/Berlin",
                                      "PST8 PDT",
                                      "Nowhere",
                                      "30h",
                                      "-27h",
                                      "Europe",
                                      "zone.tab",
                                      "tzdata.zi"};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct zone zone;
        struct error error = zone_of(&zone, bad[i], &arena);
        if (!error_is(error))
            fail_msg("\"%s\" is a zone", bad[i]);
        assert_int_equal(error.kind, ERROR_CONFIG);
        error_release(&error);
    }
    struct zone zone;
    struct error error = zone_of(&zone, "-7h", &arena);
    assert_true(!error_is(error) && zone.is_given && zone.offset == -7 * 3600 * TIME_NS_PER_S);
    arena_release(&arena);
}

/* Files of the tz database that are cut off or changed: an error or a zone, never a crash. */
TEST(test_damaged_files)
{
    FILE *file = fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
    static unsigned char bytes[1 << 16];
    if (file == NULL)
        skip();
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char path[] = "/tmp/zoneXXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < length + 200; i++) {
        struct arena arena = {0};
        struct zone zone = {0};
        const size_t at = i < length ? i : i * 7919 % length;
        const unsigned char was = bytes[at];
        bytes[at] = i < length ? bytes[at] : (unsigned char)~bytes[at];
        assert_true(pwrite(fd, bytes, i < length ? i : length, 0) >= 0 &&
                    ftruncate(fd, (off_t)(i < length ? i : length)) == 0);
        bytes[at] = was;
        struct error error = zone_load(&zone, path, &arena);
        if (!error_is(error))
            zone_moments(TEXT("2025-10-26T02:30:00"), &zone);
        assert_true(error_is(error) || i >= length);
        error_release(&error);
        arena_release(&arena);
    }
    close(fd);
    unlink(path);
}

/* Is an hour of a night on which clocks change, by the calendar of the C library alone? */
static bool is_changing(int64_t hour)
{
    const time_t at = hour * 3600;
    struct tm tm;
    gmtime_r(&at, &tm);
    const int week = (tm.tm_mday - 1) / 7 + 1;
    const bool is_last = tm.tm_mday > 31 - 7; /* March and October have 31 days */
    return tm.tm_wday == 0 && tm.tm_hour < 4 &&
           ((tm.tm_mon == 2 && (week == 2 || is_last)) || (tm.tm_mon == 3 && week == 1) ||
            (tm.tm_mon == 9 && (week == 1 || is_last)) || (tm.tm_mon == 10 && week == 1));
}

/* Spans of whole hours, of up to three weeks: is one of their hours of such a night? */
TEST(test_nights_on_which_clocks_may_change)
{
    const time_ns hour = 3600 * TIME_NS_PER_S;
    uint32_t seen = 0;
    for (int64_t from = 0; from < 60 * 366 * 24; from += test_is_full() ? 1 : 13) {
        const int64_t length = 1 + from % 504;
        bool is_expected = false;
        for (int64_t at = from; at < from + length && !is_expected; at++)
            is_expected = is_changing(at);
        if (zone_may_change(from * hour, (from + length) * hour) != is_expected)
            fail_msg("%lld hours from hour %lld on: expected %d", (long long)length, (long long)from, is_expected);
        seen += is_expected;
    }
    assert_true(seen > 100);
}
