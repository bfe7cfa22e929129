/* policies/quota/division.h -- how the fair share divides one resource among siblings.
 *
 * Words.  The requestable amount of a queue is its demand up to its limit.  Its deserved amount is its quota, or the
 * whole total if that is unlimited.  A child is unsatisfied if its share is less than its requestable amount.  Shares
 * are rounded to a unit: a GPU, a CPU core, a GiB.
 *
 *   phase 1   share = min(deserved, requestable); the rest may be negative, since quotas may sum to more than the total
 *   phase 2   by queue priority, high to low, in passes.  In a pass each unsatisfied child is due a part of what was
 *             left at its beginning, by its weight (and its past usage).  A child that asks less gets what it asks, and
 *             what it leaves is divided again.  A child that asks more gets whole units of its part
 *   phase 3   by queue priority, what rounding left: at most a unit each, the largest remainder first, then the older
 *
 * Laws
 *  - Everything is exact: parts are compared as integer fractions in 128 bits.
 *  - The shares do not depend on the order of the children, nor on earlier states.
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
