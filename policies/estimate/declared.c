/* declared.  A job runs as long as it was estimated; the limit counts where there is no estimate, and bounds it.
 * Cost: O(1).  Works as well as the estimates are.  Known failure: a job that was underestimated delays those who were
 * promised its space. */
#include "policies/estimate/estimates.h"

static time_ns length(time_ns limit, time_ns estimate, const struct policy_own *own)
{
    (void)own;
    return estimate < limit ? estimate : limit;
}

const struct estimate_policy estimate_declared = {
    .name = "declared",
    .version = 1,
    .summary = "the estimate, at most the limit; short waits if it is true, broken promises if it "
               "is too short",
    .length = length,
};
