/* reports/statistics/holm.h -- several tests at once, by Holm's step-down rule (Scand. J. Stat. 6, 1979).
 *
 * Law: the probability that any true null hypothesis is rejected is at most alpha, whatever the tests share.
 *
 *   holm_adjust(p, 3, adjusted);         adjusted[i] <= alpha: rejected.  As R's p.adjust(p, "holm")
 */
#ifndef REPORTS_STATISTICS_HOLM_H
#define REPORTS_STATISTICS_HOLM_H

#include <stddef.h>

/* p in [0, 1]; adjusted may be p. */
void holm_adjust(const double *p, size_t count, double *adjusted);

/* Indices of p, ascending; equal values in the order given. */
void holm_order(const double *p, size_t count, size_t *order);

#endif
