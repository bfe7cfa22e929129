/* tell.  The submitter of an idle job is told, once in each idle time; nothing else happens.
 * Cost: O(1) for a measurement.  Known failure: a submitter who does not react; the simulated ones do not. */
#include "policies/idle/idles.h"

const struct idle_policy idle_tell = {
    .name = "tell",
    .version = 1,
    .summary = "submitters of idle jobs are told; works where they react",
    .tells = true,
    .defaults = {IDLE_DEFAULTS},
};
