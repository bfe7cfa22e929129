#include "tests/support/random_sizes.h"

#include <assert.h>

#include "base/random.h"

struct capacity_table random_sizes(struct capacity_step steps[RANDOM_SIZES], const struct cluster *cluster,
                                   uint64_t seed, time_ns span)
{
    struct random_stream stream;
    const uint32_t changes = RANDOM_SIZES - cluster->pool_count;
    time_ns at = 0;
    assert(cluster->pool_count <= RANDOM_SIZES / 2);
    random_stream_init(&stream, seed, "sizes", 0);
    for (uint32_t i = 0; i < changes; i++) {
        if (random_below(&stream, 4) > 0)
            at += (time_ns)(random_uniform(&stream) * (double)(span - at) * 2 / changes);
        const uint32_t pool = random_below(&stream, cluster->pool_count);
        steps[i] = (struct capacity_step){at, pool, random_below(&stream, cluster->pools[pool].node_count + 1)};
    }
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        steps[changes + p] = (struct capacity_step){span, p, cluster->pools[p].node_count};
    return (struct capacity_table){.steps = steps, .count = RANDOM_SIZES};
}
