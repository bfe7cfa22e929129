/* sim/engine/row_limit.h -- the most rows that a timeline may have.
 *
 * The rows are kept in memory until the run ends, about 400 bytes each.  A run that would have more is refused: before
 * it begins, if its end or the last submission of its trace is known, else as soon as simulated time would pass over
 * them.
 *
 *   TRY(row_limit_check(0, 0, time_to_seconds(world.end), world.sample_interval));
 *
 * It does not: count rows that are written for another reason than the interval.
 */
#ifndef SIM_ENGINE_ROW_LIMIT_H
#define SIM_ENGINE_ROW_LIMIT_H

#include "base/error.h"
#include "base/time.h"

enum { ROW_LIMIT = 1 << 20 }; /* assumed: two years, a row a minute */

/* May time go on from `from` to `to_s`, in seconds, with a row each interval?  ERROR_CONFIG that names the number of
 * rows up to `to_s`.  to_s: of any size, also beyond what time_ns holds. */
struct error row_limit_check(uint64_t rows, time_ns from, double to_s, time_ns interval) MUST_CHECK;

#endif
