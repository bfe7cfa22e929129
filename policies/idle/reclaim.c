/* reclaim.  An idle job that may be preempted is told, and after the grace it is evicted; it saves its work if it can,
 * rests, and waits in its queue again.
 * Source: idle GPU reclamation as schedulers for notebooks do it (Kubeflow's notebook culler, Run:ai's idle
 * preemption); the doubling of grace and rest is ours.
 * Cost: O(1) for a measurement, O(holdings) for an eviction.  Known failure: a user who comes back a minute later waits
 * for GPUs; a job that works below the threshold is taken for an idle one. */
#include "policies/idle/idles.h"

const struct idle_policy idle_reclaim = {
    .name = "reclaim",
    .version = 1,
    .summary = "after a warning, idle jobs are evicted; gives GPU hours back, disturbs users who come back late",
    .tells = true,
    .reclaims = true,
    .defaults = {IDLE_DEFAULTS},
};
