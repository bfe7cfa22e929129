/* studies/sweep/sweep_effects.h -- what the factors of a sweep do to a metric.
 *
 * Words: a slice is the combinations that have a given level of some factors.  All runs with one seed get the same
 * chance, so a seed is a block: the mean of a slice is taken within each seed, and its interval is that of these means
 * over the seeds (Student's t).
 *
 *   struct sweep_slice slice = sweep_slice_all();
 *   slice.level[1] = 2;                               the third level of the second factor
 *   struct inference mean = sweep_slice_mean(&results, column, &slice, 0.95);
 *
 * Shares of variance, of a full factorial whose runs are all done: the sum of squares about the mean is split into that
 * of each factor alone, of each pair of factors beyond that, of the seeds, and the rest (Fisher's analysis of variance,
 * Box, Hunter and Hunter, Statistics for Experimenters, 2005, ch. 8).  The parts add up to the whole.
 *
 * Law: a seed in which a run of the slice has no value is left out; no seed left: INFERENCE_TOO_FEW.
 */
#ifndef STUDIES_SWEEP_SWEEP_EFFECTS_H
#define STUDIES_SWEEP_SWEEP_EFFECTS_H

#include "reports/statistics/inference.h"
#include "studies/sweep/sweep_results.h"

#define SWEEP_ANY_LEVEL UINT32_MAX

struct sweep_slice {
    uint32_t level[SWEEP_FACTORS_MAX]; /* SWEEP_ANY_LEVEL: any */
};
struct sweep_slice sweep_slice_all(void);

/* mean NAN: no combination is in the slice, or none has a value. */
struct inference sweep_slice_mean(const struct sweep_results *results, size_t column, const struct sweep_slice *slice,
                                  double level);

/* ---- shares of variance ---- */

/* Values of a full factorial, as sweep_design_factorial orders it, each combination with all seeds. */
struct sweep_squares_table {
    const size_t *level_counts;
    size_t factor_count, seed_count;
    const double *values; /* [combination * seed_count + seed] */
};

struct sweep_part {
    size_t factor, other; /* other == factor: the factor alone */
    double squares;
    size_t df;
    double p; /* of no such effect, by the F test against the rest; 1: the rest allows none */
};

struct sweep_squares {
    double total, seeds, rest;
    size_t rest_df;
    struct sweep_part *parts; /* factors, then pairs; owned */
    size_t part_count;
};

void sweep_squares_of(const struct sweep_squares_table *table, struct sweep_squares *out);
void sweep_squares_release(struct sweep_squares *squares);

/* Of a column; false: the sweep is no full factorial, or a run has no value. */
bool sweep_squares_read(const struct sweep_results *results, size_t column, struct sweep_squares *out);

/* ---- the front ---- */

/* Combinations that no other beats: none is at least as good in both columns and better in one, in the means over
 * seeds.  front: room for all combinations, filled in the order of the first column, the best first.  Returns how
 * many; combinations without a value in one of them are left out.  O(combinations^2). */
size_t sweep_front(const struct sweep_results *results, size_t column, size_t other, size_t *front);

/* The mean over the seeds that have a value; NAN: none has. */
double sweep_combination_mean(const struct sweep_results *results, size_t column, size_t combination);

#endif
