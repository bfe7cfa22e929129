/* slurm.  A periodic pass over the first `depth` jobs: a job that fits beside the planned starts of jobs before it
 * starts now; the others get planned starts for this pass.
 *
 * Source: Slurm's sched/backfill; bf_max_job_test is `depth` (500), bf_interval `interval_s` (30), bf_resolution
 * `resolution_s` (60), bf_window `window_s` (a day), bf_max_job_user `per_user` (0: no bound).
 * Departure: passes do not yield; unless any GPUs will do, planned starts name GPUs, where Slurm plans with nodes.  As
 * in Slurm, a job that would start beyond the window gets no planned start.
 * Cost: `depth` searches of the profile (policies/reservation/profile.h) a pass.
 * Known failure: a window shorter than the longest limit starves large jobs; one user may fill the depth. */
#include "policies/backfill/backfills.h"

const struct backfill_policy backfill_slurm = {
    .name = "slurm",
    .version = 1,
    .summary = "every interval_s the first `depth` jobs are planned within a window; bounded work, "
               "but jobs that start beyond the window are delayed without bound",
    .defaults = {.overtakes = true,
                 .reservations = BACKFILL_ALL,
                 .depth = 500,
                 .window = 86400 * TIME_NS_PER_S,
                 .resolution = 60 * TIME_NS_PER_S,
                 .interval = 30 * TIME_NS_PER_S},
};
