/* none.  No job overtakes by time: a job that does not fit blocks the rest or is skipped, as `blocking` says.
 * Cost: none.  Known failure: `strict` idles the space that the head cannot use; under `skip` large jobs starve. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_none = {
    .name = "none",
    .version = 1,
    .summary = "no planned starts: works if all jobs are small, or if evictions make room",
};
