/* policies/idle/idles.h -- the idle policies there are. */
#ifndef POLICIES_IDLES_H
#define POLICIES_IDLES_H

#include "policies/idle/idle.h"

/* What all of them start from; assumed.  Notebook services stop after 30 minutes to some hours without activity. */
#define IDLE_DEFAULTS                                                                                                  \
    .threshold_milli = 50, .classes = 1 << JOB_INTERACTIVE, .window = 1800 * TIME_NS_PER_S,                            \
    .grace = 600 * TIME_NS_PER_S, .rest = 1800 * TIME_NS_PER_S

extern const struct idle_policy idle_none, idle_tell, idle_reclaim;

#endif
