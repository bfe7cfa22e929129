/* first-fit.  Takes the first node with room, in the order of the cluster file.
 * Works if that order has a meaning (e.g. fill rack by rack).  Small jobs go to any node with room, so few whole nodes
 * stay free for gangs.
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
