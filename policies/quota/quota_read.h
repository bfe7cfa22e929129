/* policies/quota/quota_read.h -- reads the quota policy and its parameters; docs/policies.md has the table. */
#ifndef POLICIES_QUOTA_READ_H
#define POLICIES_QUOTA_READ_H

#include "base/json.h"
#include "policies/quota/quota.h"

/* No past usage, no hysteresis; cohorts never reclaim. */
struct quota_config quota_config_default(void);

/* Read "quota": the name of a policy of `registry` (policies/util/choose.h), or an object with "policy" and parameters.
 * If it is absent (node NULL), the values stay as they are.  Fails through the sticky error. */
void quota_config_read(struct quota_config *config, const struct quota_policy **policy, const void *registry,
                       const struct json_value *value);

#endif
