/* workloads/readers/zone.h -- the zone of a trace's dates.
 *
 *   time_ns offset = zone_read(&workload, "tz_offset");        "-8h", or seconds
 *   if (!zone_date(field->value, offset, &submit)) ...         2017-10-09 07:01:55[.5][Z|+08:00]
 *
 * Law: a date that names its zone is of that zone; another is of `offset`, which is subtracted: the result is UTC.
 * It does not: know zones by name, or their changes in spring and autumn.
 */
#ifndef WORKLOADS_READERS_ZONE_H
#define WORKLOADS_READERS_ZONE_H

#include "base/json.h"

/* Seconds or a duration, with a sign: zones west of Greenwich are behind UTC.  Absent: 0. */
time_ns zone_read(struct json_object *object, const char *key);

/* Nanoseconds since 1970-01-01 UTC.  False if it is no date. */
bool zone_date(struct text text, time_ns offset, time_ns *out);

#endif
