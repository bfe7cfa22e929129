#include "policies/quota/guarantee.h"

bool guarantee_refresh(struct queue_tree *tree, time_ns now, time_ns *next)
{
    struct guarantee_state *root = queue_tree_own(tree, QUEUE_ROOT);
    (void)now;
    *next = TIME_NEVER;
    if (root->version == tree->version)
        return false;
    root->version = tree->version;
    for (queue_id q = tree->count; q-- > 0;) /* children have the larger ids */
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            struct guarantee_state *state = queue_tree_own(tree, q);
            int64_t sum = 0;
            for (EACH_CHILD(tree, q, c))
                sum = amount_sum(sum, guarantee_of(tree, c, r));
            state->amounts[r] = amount_larger(queue_tree_spec(tree, q)->guarantee[r], sum);
        }
    return true;
}

/* The need of the queue. */
static int64_t need_of(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    int64_t need = queue_tree_charged(tree, queue, r), kept = guarantee_of(tree, queue, r);
    if (kept == 0)
        return need;
    for (EACH_CHILD(tree, queue, c))
        need += need_of(tree, c, r) - queue_tree_charged(tree, c, r);
    return amount_larger(need, kept);
}

static int64_t room_of(struct queue_tree *tree, queue_id queue, enum resource r)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit[r];
    if (queue == QUEUE_ROOT)
        return queue_tree_share(tree, QUEUE_ROOT, r);
    return limit == QUOTA_UNLIMITED ? AMOUNT_ANY : limit;
}

/* As guarantee_forbids, for one resource.  more: by how much the need of the queue grows; growth that a guarantee
 * covers does not reach the parent. */
static queue_id forbids_one(struct queue_tree *tree, queue_id leaf, enum resource r, int64_t more)
{
    for (queue_id q = leaf; more > 0; q = tree->queues[q].parent) {
        int64_t kept = guarantee_of(tree, q, r), held = queue_tree_charged(tree, q, r);
        if (kept > 0) {
            for (EACH_CHILD(tree, q, c))
                held += need_of(tree, c, r) - queue_tree_charged(tree, c, r);
            if (held + more > room_of(tree, q, r))
                return q;
        }
        more = amount_larger(held + more, kept) - amount_larger(held, kept);
        if (q == QUEUE_ROOT)
            break;
    }
    return QUEUE_NONE;
}

queue_id guarantee_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_id forbids = QUEUE_NONE;
    for (enum resource r = 0; r < RESOURCE_COUNT && forbids == QUEUE_NONE; r++)
        forbids = forbids_one(tree, leaf, r, ask[r]);
    return forbids;
}

bool guarantee_spares(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t unit[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf;; q = tree->queues[q].parent) {
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            if (unit[r] > 0 && queue_tree_charged(tree, q, r) - unit[r] < guarantee_of(tree, q, r))
                return false;
        if (q == top)
            return true;
    }
}
