#include "reports/statistics/inference.h"

#include <math.h>

const char *const inference_method_names[] = {
    "none",
    "signs",
    "t",
    "paired t",
    "Welch's t",
    "Wilcoxon, exact",
    "Wilcoxon, normal",
    "Mann-Whitney, exact",
    "Mann-Whitney, normal",
    "batch means",
    "equal",
    "exact",
};

bool inference_has_interval(const struct inference *inference)
{
    return isfinite(inference->low) && isfinite(inference->high);
}

struct inference inference_none(enum inference_state state, size_t n, double mean, double level)
{
    return (struct inference){.state = state,
                              .n = n,
                              .mean = isfinite(mean) ? mean : 0,
                              .low = -INFINITY,
                              .high = INFINITY,
                              .level = level,
                              .p = 1};
}

struct inference inference_constant(size_t n, double value, double null, double level, double p_least)
{
    struct inference of = inference_none(INFERENCE_CONSTANT, n, value, level);
    of.method = METHOD_SIGNS;
    if (p_least <= 1 - level)
        of.low = of.high = value;
    if (value != null)
        of.p = p_least;
    return of;
}

bool inference_is_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}
