#include "studies/sweep/sweep_design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

size_t sweep_design_factorial_count(const size_t *level_counts, size_t factor_count, size_t max)
{
    size_t count = 1;
    for (size_t f = 0; f < factor_count; f++) {
        if (level_counts[f] > max / count)
            return 0;
        count *= level_counts[f];
    }
    return count;
}

void sweep_design_factorial(const size_t *level_counts, size_t factor_count, uint32_t *out)
{
    const size_t count = sweep_design_factorial_count(level_counts, factor_count, SIZE_MAX);
    for (size_t c = 0; c < count; c++) {
        size_t rest = c;
        for (size_t f = factor_count; f-- > 0;) {
            out[c * factor_count + f] = (uint32_t)(rest % level_counts[f]);
            rest /= level_counts[f];
        }
    }
}

void sweep_design_strata(uint64_t seed, size_t factor, size_t point_count, uint32_t *strata)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "sweep.strata", factor);
    for (size_t i = 0; i < point_count; i++)
        strata[i] = (uint32_t)i;
    for (size_t i = point_count; i > 1; i--) { /* Fisher and Yates */
        const size_t other = random_below(&stream, (uint32_t)i);
        const uint32_t kept = strata[i - 1];
        strata[i - 1] = strata[other];
        strata[other] = kept;
    }
}

void sweep_design_places(uint64_t seed, size_t factor, size_t point_count, double *places)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "sweep.places", factor);
    for (size_t s = 0; s < point_count; s++)
        places[s] = ((double)s + random_uniform(&stream)) / (double)point_count;
}

/* So that no libm decides a digit that is shown. */
static double round_digits(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

double sweep_range_at(const struct sweep_range *range, double place)
{
    const double low = range->low, high = range->high;
    double value;
    if (range->is_log)
        value = low * exp(place * log(high / low));
    else if (range->is_integer)
        return fmin(floor(low + place * (high - low + 1)), high);
    else
        value = low + place * (high - low);
    value = range->is_integer ? rint(value) : round_digits(value);
    return fmax(low, fmin(value, high));
}
