/* policies/quota/cohort_tree.h -- quotas in a tree of cohorts that lend to each other: quota, usage, and what is left.
 *
 * Words, for each resource.  `quota` of a queue: its nominal (deserved) amount plus what its children lend.  `kept`:
 * the part of the quota that it does not lend.  `usage`: its own charge plus what its children use beyond what they
 * keep.  `available`: how much more it may be charged.  `potential` (Kueue: potential available): the most that it
 * could ever hold.  A queue borrows if its usage exceeds its quota.  Every child of QUEUE_ROOT is the top of its own
 * tree and cannot borrow.
 *
 *   kept(q) = max(0, quota(q) - lending_limit(q));  0 without a lending limit
 *   quota(q) = deserved(q) + sum over children (quota(c) - kept(c))
 *   usage(q) = own charge + sum over children max(0, usage(c) - kept(c))
 *   available(top) = quota - usage
 *   available(q) = max(0, kept - usage)
 *                  + min(available(parent), quota - kept - max(0, usage - kept) + borrowing_limit)
 *   potential(top) = quota;  potential(q) = min(quota + borrowing_limit, kept + potential(parent))
 *
 * Source: Kueue, pkg/cache/scheduler/resource_node.go.  There usage is updated along the path; here it is computed from
 * the ledger's sums in closed form, so that trials undo it.
 * An unlimited quota of a leaf means that the resource is not under quota there (AMOUNT_ANY).  For an inner queue it
 * means that it has nothing of its own, since that is the default of CPUs and memory.
 *
 * Law: quota, kept and potential are as of the last cohort_refresh.
 */
#ifndef POLICIES_COHORT_TREE_H
#define POLICIES_COHORT_TREE_H

#include "policies/queues/queues.h"
#include "policies/quota/amounts.h"

struct cohort_state { /* the policy's state of each queue */
    int64_t quota[RESOURCE_COUNT];
    int64_t kept[RESOURCE_COUNT];
    int64_t potential_available[RESOURCE_COUNT];
    bool is_kept_below[RESOURCE_COUNT]; /* some queue below keeps quota */
    uint8_t height;                     /* of the tree below it; 0: no queue is below */
    uint32_t version;                   /* of the tree at the last refresh; only in the root's state */
};

/* A hypothetical change: sign * amounts more are charged to `queue`. */
struct cohort_change {
    queue_id queue; /* QUEUE_NONE: no change */
    const int64_t *amounts;
    int sign;
};
#define COHORT_AS_IS ((struct cohort_change){.queue = QUEUE_NONE})

/* The dominant resource share: the largest ratio, over the resources, of what the queue borrows to what could be lent
 * to it; without and with its weight. */
struct cohort_share {
    struct ratio plain, weighted;
};

/* Compute the state again if the table was set since the last call.  True: it was.  Then O(queues), else O(1). */
bool cohort_refresh(struct queue_tree *tree);

/* Is the queue `above`, or below it? */
bool cohort_is_below(const struct queue_tree *tree, queue_id queue, queue_id above);

static inline const struct cohort_state *cohort_state(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

/* Is no queue above it but the root?  The root itself counts: its jobs have nobody to reclaim from. */
static inline bool cohort_is_top(const struct queue_tree *tree, queue_id queue)
{
    return queue == QUEUE_ROOT || tree->queues[queue].parent == QUEUE_ROOT;
}

/* The usage of the queue.  O(1) if no queue below keeps quota, else O(queues below). */
int64_t cohort_usage(const struct queue_tree *tree, queue_id queue, enum resource resource,
                     struct cohort_change change);

/* What is available to the queue; may be negative.  *binds: the queue whose bound applies; the result does not grow
 * before less is charged below that queue.  O(depth * siblings) at most. */
int64_t cohort_available(const struct queue_tree *tree, queue_id queue, enum resource resource, queue_id *binds);

bool cohort_is_borrowing(const struct queue_tree *tree, queue_id queue, enum resource resource,
                         struct cohort_change change);

/* The lowest queue from `leaf` to `top` that is, with `change`, within its quota of every resource asked; QUEUE_NONE:
 * none. */
queue_id cohort_entitled(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t *ask,
                         struct cohort_change change);

struct cohort_share cohort_share(const struct queue_tree *tree, queue_id queue, struct cohort_change change);

/* Compares weighted shares.  A queue of weight 0 that borrows has an infinite share; two infinite shares are compared
 * without weight. */
int cohort_share_compare(struct cohort_share a, struct cohort_share b);

#endif
