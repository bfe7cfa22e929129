/* policies/preemption/preemption_read.h -- eviction out of a policy file; docs/policies.md has the table. */
#ifndef POLICIES_PREEMPTION_READ_H
#define POLICIES_PREEMPTION_READ_H

#include "base/json.h"
#include "policies/preemption/preemption.h"

/* Borrowers, low priority, small and young first; node by node; two minutes of grace, five of minimum run time. */
struct preemption_config preemption_config_default(void);

/* Read the "preemption" object; keys: the registry of victim keys (policies/util/choose.h).  An absent one (node NULL)
 * and absent fields leave what is there.  Fails through the sticky error. */
void preemption_config_read(struct preemption_config *config, const struct preemption_policy **policy,
                            const void *policies, const void *keys, const struct json_value *value);

#endif
