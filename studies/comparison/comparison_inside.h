/* studies/comparison/comparison_inside.h -- the parts of a comparison; for comparison.c and comparison_*.c only. */
#ifndef STUDIES_COMPARISON_COMPARISON_INSIDE_H
#define STUDIES_COMPARISON_COMPARISON_INSIDE_H

#include "base/worker_pool.h"
#include "studies/comparison/comparison.h"

/* Run each side that is not fixed with the seeds of these indices, [from, to), as far as they are not run; and the
 * replays as they are. */
struct error comparison_run_seeds(struct comparison *comparison, size_t from, size_t to) MUST_CHECK;

/* Is the first decision still to be sought in which the side differs from the base?  If it cannot be, keep why. */
bool comparison_begin_first(struct comparison *comparison, size_t side);
/* In a process of its own: seek it, and write it; then keep what was written. */
struct error comparison_find_first(const struct comparison *comparison, size_t side, struct buffer *out) MUST_CHECK;
void comparison_keep_first(struct comparison *comparison, size_t side, const struct worker_result *result);

/* Which blocks of the scenario's trace are drawn: "users"; NULL: none.  The caller frees it with mem_free. */
char *comparison_blocks_new(const char *scenario_json);

/* How the scenario's trace is shaken, in words; NULL: it is not.  The caller frees it with mem_free. */
char *comparison_shake_new(const char *scenario_json);

/* Decide whether replays are shaken.  Then: is each baseline of such replays?  ERROR_CONFIG. */
void comparison_shake(struct comparison *comparison, bool may_be_exact);
struct error comparison_check_shaken(const struct comparison *comparison) MUST_CHECK;

/* The result of a run behind its queue times: what a run writes with comparison->keeps_waits, and what is read of it.
 * Returns the text of result.json. */
void comparison_write_waits(const struct job_waits *waits, struct buffer *out);
struct text comparison_take_waits(struct text bytes, struct job_waits *waits);

/* With one run of each side, compare the queue times of the jobs; a record's are read here. */
void comparison_find_long(struct comparison *comparison);

/* Compute rows, differences and verdicts from the runs that there are. */
void comparison_judge(struct comparison *comparison, const struct looks *looks, size_t look);

/* The caller's time is up (COMPARISON_TIME_IS_UP). */
bool comparison_is_time_up(const struct comparison *comparison);

/* All gates are decided, or a side has failed. */
bool comparison_is_settled(const struct comparison *comparison);

/* What makes the sides less comparable: other jobs, another version, a partial record. */
void comparison_find_warnings(struct comparison *comparison);
void comparison_warn(struct comparison *comparison, const char *format, ...) LIKE_PRINTF(2, 3);

#endif
