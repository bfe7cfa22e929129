/* policies/quota/guarantee.h -- guarantees: space that is kept for queues even while they are idle.
 *
 * Words.  The need of a queue for a resource is the larger of its guarantee and its charge; for queues below with a
 * guarantee, their needs count in place of their charges.  An inner queue is guaranteed at least the sum of its
 * children; an unlimited guarantee counts as none.
 *
 * Law: no job starts that makes the needs of a queue's children exceed its limit, or those of the top queues the
 * cluster.  But a queue is never blocked within its own guarantee.
 *
 * The policies capacity and proportion use it: guarantee_state is their state of each queue, and they call
 * guarantee_refresh in every advance.
 */
#ifndef POLICIES_GUARANTEE_H
#define POLICIES_GUARANTEE_H

#include "policies/queues/queues.h"
#include "policies/quota/amounts.h"

struct guarantee_state {
    int64_t amounts[RESOURCE_COUNT];
    uint32_t version; /* of the tree at the last refresh; only in the root's state */
};

static inline int64_t guarantee_of(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    return ((const struct guarantee_state *)queue_tree_own(tree, queue))->amounts[r];
}

/* As quota_policy.advance.  True: the table or the cluster's capacity changed; then O(queues), else O(1). */
bool guarantee_refresh(struct queue_tree *tree, time_ns now, time_ns *next);

/* The hook of the same name. */

/* The queue that has no room for this much more in `leaf`; QUEUE_NONE: all have.  O(depth) without guarantees, else
 * O(queues). */
queue_id guarantee_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* Without the unit, would every queue from `leaf` to `top` still hold its guarantee of the unit's resources? */
bool guarantee_spares(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t unit[QUEUE_SUM_COUNT]);

#endif
