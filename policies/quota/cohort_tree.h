/* policies/quota/cohort_tree.h -- quotas that a tree of cohorts lends on: what is whose, what is used, what is left.
 *
 * Words, per resource.  `quota` of a queue: its nominal (deserved) amount and what its children lend.  `kept`: the
 * part of the quota it lends to nobody.  `usage`: its own charge and what its children use beyond what
 * they keep.  `available`: what more it could be charged.  `potential`: what it could ever hold.  A queue borrows
 * when its usage exceeds its quota.  Every queue under QUEUE_ROOT is the top of a tree of its own and borrows from
 * nobody.
 *
 *   kept(q) = max(0, quota(q) - lending_limit(q));  0 without a lending limit
 *   quota(q) = deserved(q) + sum over children (quota(c) - kept(c))
 *   usage(q) = own charge + sum over children max(0, usage(c) - kept(c))
 *   available(top) = quota - usage
 *   available(q) = max(0, kept - usage) + min(available(parent), quota - kept - max(0, usage - kept) +
 * borrowing_limit)
 *   potential(top) = quota;  potential(q) = min(quota + borrowing_limit, kept + potential(parent))
 *
 * Source: Kueue, pkg/cache/scheduler/resource_node.go, where usage is kept by adding and removing along the
 * path; here it is that sum in closed form, so that the ledger's plain sums suffice and trials undo it.
 * An unlimited quota of a leaf means that the resource is not under quota there (AMOUNT_ANY); of an inner queue
 * it counts as nothing of its own, for that is the default of CPUs and memory.
 *
 * Law: quota, kept and potential stand as of the last cohort_refresh.
 */
#ifndef POLICIES_COHORT_TREE_H
#define POLICIES_COHORT_TREE_H

#include "policies/queues/queues.h"
#include "policies/quota/amounts.h"

struct cohort_state { /* the policy's own state of each queue */
    int64_t quota[RESOURCE_COUNT];
    int64_t kept[RESOURCE_COUNT];
    int64_t preemption_bound[RESOURCE_COUNT];
    bool is_kept_below[RESOURCE_COUNT]; /* some queue below keeps something */
    uint8_t height;                     /* of the tree below it; 0: nothing is below */
    uint32_t version;                   /* of the tree when last refreshed; in the root's alone */
};

/* As if sign * amounts were charged to `queue` besides. */
struct cohort_change {
    queue_id queue; /* QUEUE_NONE: no change */
    const int64_t *amounts;
    int sign;
};
#define COHORT_AS_IS ((struct cohort_change){.queue = QUEUE_NONE})

/* The dominant resource share: of what could be lent to it, the largest part that it borrows; without and with its
 * weight. */
struct cohort_share {
    struct ratio plain, weighted;
};

/* True if the table was set since; then O(queues), else O(1). */
bool cohort_refresh(struct queue_tree *tree);

/* The hook of policies/quota/quota.h. */
void cohort_archive(struct archive *archive, void *own);

static inline const struct cohort_state *cohort_state(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

static inline bool cohort_is_top(const struct queue_tree *tree, queue_id queue)
{
    return tree->queues[queue].parent == QUEUE_ROOT;
}

/* O(1) where nothing below keeps quota for itself, else O(queues below). */
int64_t cohort_usage(const struct queue_tree *tree, queue_id queue, enum resource resource,
                     struct cohort_change change);

/* May be negative.  *binds: the queue whose bound it is; as long as nothing is taken away below that
 * one, it does not grow.  O(depth x siblings) at most. */
int64_t cohort_available(const struct queue_tree *tree, queue_id queue, enum resource resource, queue_id *binds);

bool cohort_is_borrowing(const struct queue_tree *tree, queue_id queue, enum resource resource,
                         struct cohort_change change);

/* Does all that is asked fit the quota of some queue from `leaf` to `top`, as `change` has it?  The lowest such, or
 * QUEUE_NONE. */
queue_id cohort_entitled(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t *ask,
                         struct cohort_change change);

struct cohort_share cohort_share(const struct queue_tree *tree, queue_id queue, struct cohort_change change);

/* By weighted share; of weight 0 borrows an infinite one, and such are compared without it. */
int cohort_share_compare(struct cohort_share a, struct cohort_share b);

#endif
