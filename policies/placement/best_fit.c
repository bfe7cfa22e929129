/* best-fit.  Take the spot that leaves least behind: the fullest GPU that has the share, else the fullest node.
 * Keeps whole nodes free for gangs; packs tenants close, so a node failure hits more of them, and leaves
 * slivers when requests are odd.
 * Source: folklore of memory allocation (Knuth, TAOCP 1, 2.5), applied to GPUs.  Cost: O(1) a spot. */
#include "policies/placement/placements.h"

int64_t placement_fit_score(const struct spot *spot)
{
    /* A share goes to a GPU already shared before a whole one is broken; then the fullest node. */
    return -((int64_t)spot->gpu_left * (NODE_GPUS_MAX + 1) + (spot->node_free > 0 ? spot->node_free : 0));
}

const struct placement_policy placement_best_fit = {
    .name = "best_fit",
    .version = 1,
    .summary = "the fullest spot with room; keeps whole nodes free for gangs, leaves slivers when "
               "requests are odd",
    .score = placement_fit_score,
    .prefers_full = true,
};
