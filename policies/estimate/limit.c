/* limit.  A job runs as long as its limit lets it; the estimate counts where there is no limit.
 * Source: Slurm and Maui plan with the wall-time limit.  Cost: O(1).
 * Works where jobs are killed at their limit: no plan can be broken.  Known failure: limits are many times too long, so
 * that what is planned comes much earlier and holes look too short. */
#include "policies/estimate/estimates.h"

static time_ns length(time_ns limit, time_ns estimate, const struct policy_own *own)
{
    (void)own;
    return limit != TIME_NEVER ? limit : estimate;
}

const struct estimate_policy estimate_limit = {
    .name = "limit",
    .version = 1,
    .summary = "the limit, else the estimate; safe where jobs are killed at it, and mostly far too long",
    .length = length,
};
