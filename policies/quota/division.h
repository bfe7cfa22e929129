/* policies/quota/division.h -- how the fair share divides one resource among siblings.
 *
 * Words.  A queue's requestable is what it asks up to its limit; its deserved is its quota, the whole total when
 * unlimited; `unit` is what shares are rounded to: a GPU, a CPU core, a GiB.
 *
 *   phase 1   share = min(deserved, requestable); what is left may be negative: quotas may promise too much
 *   phase 2   by queue priority, high to low, in passes over what was left at the pass's begin: of it each hungry
 *             child is due a part as its weight (and its past usage) says; who asks less gets what it asks and the
 *             rest is divided again, who asks more gets whole units of it
 *   phase 3   by queue priority, what rounding left: at most a unit each, the largest remainder first, then the older
 *
 * Laws
 *  - Everything is exact: parts are compared as integer fractions in 128 bits.
 *  - The shares depend neither on the order of the children nor on what happened before.
 *
 * Cost: O(children) for each distinct priority and each pass, O(units * log children) in phase 3; no allocation.
 */
#ifndef POLICIES_QUOTA_DIVISION_H
#define POLICIES_QUOTA_DIVISION_H

#include "policies/quota/usage.h"

extern const int64_t division_unit[RESOURCE_COUNT];

/* The hook `divide` of policies/quota/quota.h. */
void division_divide(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total);

#endif
