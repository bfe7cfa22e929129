/* spread.  Places a job's members on as many different nodes as possible; strict_spread: each on its own node, or the
 * job waits.  Only members of this job count: among nodes that hold equally many of them, the fullest with room is
 * taken, so that whole nodes stay free for gangs.
 * Works for replicas that must not fail together.  Jobs that communicate much run slowly.  Under strict_spread a job
 * with more members than nodes waits for ever.
 * Source: Ray, placement groups SPREAD and STRICT_SPREAD (docs.ray.io, "Placement groups").
 * Cost: O(nodes that hold members of the job) a member. */
#include "policies/placement/placements.h"

enum { FIT_BITS = 16 };

/* One member of the job on the node weighs more than any score of best_fit. */
static int64_t score(const struct spot *spot)
{
    return placement_fit_score(spot) - ((int64_t)spot->members_here << FIT_BITS);
}

static int64_t score_strictly(const struct spot *spot)
{
    return spot->members_here > 0 ? SPOT_NEVER : placement_fit_score(spot);
}

const struct placement_policy placement_spread = {
    .name = "spread",
    .version = 1,
    .summary = "a job's members on as many nodes as can be; for replicas that must not fail together, "
               "slow for jobs that talk",
    .score = score,
    .looks_at_nodes = true,
    .bound = placement_fit_score,
};

const struct placement_policy placement_strict_spread = {
    .name = "strict_spread",
    .version = 1,
    .summary = "each member of a job on a node of its own, or none; a job of more members than nodes "
               "waits for ever",
    .score = score_strictly,
    .looks_at_nodes = true,
    .bound = placement_fit_score,
};
