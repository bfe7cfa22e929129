/* reports/statistics/rank_test.h -- tests by ranks: Wilcoxon's for pairs, Mann and Whitney's for two samples.
 *
 * The rules are those of R's wilcox.test (correct = TRUE): the exact distribution if there are fewer than 50 values (in
 * each sample), no ties and no zeros; else the normal approximation with corrections for continuity and ties.
 * `method` says which.  Zeros are dropped (Wilcoxon 1945).  SciPy's wilcoxon(correction=True) and mannwhitneyu give the
 * same numbers if told the same method.
 *
 *   struct rank_test test = rank_test_pairs(base, candidate, 10);
 *   test.p       two-sided
 *
 * When: beside a t test, as a check that does not depend on outliers.  Fewer than six pairs never give p < 0.05.
 * n is what remains without zeros.  n = 0 (all pairs equal) or an empty sample: p = 1, state INFERENCE_TOO_FEW, or
 * INFERENCE_CONSTANT if pairs were given.  A value that is not finite: p = 1, INFERENCE_NOT_FINITE.
 */
#ifndef REPORTS_STATISTICS_RANK_TEST_H
#define REPORTS_STATISTICS_RANK_TEST_H

#include "reports/statistics/inference.h"

struct rank_test {
    enum inference_state state;
    enum inference_method method;
    size_t n;         /* values ranked */
    double statistic; /* V: the sum of the ranks of positive b - a; W: pairs in which b is above a, ties as a half */
    double p;         /* two-sided */
};

/* Wilcoxon's signed-rank test of b[i] - a[i].  O(n^3) if exact. */
struct rank_test rank_test_pairs(const double *a, const double *b, size_t count);

/* Mann and Whitney's test.  O(n^2 m^2) if exact: 1 ms for 49 against 49. */
struct rank_test rank_test_samples(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
