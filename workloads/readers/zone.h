/* workloads/readers/zone.h -- the zone of a trace's dates.
 *
 *   struct zone zone = zone_read(&workload, "tz_offset", &arena);   "-8h", seconds, or "Europe/Berlin"
 *   if (!zone_date(field->value, &zone, &submit)) ...               2017-10-09 07:01:55[.5][Z|+08:00], 9.10.2017 07:01
 *
 * Laws
 *  - A date that names its zone is of that zone; another is of `zone`.  The result is UTC.
 *  - The rules of a named zone are those of the system's tz database (tzfile(5)).
 *  - No hour is lost: a date in the hour that comes twice means two moments, and one in the hour that a zone skips
 *    means none (zone_moments).  Where the zone is not known, zone_may_change tells the nights on which it may matter.
 *    tests/unit/test_zone.c compares all hours of some zones with the C library's.
 */
#ifndef WORKLOADS_READERS_ZONE_H
#define WORKLOADS_READERS_ZONE_H

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"

struct zone_rules; /* opaque */

struct zone {
    bool is_given;                  /* by the user, perhaps as 0 */
    time_ns offset;                 /* how far its clocks are ahead of UTC */
    const struct zone_rules *rules; /* of a named zone, in place of the offset; NULL: none */
};                                  /* {0}: UTC, not given */

#define ZONE_UTC ((struct zone){.is_given = true})

/* Seconds or a duration, with a sign: zones west of Greenwich are behind UTC; or a name.  Absent: {0}.  Its rules are
 * the arena's. */
struct zone zone_read(struct json_object *object, const char *key, struct arena *arena);
/* The same of a text without a place.  ERROR_CONFIG. */
struct error zone_of(struct zone *out, const char *text, struct arena *arena) MUST_CHECK;

/* The rules of a file of the tz database, and of the name of one.  ERROR_CONFIG or ERROR_IO. */
struct error zone_load(struct zone *out, const char *path, struct arena *arena) MUST_CHECK;

/* Nanoseconds since 1970-01-01 UTC; the first, if the date means two moments.  False if it is no date, or one that its
 * zone skips. */
bool zone_date(struct text text, const struct zone *zone, time_ns *out);

/* The moments that a date means. */
struct zone_moments {
    bool is_date;
    uint32_t count; /* 0: the zone skips it; 2: the hour comes twice */
    time_ns at[2];
    bool is_guess; /* it names no zone, and none was given */
    bool is_open;  /* it is no date yet: the day or the month may be first (base/date.h) */
};
struct zone_moments zone_moments(struct text text, const struct zone *zone);
struct zone_moments zone_moments_in(struct text text, const struct zone *zone, enum date_order order);

/* Is there, between two times of a clock (nanoseconds since 1970 as if it were UTC), a night on which clocks change in
 * Europe, North America or Australia?  Each changes them between 0:00 and 4:00 of a Sunday. */
bool zone_may_change(time_ns from, time_ns to);

#endif
