/* reports/statistics/looks.h -- looking at the data more than once, without more false alarms.
 *
 * A comparison starts with a few seeds, looks, and goes on only if nothing is decided.  Each look tests at a level of
 * its own, so that the looks together have the error alpha: after n of N seeds, the part n / N of it may be spent (Lan
 * and DeMets, Biometrika 70, 1983, with the spending function alpha t of Kim and DeMets, Biometrika 74, 1987).  The
 * levels are exact for normal means, by numerical integration of the joint distribution of the looks (Armitage,
 * McPherson and Rowe, J. R. Stat. Soc. A 132, 1969); they are applied to the p values of t tests (Jennison and
 * Turnbull, Group Sequential Methods, 1999, 4.4).
 *
 *   struct looks looks = looks_up_to(40);            5, 10, 20, 40 seeds
 *   looks_level(&looks, 0, 0.05)                     0.00625: significant at the first look if p <= 0.00625
 *
 * Law: levels are in (0, alpha], and rise with alpha; with one look the level is alpha.
 * It does not: reuse a decision.  A look judges all data that there is; who stops when all is decided errs no more.
 */
#ifndef REPORTS_STATISTICS_LOOKS_H
#define REPORTS_STATISTICS_LOOKS_H

#include <stddef.h>

enum { LOOKS_MAX = 12, LOOKS_FIRST = 5 };

struct looks {
    size_t count;
    size_t n[LOOKS_MAX]; /* seeds at each look, ascending */
};

/* 5, 10, 20, 40, 80, ... as far as they are at most two thirds of n_max, then n_max itself.  n_max >= 1. */
struct looks looks_up_to(size_t n_max);

/* One look, at n. */
struct looks looks_once(size_t n);

/* The two-sided level of the look with this index (from 0), given the level alpha of all looks together; alpha in
 * (0, 0.5].  Half a millisecond. */
double looks_level(const struct looks *looks, size_t look, double alpha);

/* The probability that a Brownian motion without drift is outside of +-z[k] at some look k: the two-sided error of
 * bounds z.  z[k] > 0. */
double looks_error(const struct looks *looks, const double *z);

/* The number of seeds that would decide.  A t test that is to end at N seeds (looks_up_to(N), two-sided error alpha
 * over all looks) was not significant after n of them: its p was `p`.  With no other knowledge of the mean than these n
 * values, the mean of all N has a t distribution with n - 1 degrees of freedom about the present one, of variance
 * s^2 (1 / n - 1 / N).  Returns the least N > n, rounded up to a multiple of five, for which the test at N is
 * significant with the probability `power`; SIZE_MAX: N is above `most`.  n >= 2, p in (0, 1], power in (0, 1). */
size_t looks_needed(double p, size_t n, double alpha, double power, size_t most);

#endif
