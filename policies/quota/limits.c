/* limits.  Static quotas: a queue never holds more than its own, and nothing is lent.
 *
 * Idea: at every level a queue may hold, of each resource, the smaller of what it deserves and its limit.  The queue
 * that uses the smallest part of that goes first.  This is what users of fixed quotas expect: their quota is free for
 * them whatever others do, and what they leave idle stays idle.
 * Source: the ResourceQuota of Kubernetes and the GrpTRES of Slurm, which bound what is held and do not lend.
 * Departures: one amount, where those have requests, limits and scopes; an inner queue that deserves 0 is
 * bounded by its children's sum and its limit.  Reads: no parameter.
 * Cost: O(depth) a test, O(1) a comparison (O(queues below) for an inner queue that deserves 0).
 * Known failure: idle quota is lost; a leaf without a quota of GPUs starts nothing that needs one.
 */
#include "policies/quota/amounts.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

static int64_t bound(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit[r];
    int64_t deserved = amount_deserved(tree, queue, r);
    return limit == QUOTA_UNLIMITED ? deserved : amount_smaller(limit, deserved);
}

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            if (ask[r] > 0 && queue_tree_charged(tree, q, r) + ask[r] > bound(tree, q, r))
                return q;
    return QUEUE_NONE;
}

/* The largest part of its bound that the queue holds, over the resources; without a bound, the part of the cluster. */
static struct ratio fill(struct queue_tree *tree, queue_id queue)
{
    struct ratio most = RATIO_ZERO;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t whole = bound(tree, queue, r);
        if (whole == AMOUNT_ANY)
            whole = queue_tree_share(tree, QUEUE_ROOT, r);
        most = ratio_larger(most, (struct ratio){queue_tree_charged(tree, queue, r), whole});
    }
    return most;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    int order = ratio_compare(fill(tree, a.queue), fill(tree, b.queue));
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

const struct quota_policy quota_limits = {
    .name = "limits",
    .version = 1,
    .summary = "fixed quotas, nothing is lent: always there, and idle when its owner is",
    .reads_queue = QUEUE_READS_ALL(QUEUE_QUOTA) | QUEUE_READS(QUEUE_AGE),
    .forbids = forbids,
    .compare = compare,
};
