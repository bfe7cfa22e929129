/* policies/estimate/estimates.h -- the estimate policies there are. */
#ifndef POLICIES_ESTIMATES_H
#define POLICIES_ESTIMATES_H

#include "policies/estimate/estimate.h"

extern const struct estimate_policy estimate_limit, estimate_declared, estimate_history;

#endif
