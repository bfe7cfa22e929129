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

/* The queue without room for the growth of one resource.  more: by how much the need of the queue grows; growth that a
 * guarantee covers does not reach the parent. */
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
    queue_id forbids = amount_forbids(tree, leaf, ask);
    for (enum resource r = 0; r < RESOURCE_COUNT && forbids == QUEUE_NONE; r++)
        forbids = forbids_one(tree, leaf, r, ask[r]);
    return forbids;
}

static bool is_entitled_up_to(struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t *ask, int more,
                              const struct guarantee_rule *rule)
{
    for (queue_id q = leaf; rule->is_entitled(tree, q, ask, more); q = tree->queues[q].parent)
        if (q == top)
            return true;
    return false;
}

/* May the queue lose the unit: does it hold more than its due of a resource that both use, and its guarantee of each
 * resource after? */
static bool may_lose(struct queue_tree *tree, queue_id queue, const struct taking *taking,
                     const struct guarantee_rule *rule)
{
    bool is_over = false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        const int64_t held = queue_tree_charged(tree, queue, r), unit = taking->victim_unit[r];
        is_over |= amount_is_disputed(taking, r) && held > rule->due(tree, queue, r);
        if (unit > 0 && held - unit < guarantee_of(tree, queue, r))
            return false;
    }
    return is_over;
}

bool guarantee_may_take(struct queue_tree *tree, const struct taking *taking, const struct guarantee_rule *rule)
{
    queue_id preemptor_top, q = taking->victim, victim_top;
    if (!amount_levels(tree, taking->preemptor, q, &preemptor_top, &victim_top) ||
        !is_entitled_up_to(tree, taking->preemptor, preemptor_top, taking->preemptor_ask, 1, rule))
        return false;
    while (may_lose(tree, q, taking, rule)) {
        if (q == victim_top)
            return true;
        q = tree->queues[q].parent;
    }
    return false;
}

bool guarantee_is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t *ask, const queue_id *touched,
                        uint32_t touched_count, const struct guarantee_rule *rule)
{
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] != preemptor && amount_levels(tree, preemptor, touched[i], &mine, &its) &&
            !is_entitled_up_to(tree, preemptor, mine, ask, 0, rule))
            return false;
    }
    return true;
}

int guarantee_compare(struct queue_tree *tree, queue_id a, queue_id b,
                      struct ratio (*fill)(struct queue_tree *tree, queue_id queue))
{
    const int32_t priority_a = queue_tree_spec(tree, a)->priority, priority_b = queue_tree_spec(tree, b)->priority;
    if (priority_a != priority_b)
        return priority_a > priority_b ? -1 : 1;
    const int order = ratio_compare(fill(tree, a), fill(tree, b));
    return order != 0 ? order : queue_tree_compare_age(tree, a, b);
}
