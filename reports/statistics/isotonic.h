/* reports/statistics/isotonic.h -- a curve that never falls, fitted to means; and a band for such a curve.
 *
 * The fit is the non-decreasing sequence with the least weighted sum of squares to the values: isotonic regression by
 * pooling adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman, Ann. Math. Stat. 26, 1955; Barlow, Bartholomew,
 * Bremner and Brunk, Statistical Inference under Order Restrictions, 1972).
 *
 *   const double values[] = {1, 3, 2, 4}, weights[] = {1, 1, 3, 1};
 *   isotonic_fit(values, weights, 4, fit);                          1, 2.25, 2.25, 4
 *
 * The band: if intervals hold the true values at all points at once, and the true curve never falls, then it lies above
 * every low end before it and below every high end behind it.  So the band is nowhere wider than the intervals, and
 * holds the curve as often as they hold it together.
 *
 * Law: where the values never fall, the fit is the values.  It does not: test that the curve never falls.
 */
#ifndef REPORTS_STATISTICS_ISOTONIC_H
#define REPORTS_STATISTICS_ISOTONIC_H

#include <stddef.h>

/* values: finite.  weights: positive.  O(count). */
void isotonic_fit(const double *values, const double *weights, size_t count, double *fit);

/* Narrow the intervals of points in order, -INFINITY and INFINITY included, to the band. */
void isotonic_band(double *low, double *high, size_t count);

#endif
