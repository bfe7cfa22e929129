/* reports/change.h -- how much the candidate differs from the base: one estimator, one unit, for value and interval.
 *
 *   const struct change change = change_of(&pairs, &(struct change_how){.level = 0.95});
 *   change.is_ratio ? "%+.1f %%" of 100 * change.value : an amount in the metric's unit
 *
 * Where both sides are positive in every seed, a change is a part of the base: the mean over the seeds of
 * ln(candidate / base), told as e^mean - 1.  That is the geometric mean of the seeds' ratios less 1, so it needs no
 * division by a mean, its interval never reaches below -100 %, and a seed counts by its ratio, not by its size.  Else
 * (a value is 0 or negative in a seed) a change is the mean of candidate - base, in the metric's unit.
 *
 * Law: value, low and high have the same unit, and come from one test: the interval leaves a bound out if and only if
 * the test at 1 - level says that the mean is not on the bound.
 *
 * The bound of the test is 0, or with `part` r that of a change by the part r of the base: the mean of
 * ln(b / ((1 + r) a)), or where there is no ratio of b - (1 + r) a.  The interval of the latter is told moved by r
 * times the base's mean, beside `bound`, which is that amount.
 *
 * Tests: paired t; Welch's t of the two sides' values (or logarithms) without pairs.  Degenerate samples: inference.h.
 */
#ifndef REPORTS_CHANGE_H
#define REPORTS_CHANGE_H

#include "base/buffer.h"
#include "reports/pairs.h"
#include "reports/statistics/inference.h"

struct change_how {
    double level;     /* of the interval: 0.95 */
    double part;      /* the bound, as a part of the base; > -1 for a ratio */
    double null;      /* the bound, as an amount; with is_amount only */
    bool is_amount;   /* never a ratio: the bound is an amount */
    bool is_unpaired; /* the sides have different seeds */
};

struct change {
    bool is_ratio;           /* value, low, high, bound are parts of the base: 0.05 is +5 % */
    double value, low, high; /* of the candidate against the base; no interval: -INFINITY, INFINITY */
    double bound;            /* the bound of the test in the same unit; 0 without one */
    double beyond;           /* > 0: the value is above the bound; < 0: below; 0: on it to the last bit */
    struct inference of;     /* of the mean that was tested, on its own scale: state, method, n, p, level */
};

/* Both sides have values.  */
struct change change_of(const struct pairs *pairs, const struct change_how *how);

/* That of no values: NAN, and no interval. */
struct change change_none(double level);

/* The p of the same question by ranks (Wilcoxon; without pairs Mann and Whitney): a check.  O(n^3). */
double change_rank_p(const struct pairs *pairs, const struct change_how *how);

/* Append a change, or a bound of one, in its unit and with its sign: "+12.3 %", "+4m 12s"; and an interval: "+8.1 to
 * +16.4 %", "+3m 50s to +4m 34s". */
void change_write(bool is_ratio, const char *metric, const char *unit, double value, struct buffer *out);
void change_write_interval(bool is_ratio, const char *metric, const char *unit, double low, double high,
                           struct buffer *out);

#endif
