#include "policies/quota/amounts.h"
#include "policies/quota/quota_config.h"

int ratio_compare(struct ratio a, struct ratio b)
{
    if (ratio_is_infinite(a) || ratio_is_infinite(b))
        return (int)ratio_is_infinite(a) - (int)ratio_is_infinite(b);
    __int128 left = a.part == 0 ? 0 : a.part * (b.part == 0 ? 1 : b.whole);
    __int128 right = b.part == 0 ? 0 : b.part * (a.part == 0 ? 1 : a.whole);
    return left < right ? -1 : left > right;
}

int64_t amount_deserved(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    int64_t own = queue_tree_spec(tree, queue)->deserved[r], sum = 0;
    if (own == QUOTA_UNLIMITED)
        return AMOUNT_ANY;
    if (own != 0)
        return own;
    for (EACH_CHILD(tree, queue, c))
        sum = amount_sum(sum, amount_deserved(tree, c, r));
    return sum;
}

queue_id amount_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; tree->config->firm_needs_quota && q != QUEUE_ROOT; q = tree->queues[q].parent)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            int64_t non_preemptible = ask[RESOURCE_COUNT + r];
            if (non_preemptible > 0 &&
                queue_tree_non_preemptible(tree, q, r) + non_preemptible > amount_deserved(tree, q, r))
                return q;
        }
    return QUEUE_NONE;
}

bool amount_is_disputed(const struct taking *taking, enum resource resource)
{
    bool is_nothing = true;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        is_nothing &= taking->victim_unit[r] == 0;
    return taking->preemptor_ask[resource] > 0 && (is_nothing || taking->victim_unit[resource] > 0);
}

bool amount_levels(const struct queue_tree *tree, queue_id preemptor, queue_id victim, queue_id *preemptor_top,
                   queue_id *victim_top)
{
    queue_tree_below_common(tree, preemptor, victim, preemptor_top, victim_top);
    return *preemptor_top != *victim_top;
}
