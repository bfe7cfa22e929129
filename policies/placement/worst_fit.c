/* worst-fit.  Takes the emptiest node and GPU.
 * A node failure hits few jobs, and jobs compete little.  The cluster becomes fragmented, so gangs starve.
 * Source: folklore of memory allocation (Knuth, TAOCP 1, 2.5), applied to GPUs.  Cost: O(1) a spot. */
#include "policies/placement/placements.h"

static int64_t score(const struct spot *spot)
{
    return (int64_t)spot->gpu_left * (NODE_GPUS_MAX + 1) + (spot->node_free > 0 ? spot->node_free : 0);
}

const struct placement_policy placement_worst_fit = {
    .name = "worst_fit",
    .version = 1,
    .summary = "the emptiest spot (spread); small blast radius, but gangs starve as whole nodes vanish",
    .score = score,
};
