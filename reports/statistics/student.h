/* reports/statistics/student.h -- Student's t: means of one sample, of pairs, and of two samples.
 *
 * Gosset (1908); Welch (Biometrika 34, 1947) for unequal variances.  The numbers are those of R's t.test and SciPy's
 * ttest_1samp, ttest_rel and ttest_ind(equal_var=False).  Degenerate samples: see inference.h.
 *
 *   struct inference of = student_paired(base, candidate, 10, 0, 0.95);
 *   of.mean        mean of candidate - base
 *   of.low, .high  95 % interval of that mean
 *   of.p           two-sided p of a mean equal to 0
 *
 * When: a mean over seeds.  Normal differences keep the level from n = 2 on; exponential ones have 89 % instead of 95 %
 * at n = 5, and 94 % at n = 40 (tests/analytic/test_intervals.c prints that).
 * It does not: drop values; a NAN makes the result INFERENCE_NOT_FINITE.
 */
#ifndef REPORTS_STATISTICS_STUDENT_H
#define REPORTS_STATISTICS_STUDENT_H

#include "reports/statistics/inference.h"

/* level in (0, 1).  null: the mean that p tests. */
struct inference student_one(const double *values, size_t count, double null, double level);

/* Of the differences b[i] - a[i]. */
struct inference student_paired(const double *a, const double *b, size_t count, double null, double level);

/* Of mean(b) - mean(a), from independent samples.  Constant if both are. */
struct inference student_welch(const double *a, size_t a_count, const double *b, size_t b_count, double null,
                               double level);

#endif
