/* none.  Nobody overtakes by time: what does not fit holds up the rest, or is skipped, as `blocking` says.
 * Cost: none.  Known failure: strict, it idles what the head cannot use; skipping, large jobs starve. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_none = {
    .name = "none",
    .version = 1,
    .summary = "no plan in time: works where everything is small, or where evictions make room",
};
