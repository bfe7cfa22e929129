/* sim/engine/estimates.h -- declared run times, made from the true ones.
 *
 * Few traces have them.  A perfect estimate is the run time itself; a noisy one is that times a factor and a lognormal
 * error whose median is 1.  It is written into the job before the scheduler gets it; the true run time is not.
 *
 * Law: depends on the seed and the job's id alone, so that two policies see the same estimates.
 */
#ifndef SIM_ENGINE_ESTIMATES_H
#define SIM_ENGINE_ESTIMATES_H

#include <stdint.h>

#include "base/time.h"

enum estimates_kind { ESTIMATES_AS_DECLARED, ESTIMATES_PERFECT, ESTIMATES_NOISY };

struct estimates {
    enum estimates_kind kind;
    double factor; /* median of estimate / run time, if noisy */
    double sigma;  /* of the logarithm, if noisy */
};

/* The estimate of a job with that run time, at least 1 ns; as_declared: the estimate that the job declares. */
time_ns estimates_make(const struct estimates *estimates, uint64_t seed, uint64_t job, time_ns duration,
                       time_ns as_declared);

#endif
