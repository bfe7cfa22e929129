/* workloads/readers/date_column.h -- is the day or the month first in a column of dates with slashes?
 *
 * Law: all rows of the column decide, never the row at hand: a date that has one order alone (31/12/2025) tells the
 * order of its column.  A column whose dates tell both orders, or none, is not read: the date that is open is an error
 * with its place, which says how to give the order.  Test: tests/unit/test_column_map.c.
 *
 * It does not: look into tables beside the trace, or into standard input, which cannot be read twice: there the
 * order must be given.
 */
#ifndef WORKLOADS_READERS_DATE_COLUMN_H
#define WORKLOADS_READERS_DATE_COLUMN_H

#include "base/date.h"
#include "workloads/readers/csv.h"

/* Read the whole column of the file.  like: a reader of its rows, which is not changed.  names: of a file without a
 * header; NULL: it has one.  Unknown: no row tells the order, or rows tell both.  Rows that cannot be read tell
 * nothing. */
struct error date_column_order(const char *path, const struct csv *like, const char *names, uint32_t column,
                               enum date_order *order) MUST_CHECK;

#endif
