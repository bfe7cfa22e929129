#include "policies/quota/cohort_tree.h"

static int64_t nominal(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    int64_t deserved = queue_tree_spec(tree, queue)->deserved[r];
    if (deserved == QUOTA_UNLIMITED)
        return tree->queues[queue].first_child == QUEUE_NONE ? AMOUNT_ANY : 0;
    return deserved;
}

/* What the queue lends to its parent. */
static int64_t lent(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    const struct cohort_state *state = cohort_state(tree, queue);
    if (state->kept[r] == AMOUNT_ANY)
        return queue_tree_spec(tree, queue)->lending_limit[r];
    return state->quota[r] - state->kept[r];
}

/* Compute quota and kept of the queue.  Those of its children are computed. */
static void find_quota(struct queue_tree *tree, queue_id queue, enum resource r)
{
    struct cohort_state *state = queue_tree_own(tree, queue);
    int64_t lending = queue_tree_spec(tree, queue)->lending_limit[r];
    int64_t quota = nominal(tree, queue, r), kept = 0;
    state->is_kept_below[r] = false;
    for (EACH_CHILD(tree, queue, c)) {
        quota = amount_sum(quota, lent(tree, c, r));
        state->is_kept_below[r] |= cohort_state(tree, c)->kept[r] > 0 || cohort_state(tree, c)->is_kept_below[r];
    }
    if (lending != QUOTA_UNLIMITED)
        kept = quota == AMOUNT_ANY ? AMOUNT_ANY : amount_larger(0, quota - lending);
    state->quota[r] = quota;
    state->kept[r] = kept;
}

static void find_height(struct queue_tree *tree, queue_id queue)
{
    struct cohort_state *state = queue_tree_own(tree, queue);
    state->height = 0;
    for (EACH_CHILD(tree, queue, c))
        if (state->height <= cohort_state(tree, c)->height)
            state->height = (uint8_t)(cohort_state(tree, c)->height + 1);
}

/* Compute the potential of the queue.  That of its parent is computed. */
static void find_potential(struct queue_tree *tree, queue_id queue, enum resource r)
{
    struct cohort_state *state = queue_tree_own(tree, queue);
    int64_t borrowing = queue_tree_spec(tree, queue)->borrowing_limit[r];
    int64_t potential = state->quota[r];
    if (!cohort_is_top(tree, queue)) {
        const struct cohort_state *parent = cohort_state(tree, tree->queues[queue].parent);
        potential = amount_sum(state->kept[r], parent->potential_available[r]);
        if (borrowing != QUOTA_UNLIMITED)
            potential = amount_smaller(potential, amount_sum(state->quota[r], borrowing));
    }
    state->potential_available[r] = potential;
}

bool cohort_refresh(struct queue_tree *tree)
{
    struct cohort_state *root = queue_tree_own(tree, QUEUE_ROOT);
    if (root->version == tree->version)
        return false;
    root->version = tree->version;
    for (queue_id q = tree->count - 1; q > QUEUE_ROOT; q--)
        find_height(tree, q);
    for (queue_id q = tree->count - 1; q > QUEUE_ROOT; q--) /* children have the larger ids */
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            find_quota(tree, q, r);
    for (queue_id q = QUEUE_ROOT + 1; q < tree->count; q++)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            find_potential(tree, q, r);
    return true;
}

bool cohort_is_below(const struct queue_tree *tree, queue_id queue, queue_id above)
{
    while (tree->queues[queue].depth > tree->queues[above].depth)
        queue = tree->queues[queue].parent;
    return queue == above;
}

static int64_t charged(const struct queue_tree *tree, queue_id queue, enum resource r, struct cohort_change change)
{
    int64_t now = queue_tree_charged(tree, queue, r);
    if (change.queue != QUEUE_NONE && cohort_is_below(tree, change.queue, queue))
        now += change.sign * change.amounts[r];
    return now;
}

int64_t cohort_usage(const struct queue_tree *tree, queue_id queue, enum resource r, struct cohort_change change)
{
    int64_t usage = charged(tree, queue, r, change);
    if (!cohort_state(tree, queue)->is_kept_below[r])
        return usage;
    for (EACH_CHILD(tree, queue, c)) {
        int64_t beyond = cohort_usage(tree, c, r, change) - cohort_state(tree, c)->kept[r];
        usage += amount_larger(0, beyond) - charged(tree, c, r, change);
    }
    return usage;
}

int64_t cohort_available(const struct queue_tree *tree, queue_id queue, enum resource r, queue_id *binds)
{
    const struct cohort_state *state = cohort_state(tree, queue);
    int64_t usage = cohort_usage(tree, queue, r, COHORT_AS_IS);
    if (cohort_is_top(tree, queue)) {
        *binds = queue;
        return state->quota[r] - usage;
    }
    int64_t borrowing = queue_tree_spec(tree, queue)->borrowing_limit[r];
    int64_t above = cohort_available(tree, tree->queues[queue].parent, r, binds);
    if (borrowing != QUOTA_UNLIMITED && state->quota[r] != AMOUNT_ANY) {
        int64_t lent = state->quota[r] - state->kept[r];
        int64_t most = lent - amount_larger(0, usage - state->kept[r]) + borrowing;
        if (most < above) {
            above = most;
            *binds = queue;
        }
    }
    return amount_larger(0, state->kept[r] - usage) + above;
}

bool cohort_is_borrowing(const struct queue_tree *tree, queue_id queue, enum resource r, struct cohort_change change)
{
    return cohort_usage(tree, queue, r, change) > cohort_state(tree, queue)->quota[r];
}

queue_id cohort_entitled(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t *ask,
                         struct cohort_change change)
{
    for (queue_id q = leaf;; q = tree->queues[q].parent) {
        bool fits = true;
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            fits &= ask[r] <= 0 || !cohort_is_borrowing(tree, q, r, change);
        if (fits || q == top)
            return fits ? q : QUEUE_NONE;
    }
}

struct cohort_share cohort_share(const struct queue_tree *tree, queue_id queue, struct cohort_change change)
{
    struct cohort_share share = {RATIO_ZERO, RATIO_ZERO};
    if (cohort_is_top(tree, queue))
        return share;
    const struct cohort_state *state = cohort_state(tree, queue);
    const struct cohort_state *parent = cohort_state(tree, tree->queues[queue].parent);
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t borrowed = cohort_usage(tree, queue, r, change) - state->quota[r];
        int64_t lendable = parent->potential_available[r];
        if (borrowed <= 0 || lendable == AMOUNT_ANY)
            continue;
        struct ratio plain = {borrowed, lendable}, weighted = plain;
        weighted.whole *= queue_tree_spec(tree, queue)->weight_milli[r];
        share.plain = ratio_larger(plain, share.plain);
        share.weighted = ratio_larger(weighted, share.weighted);
    }
    return share;
}

int cohort_share_compare(struct cohort_share a, struct cohort_share b)
{
    int order = ratio_compare(a.weighted, b.weighted);
    if (order != 0 || !ratio_is_infinite(a.weighted))
        return order;
    return ratio_compare(a.plain, b.plain);
}
