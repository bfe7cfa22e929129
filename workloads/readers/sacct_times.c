#include "workloads/readers/sacct_times.h"

#include <string.h>

enum { SECONDS_PER_HOUR = 3600 };
static const time_ns HOUR = SECONDS_PER_HOUR * TIME_NS_PER_S;

bool sacct_is_unknown(struct text value)
{
    return value.length == 0 || text_is(value, "Unknown") || text_is(value, "None") || text_is(value, "INVALID");
}

/* Seconds since 1970 (SLURM_TIME_FORMAT=%s), or a date.  count 0: it is unknown. */
static struct error moments_read(const struct line *line, const struct field *field, const struct zone *zone,
                                 struct zone_moments *moments)
{
    const struct text value = field->value;
    *moments = (struct zone_moments){0};
    if (sacct_is_unknown(value))
        return ERROR_OK;
    const bool is_date = value.length > 4 && value.at[4] == '-'; /* likely */
    if (is_date)
        *moments = zone_moments(value, zone);
    if (!moments->is_date && time_parse_seconds(value, &moments->at[0]))
        moments->count = 1;
    else if (!moments->is_date)
        *moments = zone_moments(value, zone);
    if (moments->is_date && moments->count == 0)
        return field_error(line, field, "a time that the clocks of its zone do not skip");
    if (moments->count == 0)
        return field_error(line, field, "seconds since 1970, or a date such as 2026-01-31T07:01:55");
    return ERROR_OK;
}

/* The first moment that is not before `least`; else the last. */
static time_ns pick(const struct zone_moments *moments, time_ns least)
{
    if (moments->count == 0)
        return TIME_NEVER;
    return moments->at[moments->count == 2 && moments->at[0] < least];
}

/* [days-]hours:minutes:seconds.  False: it is something else. */
static bool elapsed_read(struct text value, time_ns *out)
{
    int64_t parts[3], days = 0, sum = 0;
    struct text rest = value, piece;
    const char *mark = memchr(value.at, '-', value.length);
    if (mark != NULL) {
        if (!text_to_int64((struct text){value.at, (size_t)(mark - value.at)}, 0, INT32_MAX, &days))
            return false;
        rest = (struct text){mark + 1, (size_t)(value.at + value.length - mark - 1)};
    }
    for (int i = 0; i < 3; i++)
        if (!text_cut(&rest, ':', &piece) || !text_to_int64(piece, 0, INT32_MAX, &parts[i]))
            return false;
    for (int i = 0; i < 3; i++)
        sum = 60 * sum + parts[i];
    *out = (days * 24 * SECONDS_PER_HOUR + sum) * TIME_NS_PER_S;
    return rest.length == 0;
}

/* Start and end as far apart as `Elapsed` says, if some choice is. */
static bool choose(const struct zone_moments *start, const struct zone_moments *end, time_ns elapsed,
                   struct sacct_attempt *attempt)
{
    for (uint32_t s = 0; s < start->count; s++)
        for (uint32_t e = 0; e < end->count; e++)
            if (end->at[e] - start->at[s] == elapsed && start->at[s] >= attempt->submit) {
                attempt->start = start->at[s];
                attempt->end = end->at[e];
                return true;
            }
    return false;
}

static bool is_an_hour(time_ns difference)
{
    return difference == HOUR || difference == -HOUR;
}

static struct error zone_wanted(const struct line *line, const struct field *field)
{
    struct error error =
        input_error(line->input, line->text, field->place,
                    "'%s': clocks may have changed before this time, and its zone is not known", field->name);
    error_set_hint(&error, "name the zone of the dates: --tz Europe/Berlin or workload.tz_offset, 0h for UTC; or write "
                           "the file again with SLURM_TIME_FORMAT=%%s");
    return error;
}

/* May the row be an hour longer or shorter than its dates say?  All times of a job that ran are known. */
static bool is_doubtful(const struct sacct_attempt *attempt, bool has_elapsed, time_ns elapsed)
{
    if (attempt->start < attempt->submit && attempt->submit - attempt->start <= HOUR)
        return true;
    if (attempt->end < attempt->start)
        return attempt->start - attempt->end <= HOUR;
    if (has_elapsed && is_an_hour(attempt->end - attempt->start - elapsed))
        return true;
    return zone_may_change(attempt->submit, has_elapsed ? attempt->start : attempt->end);
}

struct error sacct_times_read(const struct line *line, const struct sacct_time_fields *fields, const struct zone *zone,
                              struct sacct_attempt *attempt, bool *is_guessed)
{
    struct zone_moments submit, eligible, start, end;
    time_ns elapsed = 0;
    TRY(moments_read(line, fields->submit, zone, &submit));
    TRY(moments_read(line, fields->eligible, zone, &eligible));
    TRY(moments_read(line, fields->start, zone, &start));
    TRY(moments_read(line, fields->end, zone, &end));
    attempt->submit = pick(&submit, 0);
    attempt->eligible = pick(&eligible, attempt->submit);
    attempt->start = pick(&start, attempt->submit);
    attempt->end = pick(&end, attempt->start);
    *is_guessed = false;
    if (attempt->submit == TIME_NEVER || attempt->submit < 0)
        return field_error(line, fields->submit, "seconds since 1970, or a date");
    if (attempt->start == TIME_NEVER)
        return ERROR_OK;
    const bool has_elapsed = elapsed_read(fields->elapsed->value, &elapsed) && attempt->end != TIME_NEVER;
    const bool is_told = has_elapsed && choose(&start, &end, elapsed, attempt);
    if (submit.is_guess && attempt->end != TIME_NEVER && is_doubtful(attempt, has_elapsed, elapsed))
        return zone_wanted(line, attempt->start < attempt->submit ? fields->start : fields->end);
    if (attempt->submit > attempt->start)
        return field_error(line, fields->submit, "no later than 'Start'");
    if (attempt->end != TIME_NEVER && attempt->end < attempt->start)
        return field_error(line, fields->end, "no earlier than 'Start'");
    const bool may_start_later = start.count == 2 && attempt->start == start.at[0] && start.at[1] <= attempt->end;
    const bool may_end_later = end.count == 2 && attempt->end == end.at[0];
    *is_guessed = !is_told && (may_start_later || may_end_later);
    return ERROR_OK;
}
