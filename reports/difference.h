/* reports/difference.h -- one metric on two sides, for the table of a comparison.
 *
 *   struct difference d = difference_of(&how, &selector, base, candidate, seeds);
 *   differences_measure(differences, count);
 *   differences_sort(differences, count);
 *
 * The mark: '=' equal to the last bit in all seeds; '+' better, '-' worse (by the metric's `better`), '*' different (of
 * a metric of which neither is better): the interval of the difference leaves 0 out; '~' it does not; '?' not defined.
 *
 * Each metric is judged alone, at the level of the look.  Of a hundred metrics without a difference some five then bear
 * a mark by chance, so a table is a place to look and a gate is what decides.
 *
 * The size of a difference says how much it matters, so that a rise from nothing to next to nothing does not go before
 * a wait that doubled: |difference| / the largest of |base|, |candidate| and the least that counts of the unit.  It is
 * 0 for no difference, 0.5 for a doubling as for a halving, and 1 from nothing to an amount that counts; exchanging the
 * sides changes no size.  The least that counts is
 *
 *   ratio                a tenth (of the cluster, of the jobs: of what the ratio is a part of)
 *   s, gpu_s             10 s, the limit of a user's attention (Nielsen, Usability Engineering, 1993, section 5.5)
 *   jobs, evictions      a tenth of the most jobs that a metric of the whole run counts, on either side
 *   gpu_h, job_h         a tenth of the largest amount of that unit of the whole run, on either side
 *   others               nothing: the change is relative
 *
 * Amounts of a class, a queue or another cut are measured against the whole run too.
 *
 * Law: a seed enters if both sides have a value.  One replay alone has no interval: its mark tells which is better.
 * Law: the change, its interval, its mark and its p are one estimator's and of one unit (reports/change.h), in every
 * view: a percentage where both sides are positive in every seed, else an amount in the metric's unit.
 */
#ifndef REPORTS_DIFFERENCE_H
#define REPORTS_DIFFERENCE_H

#include "reports/change.h"
#include "reports/service_levels.h"

struct difference_how {
    double level;     /* 0.95; in a sequence 1 - looks_level(...) */
    bool is_exact;    /* one replay without chance */
    bool is_unpaired; /* the sides have different seeds: Welch's t */
};

struct difference {
    struct metric_selector of;
    const char *unit;
    enum better better;
    char mark;              /* = ~ + - * ? */
    size_t n, missing;      /* pairs used (unpaired: values of the candidate), and left out */
    double base, candidate; /* means of what was used; NAN: none */
    double difference;      /* candidate - base; NAN: none */
    struct change change;   /* with its interval at the level of the look, and p */
    double size;            /* how much it matters; set by differences_measure */
    double p_rank;          /* Wilcoxon's, or Mann and Whitney's: a check */
};

/* base, candidate: by seed; NAN: no value.  base_count == count unless how->is_unpaired. */
struct difference difference_of(const struct difference_how *how, const struct metric_selector *of, const double *base,
                                size_t base_count, const double *candidate, size_t count);

/* Set the sizes.  The list holds the differences of the whole run, by which the others are measured too. */
void differences_measure(struct difference *differences, size_t count);

/* By what moved most: marks + - * first, by size, then ~ by size, then =, then ?.  Equal ones keep their order. */
void differences_sort(struct difference *differences, size_t count);

/* Append the difference as people read it: "+12.3 % (+8.1 to +16.4 %)"; "=" if equal; a dash if not defined.  Where the
 * change is no ratio, in the metric's unit: "+4m 12s (+3m 50s to +4m 34s)". */
void difference_write(const struct difference *difference, struct buffer *out);

#endif
