/* fairshare.  A tree of queues, each with a deserved share, a limit and an over-quota weight.
 *
 * Idea: everybody gets what it deserves as far as it asks; what is left goes, by queue priority, then by
 * weight, to those who ask more; borrowed space may be taken back by whoever is under its share.
 * Source: the published behaviour of NVIDIA's KAI scheduler (its "proportion" plug-in), for GPUs.
 * Departures: GPUs only; shares are floored to whole GPUs while dividing by weight, as there; the rest
 * is dealt in pieces of at most one GPU.  Cost: O(children) a division, O(1) a comparison.
 * Known failure: with weight 0 a queue never gets more than it deserves; if deserved shares sum to more than
 * the cluster, phase 1 hands out more than there is and the order decides.
 */
#include "policies/quota/quota.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t deserved(const struct queue_tree *tree, queue_id queue)
{
    int64_t milli = queue_tree_spec(tree, queue)->deserved_milli;
    return milli == QUOTA_UNLIMITED ? tree->capacity_milli : milli;
}

/* What it could use: what it asks, up to its limit. */
static int64_t requestable(const struct queue_tree *tree, queue_id queue)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit_milli;
    int64_t demand = tree->queues[queue].demand_milli;
    return limit == QUOTA_UNLIMITED ? demand : smaller(demand, limit);
}

/* What it may hold without borrowing. */
static int64_t allocatable(struct queue_tree *tree, queue_id queue)
{
    int64_t limit = queue_tree_spec(tree, queue)->limit_milli;
    int64_t due = larger(deserved(tree, queue), queue_tree_share(tree, queue));
    return limit == QUOTA_UNLIMITED ? due : smaller(due, limit);
}

static int64_t *fraction_of(const struct queue_tree *tree, queue_id queue)
{
    return (int64_t *)tree->scratch + tree->scratch_capacity + queue;
}

static bool is_hungry(const struct queue_tree *tree, queue_id queue, int32_t priority)
{
    const struct queue_spec *spec = queue_tree_spec(tree, queue);
    return spec->priority == priority && spec->over_quota_weight_milli > 0 &&
           tree->queues[queue].share_milli < requestable(tree, queue);
}

#define EACH_CHILD(tree, parent, c)                                                                \
    queue_id c = (tree)->queues[parent].first_child;                                               \
    c != QUEUE_NONE;                                                                               \
    c = (tree)->queues[c].next_sibling

/* One pass of phase 2 among one priority: give by weight, floored to whole GPUs.  True if some child took
 * less than its part, so that the others must be asked again. */
static bool give_by_weight(struct queue_tree *tree, queue_id parent, int32_t priority,
                           int64_t *left)
{
    int64_t weights = 0, amount = *left;
    for (EACH_CHILD(tree, parent, c))
        if (is_hungry(tree, c, priority))
            weights += queue_tree_spec(tree, c)->over_quota_weight_milli;
    bool again = false;
    if (weights == 0)
        return false;
    for (EACH_CHILD(tree, parent, c)) {
        if (!is_hungry(tree, c, priority))
            continue;
        __int128 part = (__int128)amount * queue_tree_spec(tree, c)->over_quota_weight_milli;
        int64_t fair = (int64_t)(part / weights);
        int64_t room = requestable(tree, c) - tree->queues[c].share_milli;
        int64_t given = room <= fair ? room : fair / GPU_MILLI * GPU_MILLI;
        *fraction_of(tree, c) = room <= fair ? 0 : fair - given;
        again |= room < fair;
        tree->queues[c].share_milli += given;
        *left -= given;
    }
    return again;
}

/* Phase 3: what flooring left, at most one GPU each, largest remainder first, then the older queue. */
static void deal_rest(struct queue_tree *tree, queue_id parent, int32_t priority, int64_t *left)
{
    while (*left > 0) {
        queue_id best = QUEUE_NONE;
        for (EACH_CHILD(tree, parent, c))
            if (is_hungry(tree, c, priority) && *fraction_of(tree, c) > 0 &&
                (best == QUEUE_NONE || *fraction_of(tree, c) > *fraction_of(tree, best)))
                best = c;
        if (best == QUEUE_NONE)
            return;
        int64_t room = requestable(tree, best) - tree->queues[best].share_milli;
        int64_t given = smaller(smaller(GPU_MILLI, room), *left);
        tree->queues[best].share_milli += given;
        *fraction_of(tree, best) = 0;
        *left -= given;
    }
}

