/* none.  All jobs wait in one leaf queue; the order alone decides.
 * Works for one team.  With several teams, the team that submits most gets most.  Cost: nothing. */
#include "policies/quota/quotas.h"

const struct quota_policy quota_none = {
    .name = "none",
    .version = 1,
    .summary = "one queue for all jobs, the order alone decides.  Works for one team; with several, "
               "the team that submits most gets most",
    .is_flat = true,
};
