/* reports/statistics/series.h -- one long run: where its warm-up ends, and an interval of its mean from batches.
 *
 * The values are in order of time, such as the waits of jobs in order of submission, or samples at equal steps.
 *
 * Warm-up: MSER-5 (White, Simulation 69, 1997; White, Cobb and Spratt, WSC 2000).  Of the means of five values, drop
 * the first d, with the d that minimises sum (Z_j - mean)^2 / (m - d)^2 over the m - d that remain; d at most m / 2.
 * If the minimum is at that limit, the run is too short to tell.  The front stays in if its mean is within 6 standard
 * errors of the rest's: MSER-5 alone drops a busy time near the begin and keeps a quiet one, so that the mean of what
 * remains is too low (by 9 % of 2,000 waits of an M/M/1 queue at load 0.8).
 *
 * Interval: batch means.  30 batches if their means are independent, else 20, else 10 (Schmeiser, Oper. Res. 30, 1982:
 * more than 30 gain little, fewer than 10 lose much); independent: von Neumann's ratio does not show positive lag-1
 * autocorrelation at the one-sided level 0.1 (Fishman, Manag. Sci. 24, 1978).  If 10 batches still depend on each other,
 * there is no interval: INFERENCE_CORRELATED.  Values that do not fill a batch are left out at the front.  The ends are
 * those of Skart (Tafazzoli and Wilson, IIE Trans. 43, 2011): the standard error grows by sqrt((1 + c) / (1 - c)), c
 * the autocorrelation that is left if it is above 0, and the quantiles of t are adjusted to the skewness of the means
 * (Willink, Commun. Stat. 34, 2005), because waits have long upper tails.
 *
 * How often an interval of 95 % holds the truth is measured: docs/statistics.md, tests/analytic/test_intervals.c.
 *
 *   struct series_mean mean = series_mean(waits_s, job_count, 0.95);
 *   mean.of.low, mean.of.high, mean.warmup_count
 */
#ifndef REPORTS_STATISTICS_SERIES_H
#define REPORTS_STATISTICS_SERIES_H

#include "reports/statistics/inference.h"

enum { SERIES_MSER_BATCH = 5, SERIES_MIN = 100 /* values that an interval needs, without the warm-up */ };

/* The number of values before the warm-up's end, a multiple of five; *is_found false: the run is too short to tell, and
 * the number is the limit, half of the values.  A value that is not finite: 0, false.  O(n). */
size_t series_warmup(const double *values, size_t count, bool *is_found);

struct series_mean {
    struct inference of; /* method METHOD_BATCH_MEANS; n: values used; statistic: the adjusted t */
    size_t warmup_count; /* values left out at the front */
    size_t batch_count, batch_size;
    double autocorrelation; /* lag 1, of the batch means; 0 if there are none */
    bool is_warmup_found;   /* false: then the first half was left out */
};

/* Without warm-up: the interval of all values. */
struct series_mean series_batch_means(const double *values, size_t count, double level);

/* After the warm-up that MSER-5 finds, if it differs from the rest.  If MSER-5 finds none, half of the values are left out, and the state is
 * INFERENCE_CORRELATED: there is no interval. */
struct series_mean series_steady_mean(const double *values, size_t count, double level);

#endif