/* The highest priority below `above` among the children; false if there is none. */
static bool next_priority(const struct queue_tree *tree, queue_id parent, int64_t above,
                          int32_t *priority)
{
    int64_t best = INT64_MIN;
    for (EACH_CHILD(tree, parent, c)) {
        int32_t p = queue_tree_spec(tree, c)->priority;
        if (p < above && p > best)
            best = p;
    }
    *priority = (int32_t)best;
    return best != INT64_MIN;
}

static void divide(struct queue_tree *tree, queue_id parent, int64_t total)
{
    int64_t left = total;
    for (EACH_CHILD(tree, parent, c)) {
        tree->queues[c].share_milli = smaller(deserved(tree, c), requestable(tree, c));
        *fraction_of(tree, c) = 0;
        left -= tree->queues[c].share_milli;
    }
    int32_t priority;
    for (int64_t above = INT64_MAX; left > 0 && next_priority(tree, parent, above, &priority);
         above = priority)
        while (left > 0 && give_by_weight(tree, parent, priority, &left))
            continue;
    for (int64_t above = INT64_MAX; left > 0 && next_priority(tree, parent, above, &priority);
         above = priority)
        deal_rest(tree, parent, priority, &left);
}

/* a/x against b/y without division; a zero denominator counts as a very small one. */
static int compare_ratio(int64_t a, int64_t x, int64_t b, int64_t y)
{
    __int128 left = (__int128)a * (y == 0 ? 1 : y * 1000),
             right = (__int128)b * (x == 0 ? 1 : x * 1000);
    return left < right ? -1 : left > right;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    int64_t held_a = queue_tree_charged(tree, a.queue), held_b = queue_tree_charged(tree, b.queue);
    bool over_a = held_a > queue_tree_share(tree, a.queue),
         over_b = held_b > queue_tree_share(tree, b.queue);
    if (over_a != over_b)
        return over_a ? 1 : -1;
    bool starved_a = held_a + a.ask_milli <= deserved(tree, a.queue);
    bool starved_b = held_b + b.ask_milli <= deserved(tree, b.queue);
    if (starved_a != starved_b)
        return starved_a ? -1 : 1;
    int32_t priority_a = queue_tree_spec(tree, a.queue)->priority;
    int32_t priority_b = queue_tree_spec(tree, b.queue)->priority;
    if (priority_a != priority_b)
        return priority_a > priority_b ? -1 : 1;
    int64_t due_a = allocatable(tree, a.queue), due_b = allocatable(tree, b.queue);
    int order = compare_ratio(held_a + a.ask_milli, due_a, held_b + b.ask_milli, due_b);
    if (order == 0)
        order = compare_ratio(held_a, due_a, held_b, due_b);
    if (order != 0)
        return order;
    if (due_a != due_b)
        return due_a < due_b ? -1 : 1;
    return a.queue < b.queue ? -1 : a.queue > b.queue;
}

static queue_id forbids(const struct queue_tree *tree, queue_id leaf,
                        const int64_t charge[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent) {
        const struct queue_spec *spec = queue_tree_spec(tree, q);
        if (charge[QUEUE_SUM_GPU] > 0 && spec->limit_milli != QUOTA_UNLIMITED &&
            queue_tree_charged(tree, q) + charge[QUEUE_SUM_GPU] > spec->limit_milli)
            return q;
    }
    return QUEUE_NONE;
}

static bool is_due(struct queue_tree *tree, queue_id leaf, const int64_t charge[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent)
        if (queue_tree_charged(tree, q) + charge[QUEUE_SUM_GPU] > allocatable(tree, q))
            return false;
    return true;
}

static bool is_borrowing(struct queue_tree *tree, queue_id queue)
{
    return queue_tree_charged(tree, queue) > allocatable(tree, queue);
}

const struct quota_policy quota_fairshare = {
    .name = "fairshare",
    .version = 1,
    .summary =
        "a tree with deserved shares, limits and weights; idle shares are lent and taken back",
    .forbids = forbids,
    .compare = compare,
    .divide = divide,
    .is_due = is_due,
    .is_borrowing = is_borrowing,
};
