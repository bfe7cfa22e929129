/* policies/quota/guarantee.h -- space kept for queues even while they are idle.
 *
 * What a queue `needs` of a resource is the larger of what it is guaranteed and of what it and those below it are
 * charged, each guaranteed part below counted in full.  Law: nothing starts that makes the needs of the children of
 * a queue exceed its limit, or those of the top queues the cluster; but within its own guarantee a queue is never
 * held up. An inner queue is guaranteed at least what its children are together; an unlimited guarantee counts as
 * none.
 *
 * Used by the policies capacity and proportion: guarantee_state is their own state of each queue, and they call
 * guarantee_refresh in every advance.
 */
#ifndef POLICIES_GUARANTEE_H
#define POLICIES_GUARANTEE_H

#include "policies/queues/queues.h"
#include "policies/quota/amounts.h"

struct guarantee_state {
    int64_t amounts[RESOURCE_COUNT];
    uint32_t version; /* of the tree when last refreshed; in the root's alone */
};

static inline int64_t guarantee_of(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    return ((const struct guarantee_state *)queue_tree_own(tree, queue))->amounts[r];
}

/* As quota_policy.advance: true if the table or the cluster's capacity moved; then O(queues), else O(1). */
bool guarantee_refresh(struct queue_tree *tree, time_ns now, time_ns *next);

/* The hook of the same name. */
void guarantee_archive(struct archive *archive, void *own);

/* The queue that has no room for this much more in `leaf`: QUEUE_NONE: all have.  O(depth) where nothing is
 * guaranteed, else O(queues). */
queue_id guarantee_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* Would every queue from `leaf` to `top` still hold its guarantee without the unit?  Of the unit's resources. */
bool guarantee_spares(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t unit[QUEUE_SUM_COUNT]);

#endif
