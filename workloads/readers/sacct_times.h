/* workloads/readers/sacct_times.h -- the times of a row of sacct, whose dates name no zone.
 *
 * Laws
 *  - A submission is no later than its start, a start no later than its end; else the row is an error at the field.
 *  - In a named zone, a date in the hour that comes twice is the moment that this order and the column
 *    `Elapsed` allow.  If they allow both, it is the first, and *is_guessed.
 *  - Where no zone was given, a row is an error that asks for one if its dates cannot tell how long it waited or ran:
 *    if they go back by up to an hour, if `Elapsed` differs from them by an hour, or, without `Elapsed`, if a night
 *    lies between them on which clocks change somewhere (zone_may_change).
 * Such rows once read two hours where clocks had counted one or three.  tests/unit/test_sacct_times.c has a case each.
 *
 *   TRY(sacct_times_read(line, &times, &spec->zone, attempt, &is_guessed));
 */
#ifndef WORKLOADS_READERS_SACCT_TIMES_H
#define WORKLOADS_READERS_SACCT_TIMES_H

#include "workloads/readers/sacct_attempt.h"
#include "workloads/readers/zone.h"

struct sacct_time_fields {
    const struct field *submit, *eligible, *start, *end, *elapsed;
};

/* Unknown, None and the like. */
bool sacct_is_unknown(struct text value);

/* Set submit, eligible, start and end. */
struct error sacct_times_read(const struct line *line, const struct sacct_time_fields *fields, const struct zone *zone,
                              struct sacct_attempt *attempt, bool *is_guessed) MUST_CHECK;

#endif
