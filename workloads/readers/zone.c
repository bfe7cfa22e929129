#include "workloads/readers/zone.h"

#include <stdlib.h>

enum { HOURS_MAX = 26, MINUTES_PER_HOUR = 60, SECONDS_PER_MINUTE = 60, SECONDS_PER_HOUR = 3600 };

time_ns zone_read(struct json_object *object, const char *key)
{
    struct json_value value = json_member(object, key);
    time_ns offset = 0;
    if (value.node == NULL)
        return 0;
    if (json_is_number(value.node)) {
        offset = time_from_seconds(json_value_real(&value, -1e6, 1e6));
    } else {
        struct text text = text_of(json_value_string(&value));
        bool is_behind = text.length != 0 && text.at[0] == '-';
        text.at += is_behind;
        text.length -= is_behind;
        if (!time_parse_duration(text, &offset))
            json_fail(&value, "'%s' must be seconds or a duration such as \"-8h\"", key);
        offset = is_behind ? -offset : offset;
    }
    if (llabs(offset) > HOURS_MAX * SECONDS_PER_HOUR * TIME_NS_PER_S)
        json_fail(&value, "'%s' must be less than %d hours", key, HOURS_MAX);
    return offset;
}

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

bool zone_date(struct text text, time_ns offset, time_ns *out)
{
    enum { PLAIN_LENGTH = sizeof "2026-01-31T07:01:55" - 1 }; /* too short to name a zone behind the time */
    if (text.length == PLAIN_LENGTH && time_parse_date(text, out)) {
        *out -= offset;
        return true;
    }
    if (text.length != 0 && text.at[text.length - 1] == 'Z')
        offset = 0;
    else
        offset_cut(&text, &offset);
    if (!time_parse_date(text, out))
        return false;
    *out -= offset;
    return true;
}
