#include "sim/engine/recut_costs.h"

#include "base/random.h"

struct recut_costs recut_costs_default(void)
{
    return (struct recut_costs){.create = TIME_NS_PER_S,
                                .destroy = TIME_NS_PER_S / 2,
                                .mode_min = 10 * TIME_NS_PER_S,
                                .mode_max = 30 * TIME_NS_PER_S,
                                .operator_min = 180 * TIME_NS_PER_S,
                                .operator_max = 300 * TIME_NS_PER_S};
}

static uint8_t profile_at(const struct gpu_cut *cut, uint32_t start)
{
    return cut->is_partitioned ? cut->layout.profile[start] : 0;
}

/* A random time between the two, in whole nanoseconds. */
static time_ns between(time_ns min, time_ns max, uint64_t seed, uint64_t nth)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "recut", nth);
    return min + (time_ns)(random_uniform(&stream) * (double)(max - min));
}

time_ns recut_duration(const struct recut_costs *costs, const struct gpu_cut *before, const struct gpu_cut *after,
                       uint64_t seed, uint64_t nth)
{
    time_ns duration = 0;
    if (costs->path == RECUT_BY_OPERATOR)
        return between(costs->operator_min, costs->operator_max, seed, nth);
    for (uint32_t s = 0; s < MIG_SLICES; s++) {
        if (profile_at(before, s) == profile_at(after, s))
            continue;
        duration += profile_at(before, s) != 0 ? costs->destroy : 0;
        duration += profile_at(after, s) != 0 ? costs->create : 0;
    }
    if (before->is_partitioned != after->is_partitioned)
        duration += between(costs->mode_min, costs->mode_max, seed, nth);
    return duration;
}
