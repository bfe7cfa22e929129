/* policies/quota/guarantee.h -- guarantees: space that is kept for queues even while they are idle.
 *
 * Words.  The need of a queue for a resource is the larger of its guarantee and its charge; for queues below with a
 * guarantee, their needs count in place of their charges.  An inner queue is guaranteed at least the sum of its
 * children; an unlimited guarantee counts as none.
 *
 * Law: no job starts that makes the needs of a queue's children exceed its limit, or those of the top queues the
 * cluster.  But a queue is never blocked within its own guarantee.
 *
 * Reclaim.  A policy says what a queue is due of a resource and which jobs it is entitled to (struct guarantee_rule).
 * A job takes from others if its queue, and each queue above it up to the level where the two are compared, is entitled
 * to it.  The victim's queue, and each above it up to that level, must hold more than its due of a resource that both
 * use before the unit is taken, and its guarantee after.
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

/* What the policies differ in. */
struct guarantee_rule {
    int64_t (*due)(struct queue_tree *tree, queue_id queue, enum resource r);
    /* more: 1 adds the ask to the charge; 0: it is charged already. */
    bool (*is_entitled)(struct queue_tree *tree, queue_id queue, const int64_t *ask, int more);
};

/* The quota: amount_forbids, then the law above.  O(depth) without guarantees, else O(queues). */
queue_id guarantee_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* The hooks of the same names. */
bool guarantee_may_take(struct queue_tree *tree, const struct taking *taking, const struct guarantee_rule *rule);
bool guarantee_is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t *ask, const queue_id *touched,
                        uint32_t touched_count, const struct guarantee_rule *rule);

/* <0: a goes first: it has the higher queue priority, the smaller part of its due (`fill`), or is older. */
int guarantee_compare(struct queue_tree *tree, queue_id a, queue_id b,
                      struct ratio (*fill)(struct queue_tree *tree, queue_id queue));

#endif
