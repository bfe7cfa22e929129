/* workloads/readers/zone_rules.h -- when the clocks of a zone change, from a file of the tz database: private to
 * zone.c.  Format: tzfile(5), RFC 8536; its last line is a rule for later years, as TZ in POSIX. */
#ifndef WORKLOADS_READERS_ZONE_RULES_H
#define WORKLOADS_READERS_ZONE_RULES_H

#include <stdint.h>

#include "base/time.h"
#include "workloads/readers/zone.h"

/* The moments at which the clocks show this time, in their order; at most two. */
uint32_t zone_rules_moments(const struct zone_rules *rules, time_ns clock, time_ns moments[2]);

int zone_year(time_ns clock);
/* 0:00 of a Sunday of the month: the first, the second ...; 5: the last. */
time_ns zone_sunday(int year, int month, int week);

#endif
