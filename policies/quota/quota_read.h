/* policies/quota/quota_read.h -- the quota and its parameters out of a policy file; docs/policies.md has the table. */
#ifndef POLICIES_QUOTA_READ_H
#define POLICIES_QUOTA_READ_H

#include "base/json.h"
#include "policies/quota/quota.h"

/* No past usage, no hysteresis; cohorts never reclaim. */
struct quota_config quota_config_default(void);

/* Read "quota", the name of a policy of `registry` (policies/util/choose.h) or an object with "policy" and parameters;
 * when absent (node NULL) what is there stays.  Fails through the sticky error. */
void quota_config_read(struct quota_config *config, const struct quota_policy **policy, const void *registry,
                       const struct json_value *value);

#endif
