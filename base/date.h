/* base/date.h -- dates as people and their programs write them.
 *
 *   2025-12-31  2025-12-31 14:05  2025-12-31T14:05:09.5Z      the year first (base/time.h), with or without seconds
 *   31.12.2025  1.2.2025 14:05:09                            with dots the day is first
 *   31/12/2025  12/31/2025 14:05                             with slashes the day or the month is
 *
 * Law: no order is guessed.  A date with slashes whose numbers allow both is open unless the order is given; one that
 * allows a single order has that one, and is no date if another is given.  Test: tests/unit/test_date.c.
 *
 *   if (!date_parse(text, DATE_ORDER_UNKNOWN, &time, &is_open)) ... is_open: it is a date, 3 April or 4 March
 *
 * It does not: know zones (workloads/readers/zone.h), names of months, years of two digits, or clocks of 12 hours.
 */
#ifndef BASE_DATE_H
#define BASE_DATE_H

#include <stdbool.h>

#include "base/text.h"
#include "base/time.h"

enum date_order { DATE_ORDER_UNKNOWN, DATE_DAY_FIRST, DATE_MONTH_FIRST };

/* Nanoseconds since 1970-01-01 of a clock in UTC. */
bool date_parse(struct text text, enum date_order order, time_ns *out, bool *is_open);

/* The only order in which a text with slashes is a date; unknown: it is none, or both orders give one. */
enum date_order date_order_of(struct text text);

#endif
