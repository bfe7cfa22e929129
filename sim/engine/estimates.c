#include "sim/engine/estimates.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#include "base/random.h"

time_ns estimates_make(const struct estimates *estimates, uint64_t seed, uint64_t job, time_ns duration,
                       time_ns as_declared)
{
    struct random_stream stream;
    double estimate;
    switch (estimates->kind) {
    case ESTIMATES_AS_DECLARED:
        return as_declared;
    case ESTIMATES_PERFECT:
        return duration > 0 ? duration : 1;
    case ESTIMATES_NOISY:
        break;
    }
    random_stream_init(&stream, seed, "estimates", job);
    estimate = (double)duration * estimates->factor * exp(gsl_ran_gaussian(random_gsl(&stream), estimates->sigma));
    return estimate < 1 ? 1 : estimate >= 0x1p62 ? (time_ns)0x1p62 : (time_ns)estimate;
}
