/* reports/statistics/holm.h -- several tests at once, by Holm's step-down rule (Scand. J. Stat. 6, 1979).
 *
 * Law: the probability that any true null hypothesis is rejected is at most alpha, whatever the tests share.
 *
 *   holm_order(p, count, order);      order[i] is rejected at alpha / (count - i), if those before it are
 */
#ifndef REPORTS_STATISTICS_HOLM_H
#define REPORTS_STATISTICS_HOLM_H

#include <stddef.h>

/* Indices of p, ascending; equal values in the order given. */
void holm_order(const double *p, size_t count, size_t *order);

#endif
