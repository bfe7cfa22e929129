/* workloads/load_model/load_sizes.h -- the sizes of Lublin and Feitelson's model, as kinds.
 *
 * A job is serial with the probability `serial`.  Else log2 of its size is two-stage uniform: with `low_share` uniform
 * in low..medium, else in medium..high; with the probability power_of_2 (of all jobs) it is rounded to a whole number.
 * The size is 2 to that power, rounded.
 * Source: U. Lublin, D. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
 * jobs", J. Parallel and Distributed Computing 63(11), 2003; lublin99.c of the Parallel Workloads Archive.
 *
 *   {"serial": 0.244, "power_of_2": 0.576, "low": 0.8, "medium": 4.5, "high": 7, "low_share": 0.86}
 *
 * Law: the weights of the kinds are the exact probabilities of the sizes, without draws.
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_SIZES_H
#define WORKLOADS_LOAD_MODEL_LOAD_SIZES_H

#include "workloads/load_model/load_model.h"

struct load_sizes {
    double serial, power_of_2, low, medium, high, low_share;
};

/* Fails through the sticky error. */
struct load_sizes load_sizes_read(const struct json_value *value);

/* A kind for each size that occurs: members of one GPU each, with this run time. */
const struct load_kind *load_sizes_kinds(const struct load_sizes *sizes, const struct distribution *run_time,
                                         struct arena *arena, uint32_t *count);

#endif
