/* policies/preemption/preemption_read.h -- reads the "preemption" object of a policy file; docs/policies.md has the
 * table. */
#ifndef POLICIES_PREEMPTION_READ_H
#define POLICIES_PREEMPTION_READ_H

#include "base/json.h"
#include "policies/preemption/preemption.h"

/* The defaults: borrowers first, then low priority, small and young jobs; a search node by node; two minutes of grace
 * and five of minimum run time. */
struct preemption_config preemption_config_default(void);

/* Read the "preemption" object; keys: the registry of victim keys (policies/util/choose.h).  If it is absent
 * (node NULL), or a field is, the values stay as they are.  Fails through the sticky error. */
void preemption_config_read(struct preemption_config *config, const struct preemption_policy **policy,
                            const void *policies, const void *keys, const struct json_value *value);

#endif
