/* The hooks of quota policies, watched: see sim/plugins/guard.h. */
#include "sim/plugins/guard_inside.h"

const char *guard_quota_complaint(int at, struct queue_tree *tree, queue_id *queue)
{
    HOOK(at, "complaint");
    const struct quota_policy *policy = slot->own->policy;
    const char *complaint = policy->homes.complaint(tree, queue);
    DONE;
    if (complaint != NULL && *queue >= tree->count) {
        guard_blame(slot, "complains of a queue that there is not");
        *queue = QUEUE_ROOT;
    }
    return complaint;
}

queue_id guard_quota_forbids(int at, struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    HOOK(at, "forbids");
    const struct quota_policy *policy = slot->own->policy;
    queue_id by = policy->forbids(tree, leaf, ask);
    DONE;
    if (by == QUEUE_NONE)
        return by;
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent)
        if (q == by)
            return by;
    guard_blame(slot, "forbids by a queue that is neither the leaf nor above it");
    return QUEUE_NONE;
}

const uint16_t *guard_quota_confines(int at, struct queue_tree *tree, queue_id leaf, const struct request_class *asked,
                                     queue_id *keeper)
{
    HOOK(at, "confines");
    const struct quota_policy *policy = slot->own->policy;
    const uint16_t *confine = policy->homes.confines(tree, leaf, asked, keeper);
    DONE;
    if (policy->homes.rows == NULL)
        *keeper = QUEUE_NONE;
    if (confine == NULL || !asked->is_preemptible)
        return confine;
    guard_blame(slot, "confines a request class that can be preempted");
    return NULL;
}

static int opposite(int order)
{
    return order < 0 ? 1 : order > 0 ? -1 : 0;
}

static int total_order(const struct guard_slot *slot, struct contender a, struct contender b, int order, int reversed)
{
    if (a.queue == b.queue)
        return order;
    if (order == 0)
        guard_blame(slot, "finds two queues equal: the last keys are the age, then the id");
    else if ((order < 0) == (reversed < 0))
        guard_blame(slot, "puts each of two queues before the other");
    else
        return order;
    return a.queue < b.queue ? -1 : 1;
}

int guard_quota_compare(int at, struct queue_tree *tree, struct contender a, struct contender b)
{
    HOOK(at, "compare");
    const struct quota_policy *policy = slot->own->policy;
    int order = policy->compare(tree, a, b);
    int reversed = a.queue == b.queue ? opposite(order) : policy->compare(tree, b, a);
    DONE;
    return total_order(slot, a, b, order, reversed);
}

int guard_quota_compare_victims(int at, struct queue_tree *tree, struct contender a, struct contender b)
{
    HOOK(at, "compare_victims");
    const struct quota_policy *policy = slot->own->policy;
    int order = policy->compare_victims(tree, a, b);
    int reversed = a.queue == b.queue ? opposite(order) : policy->compare_victims(tree, b, a);
    DONE;
    return total_order(slot, a, b, order, reversed);
}

static void check_share(const struct guard_slot *slot, struct queue_tree *tree, queue_id queue, enum resource resource)
{
    if (tree->queues[queue].share[resource] >= 0)
        return;
    guard_blame(slot, "gave a queue a negative share");
    tree->queues[queue].share[resource] = 0;
}

void guard_quota_divide(int at, struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total)
{
    HOOK(at, "divide");
    const struct quota_policy *policy = slot->own->policy;
    policy->divide(tree, parent, resource, total);
    DONE;
    for (EACH_CHILD(tree, parent, child))
        check_share(slot, tree, child, resource);
}

bool guard_quota_may_reclaim(int at, struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    HOOK(at, "may_reclaim");
    const struct quota_policy *policy = slot->own->policy;
    bool may = policy->may_reclaim(tree, leaf, ask);
    DONE;
    return may;
}

bool guard_quota_may_take(int at, struct queue_tree *tree, const struct taking *taking)
{
    HOOK(at, "may_take");
    const struct quota_policy *policy = slot->own->policy;
    bool may = policy->may_take(tree, taking);
    DONE;
    return may;
}

bool guard_quota_is_valid(int at, struct queue_tree *tree, queue_id gainer, const int64_t ask[QUEUE_SUM_COUNT],
                          const queue_id *touched, uint32_t touched_count)
{
    HOOK(at, "is_valid");
    const struct quota_policy *policy = slot->own->policy;
    bool is_valid = policy->is_valid(tree, gainer, ask, touched, touched_count);
    DONE;
    return is_valid;
}

bool guard_quota_advance(int at, struct queue_tree *tree, time_ns now, time_ns *next)
{
    HOOK(at, "advance");
    const struct quota_policy *policy = slot->own->policy;
    bool has_moved = policy->advance(tree, now, next);
    DONE;
    if (*next <= now) {
        guard_blame(slot, "wants to be called again at a time that has passed");
        *next = TIME_NEVER;
    }
    return has_moved;
}
