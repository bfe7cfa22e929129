/* base/time.h -- simulated time: nanoseconds in an int64, from the start of the run.
 *
 * Law: seconds become nanoseconds here and nowhere else; a value computed by
 * floating point reaches a time only through time_from_seconds, which rounds
 * to whole microseconds, so that no compiler or libm changes an order.
 *
 * It does not: know a wall clock or a calendar beyond UTC dates in texts.
 */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef int64_t time_ns;

#define TIME_NS_PER_US INT64_C(1000)
#define TIME_US_PER_S  INT64_C(1000000)
#define TIME_NS_PER_MS INT64_C(1000000)
#define TIME_NS_PER_S  INT64_C(1000000000)
#define TIME_NEVER     INT64_MAX       /* never */
#define TIME_NS_MAX    (INT64_MAX / 4) /* the largest time an input may hold: 73 years */

/* Seconds (finite, within +-TIME_NS_MAX, else clamped) rounded to a whole microsecond. */
time_ns time_from_seconds(double seconds);

/* at + span, at most TIME_NEVER. */
static inline time_ns time_after(time_ns at, time_ns span)
{
    return span >= TIME_NEVER - at ? TIME_NEVER : at + span;
}

/* For reports only: not to be compared or added up. */
static inline double time_to_seconds(time_ns t)
{
    return (double)t / 1e9;
}

/* Decimal seconds such as "66.0", "1e3" or "-1", exact to the nanosecond (more digits are cut).  False if it is no
 * number, or not within +-TIME_NS_MAX. */
bool time_parse_seconds(struct text text, time_ns *out);

/* A duration with a unit: "90s", "15m", "36h", "14d", "2w", "250ms", "us", "ns"; a bare number is seconds.
 * Not negative; digits finer than 10^-9 of the unit are cut; within TIME_NS_MAX. */
bool time_parse_duration(struct text text, time_ns *out);

/* A date in UTC, "2017-10-09", "2017-10-09 07:01:55[.fraction]" or with 'T' and optional 'Z';
 * nanoseconds since 1970-01-01.  No other zone is understood. */
bool time_parse_date(struct text text, time_ns *out);

#endif
