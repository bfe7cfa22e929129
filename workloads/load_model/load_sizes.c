#include "workloads/load_model/load_sizes.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LOG_SIZE_MAX = 16 };

struct load_sizes load_sizes_read(const struct json_value *value)
{
    static const char *const needed[] = {"serial", "power_of_2", "low", "medium", "high", "low_share"};
    struct json_object object;
    json_object_open(&object, value);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        json_need(&object, needed[i]);
    const struct load_sizes sizes = {.serial = json_get_real(&object, "serial", 0, 1, 1),
                                     .power_of_2 = json_get_real(&object, "power_of_2", 0, 1, 0),
                                     .low = json_get_real(&object, "low", 0, LOG_SIZE_MAX, 0),
                                     .medium = json_get_real(&object, "medium", 0, LOG_SIZE_MAX, 1),
                                     .high = json_get_real(&object, "high", 0, LOG_SIZE_MAX, 2),
                                     .low_share = json_get_real(&object, "low_share", 0, 1, 1)};
    json_object_close(&object);
    if (sizes.serial + sizes.power_of_2 > 1)
        json_fail(value, "'serial' and 'power_of_2' must not sum to more than 1");
    if (!(sizes.low < sizes.medium && sizes.medium < sizes.high))
        json_fail(value, "'low' must be below 'medium', and that below 'high'");
    return sizes;
}

/* Probability that the logarithm of a parallel job is below x, before rounding. */
static double log_below(const struct load_sizes *sizes, double x)
{
    return sizes->low_share * gsl_cdf_flat_P(x, sizes->low, sizes->medium) +
           (1 - sizes->low_share) * gsl_cdf_flat_P(x, sizes->medium, sizes->high);
}

/* Rounding is that of the source: (int)(x + 0.5). */
static double load_sizes_share(const struct load_sizes *sizes, uint32_t size)
{
    const double other = 1 - sizes->serial - sizes->power_of_2, power = log2(size);
    double share = size == 1 ? sizes->serial : 0;
    if (power >= rint(power) && power <= rint(power))
        share += sizes->power_of_2 * (log_below(sizes, power + 0.5) - log_below(sizes, power - 0.5));
    return share + other * (log_below(sizes, log2(size + 0.5)) - log_below(sizes, log2(size - 0.5)));
}

const struct load_kind *load_sizes_kinds(const struct load_sizes *sizes, const struct distribution *run_time,
                                         struct arena *arena, uint32_t *count)
{
    const uint32_t largest = (uint32_t)fmax(rint(exp2(floor(sizes->high + 0.5))), floor(exp2(sizes->high) + 0.5));
    struct load_kind *kinds = arena_alloc_array(arena, largest, struct load_kind);
    *count = 0;
    for (uint32_t size = 1; size <= largest; size++) {
        const double share = load_sizes_share(sizes, size);
        if (share > 0)
            kinds[(*count)++] = (struct load_kind){
                .weight = share, .ask = {.gpus = size}, .outcome = OUTCOME_COMPLETED, .run_time = *run_time};
    }
    return kinds;
}
