/* reports/statistics/inference.h -- what a sample tells of a mean: estimate, interval, p value.
 *
 * Law: no number here is ever NAN, whatever the input.  A sample that allows no interval has the state that says why,
 * the interval -INFINITY to INFINITY, and p = 1; so a rule that looks at the interval or p alone decides nothing by
 * mistake.
 *
 *   state                   when                                          mean       interval      p
 *   INFERENCE_DEFINED       otherwise                                     as is      by method     by method
 *   INFERENCE_CONSTANT      all values equal, n >= 2: no variance seen    the value  see below     see below
 *   INFERENCE_TOO_FEW       fewer than two values (of each sample)        the value  none          1
 *   INFERENCE_NOT_FINITE    a value is NAN or infinite                    0          none          1
 *   INFERENCE_CORRELATED    batch means still depend on each other        as is      none          1
 *
 * A constant sample is judged by the signs of its values: n independent values on one side of `null` have the two-sided
 * p value 2^(1-n) under a median at `null`.  Its interval is the value itself if 2^(1-n) <= 1 - level, else none; and
 * p is 1 if the value is `null`.  Of two constant samples p is that of two samples that do not overlap, 2 / C(n, m).
 * "Constant" allows for rounding, as R's t.test does: the standard error is below ten
 * times the rounding error of the values' means.
 */
#ifndef REPORTS_STATISTICS_INFERENCE_H
#define REPORTS_STATISTICS_INFERENCE_H

#include <stdbool.h>
#include <stddef.h>

enum inference_state {
    INFERENCE_DEFINED,
    INFERENCE_CONSTANT,
    INFERENCE_TOO_FEW,
    INFERENCE_NOT_FINITE,
    INFERENCE_CORRELATED,
};

enum inference_method {
    METHOD_NONE,
    METHOD_SIGNS, /* of a constant sample */
    METHOD_T,     /* one sample */
    METHOD_PAIRED_T,
    METHOD_WELCH_T,
    METHOD_WILCOXON_EXACT,
    METHOD_WILCOXON_NORMAL,
    METHOD_MANN_WHITNEY_EXACT,
    METHOD_MANN_WHITNEY_NORMAL,
    METHOD_BATCH_MEANS,
    METHOD_EQUAL, /* the sides are equal in every pair: nothing is estimated */
    METHOD_EXACT, /* one replay without chance: the values decide */
};
extern const char *const inference_method_names[]; /* "none", "signs", "t", "paired t", "Welch's t", ... */

struct inference {
    enum inference_state state;
    enum inference_method method;
    size_t n;         /* values or pairs; of two samples the sum */
    double mean;      /* the estimate: a mean, or a difference of means */
    double low, high; /* two-sided interval of the mean at `level` */
    double level;     /* 0.95 */
    double statistic; /* t; 0 where the method has none */
    double df;        /* degrees of freedom of t; 0 where the method has none */
    double p;         /* two-sided, of a mean equal to the null value */
};

/* A two-sided interval exists: neither end is infinite. */
bool inference_has_interval(const struct inference *inference);

/* For the methods of this room: the result of a sample without an interval, and that of a constant sample.  p_least:
 * the p value if `value` is not `null`. */
struct inference inference_none(enum inference_state state, size_t n, double mean, double level);
struct inference inference_constant(size_t n, double value, double null, double level, double p_least);

/* Are all values finite? */
bool inference_is_finite(const double *values, size_t count);

#endif
