/* reports/statistics/two_samples.h -- how far two samples are from one distribution, and how a sequence clusters.
 *
 * Kolmogorov and Smirnov: D is the largest distance of the two empirical distributions; p from the limit of sqrt(nm /
 * (n + m)) D (Kolmogorov 1933; Smirnov 1948), if both samples are of one continuous distribution.
 * Anderson and Darling: A^2 of two samples with ties (Scholz and Stephens, JASA 82, 1987, equation 7); p from its
 * limit, that of one sample (Marsaglia and Marsaglia, J. Statistical Software 9(2), 2004; error below 2e-6).
 * With samples of 10^5 values both p are 0 for differences that nobody would notice: then read D.
 *
 *   double d = two_samples_ks(a, n, b, m), p = two_samples_ks_p(d, n, m);
 *
 * Samples are sorted and not empty; values are finite.
 */
#ifndef REPORTS_STATISTICS_TWO_SAMPLES_H
#define REPORTS_STATISTICS_TWO_SAMPLES_H

#include <stddef.h>

double two_samples_ks(const double *a, size_t a_count, const double *b, size_t b_count); /* O(n + m) */
double two_samples_ks_p(double d, size_t a_count, size_t b_count);
double two_samples_ad(const double *a, size_t a_count, const double *b, size_t b_count); /* O(n + m) */
double two_samples_ad_p(double a_squared);

/* ---- Of one sequence, in its order ---- */

/* (cv - 1) / (cv + 1) of the coefficient of variation: -1 regular, 0 Poisson, towards 1 bursts.
 * Source: K.-I. Goh, A.-L. Barabasi, EPL 81, 48002 (2008). */
double sequence_burstiness(double cv);

/* Correlation of values `lag` apart; NAN if there are not more than lag + 1 values, or all are equal. */
double sequence_correlation(const double *values, size_t count, size_t lag);

/* Variance / mean of the numbers of times in windows of this length (1: Poisson).  times: ascending.  Windows begin at
 * the first time; what is left after the last whole window is not counted.  NAN with fewer than two windows. */
double sequence_dispersion(const double *times, size_t count, double window);

#endif
