#include "workloads/readers/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "workloads/readers/zone_rules.h"

enum { HOURS_MAX = 26, MINUTES_PER_HOUR = 60, SECONDS_PER_MINUTE = 60, SECONDS_PER_HOUR = 3600 };

/* ---- what a user gives ---- */

/* "-8h", "3600", "0".  False: it is no offset. */
static bool offset_of(struct text text, time_ns *offset)
{
    bool is_behind = text.length != 0 && text.at[0] == '-';
    text.at += is_behind;
    text.length -= is_behind;
    if (!time_parse_duration(text, offset) && !text_is(text, "0"))
        return false;
    *offset = is_behind ? -*offset : *offset;
    return true;
}

static struct error too_far(void)
{
    return error_new(ERROR_CONFIG, "a zone must be less than %d hours from UTC", HOURS_MAX);
}

struct error zone_of(struct zone *out, const char *text, struct arena *arena)
{
    enum { NAME_MAX_BYTES = 64 };
    static const char folder[] = "/usr/share/zoneinfo/";
    char path[sizeof folder + NAME_MAX_BYTES] = "";
    const size_t length = strlen(text);
    *out = ZONE_UTC;
    if (offset_of(text_of(text), &out->offset))
        return llabs(out->offset) < HOURS_MAX * SECONDS_PER_HOUR * TIME_NS_PER_S ? ERROR_OK : too_far();
    bool is_name = length > 0 && length < NAME_MAX_BYTES;
    for (size_t i = 0; i < length && is_name; i++) /* no dot: it names nothing outside of the folder */
        is_name = strchr("+-_/", text[i]) != NULL
                      ? i > 0
                      : (text[i] >= '0' && text[i] <= '9') || ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z');
    if (!is_name || (text[0] >= '0' && text[0] <= '9'))
        return error_new(ERROR_CONFIG,
                         "a zone must be an offset from UTC such as 8h or -7h, or a name such as Europe/Berlin, got "
                         "\"%s\"",
                         text);
    memcpy(path, folder, sizeof folder - 1);
    memcpy(path + sizeof folder - 1, text, length + 1);
    struct error error = zone_load(out, path, arena);
    if (!error_is(error))
        return ERROR_OK;
    error_release(&error);
    error = error_new(ERROR_CONFIG, "the tz database of this machine has no zone '%s'", text);
    error_set_hint(&error,
                   "names are files in %s, such as Europe/Berlin; an offset such as 1h will do where clocks do "
                   "not change",
                   folder);
    return error;
}

struct zone zone_read(struct json_object *object, const char *key, struct arena *arena)
{
    struct json_value value = json_member(object, key);
    struct zone zone = {0};
    struct error error;
    if (value.node == NULL)
        return zone;
    if (!json_is_number(value.node)) {
        const char *text = json_value_string(&value);
        error = text != NULL ? zone_of(&zone, text, arena) : ERROR_OK;
    } else {
        zone = ZONE_UTC;
        zone.offset = time_from_seconds(json_value_real(&value, -1e6, 1e6));
        error = llabs(zone.offset) <= HOURS_MAX * SECONDS_PER_HOUR * TIME_NS_PER_S ? ERROR_OK : too_far();
    }
    if (error_is(error))
        json_fail(&value, "'%s': %s", key, error_message(&error));
    error_release(&error);
    return zone;
}

/* ---- dates ---- */

/* Cut "+08:00" or "-0800" off the end of a date with a time of day. */
static bool offset_cut(struct text *text, time_ns *offset)
{
    enum { DATE_LENGTH = 10 };
    int64_t hours, minutes;
    size_t at = text->length;
    while (at > DATE_LENGTH && text->at[at - 1] != '+' && text->at[at - 1] != '-')
        at--;
    if (at <= DATE_LENGTH)
        return false;
    struct text digits = {text->at + at, text->length - at};
    const size_t colon = digits.length == 5 && digits.at[2] == ':';
    if (digits.length != 4 + colon || !text_to_int64((struct text){digits.at, 2}, 0, HOURS_MAX, &hours) ||
        !text_to_int64((struct text){digits.at + 2 + colon, 2}, 0, MINUTES_PER_HOUR - 1, &minutes))
        return false;
    *offset = (hours * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE) * TIME_NS_PER_S;
    if (text->at[at - 1] == '-')
        *offset = -*offset;
    text->length = at - 1;
    return true;
}

struct zone_moments zone_moments(struct text text, const struct zone *zone)
{
    return zone_moments_in(text, zone, DATE_ORDER_UNKNOWN);
}

struct zone_moments zone_moments_in(struct text text, const struct zone *zone, enum date_order order)
{
    enum { PLAIN_LENGTH = sizeof "2026-01-31T07:01:55" - 1 }; /* too short to name a zone behind the time */
    struct zone_moments moments = {0};
    time_ns clock = 0, offset = zone->offset;
    bool is_own = false;
    if (text.length != PLAIN_LENGTH || text.at[4] != '-') {
        const bool is_utc = text.length != 0 && text.at[text.length - 1] == 'Z';
        offset = is_utc ? 0 : offset;
        is_own = is_utc || offset_cut(&text, &offset);
    }
    moments.is_date = date_parse(text, order, &clock, &moments.is_open);
    if (!moments.is_date)
        return moments;
    moments.is_guess = !is_own && !zone->is_given;
    if (zone->rules != NULL && !is_own) {
        moments.count = zone_rules_moments(zone->rules, clock, moments.at);
    } else {
        moments.count = 1;
        moments.at[0] = clock - offset;
    }
    return moments;
}

bool zone_date(struct text text, const struct zone *zone, time_ns *out)
{
    const struct zone_moments moments = zone_moments(text, zone);
    if (moments.count > 0)
        *out = moments.at[0];
    return moments.count > 0;
}

bool zone_may_change(time_ns from, time_ns to)
{
    /* Europe: the last Sundays of March and October.  North America: the second of March, the first of November.
     * Australia: the first of April and October. */
    static const struct {
        int month, week;
    } sundays[] = {{3, 5}, {10, 5}, {3, 2}, {11, 1}, {4, 1}, {10, 1}};
    enum { CHANGE_HOURS = 4, YEARS_MAX = 200 };
    const time_ns hours = CHANGE_HOURS * SECONDS_PER_HOUR * TIME_NS_PER_S;
    /* Most jobs see no Sunday at all.  1969-12-28 was one, four days before the times begin. */
    const time_ns day = 24 * SECONDS_PER_HOUR * TIME_NS_PER_S, week = 7 * day;
    if (from >= 0 && ((from - hours + 4 * day) / week + 1) * week - 4 * day >= to)
        return false;
    const int first = zone_year(from), last = zone_year(to);
    for (int year = first; year <= last && year < first + YEARS_MAX; year++)
        for (size_t i = 0; i < sizeof sundays / sizeof sundays[0]; i++) {
            const time_ns night = zone_sunday(year, sundays[i].month, sundays[i].week);
            if (from < night + hours && to > night)
                return true;
        }
    return false;
}
