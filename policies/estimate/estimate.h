/* policies/estimate/estimate.h -- the seam "how long": which of the lengths that a job declares is believed.
 *
 * What plans in time (policies/forecast.c) asks here.  What a job really runs is nowhere in the scheduler; a simulator may
 * write estimates of its own into jobs before they are submitted.
 *
 * A policy is one const struct; add it to policies/registry.c.
 */
#ifndef POLICIES_ESTIMATE_H
#define POLICIES_ESTIMATE_H

#include "base/time.h"

struct estimate_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    /* Run time, of what was declared (each TIME_NEVER if it was not); TIME_NEVER: not known.  Pure. */
    time_ns (*length)(time_ns limit, time_ns estimate);
};

extern const struct estimate_policy *const estimate_policies[]; /* NULL-terminated */

#endif
