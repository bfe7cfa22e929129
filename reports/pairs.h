/* reports/pairs.h -- the values of two sides by seed, without the seeds that lack one.
 *
 * Law: a value that is not finite is none.  In pairs, a seed enters if both sides have a value; unpaired, each value of
 * a side enters.
 *
 *   struct pairs pairs = pairs_new(base, seeds, candidate, seeds, true);
 *   student_paired(pairs.a, pairs.b, pairs.b_count, 0, 0.95);
 *   pairs_free(&pairs);
 */
#ifndef REPORTS_PAIRS_H
#define REPORTS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

struct pairs {
    double *a, *b; /* of the base, of the candidate; owned */
    size_t a_count, b_count;
    size_t missing;      /* seeds left out (unpaired: values of both sides) */
    size_t half_missing; /* the part of them where just one side has a value (unpaired: the candidate has none) */
};

/* a NULL: no base, a_count is 0; then the candidate's values alone enter. */
struct pairs pairs_new(const double *a, size_t a_count, const double *b, size_t b_count, bool is_paired);
void pairs_free(struct pairs *pairs);

/* Equal to the last bit in every pair, and there is one. */
bool pairs_are_equal(const struct pairs *pairs);

/* NAN without values. */
double pairs_base(const struct pairs *pairs);
double pairs_candidate(const struct pairs *pairs);

#endif
