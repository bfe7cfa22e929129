/* reports/statistics/bootstrap.h -- the interval of a mean by resampling: bias-corrected and accelerated (BCa).
 *
 * Efron (J. Am. Stat. Assoc. 82, 1987); the acceleration from the jackknife.  The same (values, seed, resamples) give
 * the same interval on every machine, because resamples come from the stream ("bootstrap", entity).
 *
 *   struct inference of = bootstrap_paired(base, candidate, 10, 0.95, &(struct bootstrap){.seed = 1});
 *
 * p is two-sided, of a mean of 0: twice the smaller share of resampled means on either side of it, at least
 * 2 / (resamples + 1) (Davison and Hinkley, Bootstrap Methods, 1997, 4.2.5, inverted).
 *
 * When: skewed differences, n >= 20.  With few values it is too narrow: at n = 5 a 95 % interval of normal
 * differences holds the truth in 83 % (tests/analytic/test_intervals.c prints that).
 * Degenerate samples: see inference.h.
 */
#ifndef REPORTS_STATISTICS_BOOTSTRAP_H
#define REPORTS_STATISTICS_BOOTSTRAP_H

#include <stdint.h>

#include "reports/statistics/inference.h"

enum { BOOTSTRAP_RESAMPLES = 9999 };

struct bootstrap {
    uint64_t seed, entity;
    size_t resamples; /* 0: BOOTSTRAP_RESAMPLES */
};

struct inference bootstrap_one(const double *values, size_t count, double level, const struct bootstrap *how);
struct inference bootstrap_paired(const double *a, const double *b, size_t count, double level,
                                  const struct bootstrap *how);

#endif
