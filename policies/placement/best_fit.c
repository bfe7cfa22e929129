/* best-fit.  Takes the spot with the least space left: the fullest GPU that can hold the share, else the fullest node.
 * Keeps whole nodes free for gangs.  Packs jobs close, so a node failure hits more of them, and leaves small unusable
 * shares if requests are of odd sizes.
 * Source: folklore of memory allocation (Knuth, TAOCP 1, 2.5), applied to GPUs.  Cost: O(1) a spot. */
#include "policies/placement/placements.h"

int64_t placement_fit_score(const struct spot *spot)
{
    /* The GPU with the least left goes first: a share prefers a GPU that is shared already.  Then the fullest node. */
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
