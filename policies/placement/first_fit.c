/* first-fit.  Take the first node, in the order of the cluster file, that has room.
 * Works when order carries meaning (e.g. fill rack by rack); scatters small jobs over half-full nodes and so
 * breaks up whole nodes that gangs need.
 * Source: folklore of memory allocation (Knuth, TAOCP 1, 2.5), applied to GPUs.  Cost: O(1) a spot. */
#include "policies/placement/placements.h"

static int64_t score(const struct spot *spot)
{
    (void)spot;
    return 0;
}

const struct placement_policy placement_first_fit = {
    .name = "first_fit",
    .version = 1,
    .summary = "the lowest node with room; simple and stable, but breaks up whole nodes under a "
               "mixed load",
    .score = score,
};
