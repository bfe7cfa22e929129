/* studies/sweep/sweep_design.h -- which combinations of levels a sweep runs, as numbers only.
 *
 * A factor has levels 0 .. count - 1.  A combination names a level of each factor; combinations stand behind each
 * other in one array, factor_count numbers each.
 *
 * Full factorial: every combination once.  The first factor changes slowest.
 * Latin hypercube (McKay, Beckman and Conover, Technometrics 1979): the range of each factor is cut into as many strata
 * as there are points, and each stratum of each factor holds one point.  The strata of a factor are dealt out to the
 * points by a random permutation, and the place within a stratum is random too.
 *
 * Law: a draw depends on the seed, the factor and the number of points only (base/random.h).
 */
#ifndef STUDIES_SWEEP_SWEEP_DESIGN_H
#define STUDIES_SWEEP_SWEEP_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of combinations; 0: more than `max`. */
size_t sweep_design_factorial_count(const size_t *level_counts, size_t factor_count, size_t max);

/* Fill out[combination * factor_count + factor]. */
void sweep_design_factorial(const size_t *level_counts, size_t factor_count, uint32_t *out);

/* The stratum of each point, a permutation of 0 .. point_count - 1. */
void sweep_design_strata(uint64_t seed, size_t factor, size_t point_count, uint32_t *strata);

/* Where the point in each stratum lies in the whole range: place[s] in (s / count, (s + 1) / count). */
void sweep_design_places(uint64_t seed, size_t factor, size_t point_count, double *places);

/* A range of numbers. */
struct sweep_range {
    double low, high; /* low < high; of a logarithmic one low > 0 */
    bool is_log, is_integer;
};

/* The number at a place in (0, 1), rounded to six significant digits, or to an integer of the range.  Integers of a
 * linear range are equally likely. */
double sweep_range_at(const struct sweep_range *range, double place);

#endif
