/* capacity.  The spec says what each queue deserves; any queue may use the rest until its owner needs it.
 *
 * Idea: a queue may borrow up to its limit (Volcano's capability) as long as the guarantees of others stay free.
 * Order: a queue that stays within what it deserves with its job goes before a queue that borrows; then higher queue
 * priority; then the smaller share, which is the largest ratio of held to deserved over the resources.  A queue that
 * deserves nothing has share 1 whatever it holds, so that it neither goes first nor changes its place all the time.
 * Reclaim: a job may take from others if some resource that it asks stays within what its queue deserves.  The victim's
 * queue must hold more than it deserves of a resource that both use before the unit is taken, and its guarantee after.
 * Source: the capacity plugin of Volcano (pkg/scheduler/plugins/capacity).
 * Reads: firm_needs_quota; of queues deserved, guarantee, limit, priority.  An unlimited resource
 * counts for no share and entitles no job, unless all that the job asks is unlimited.
 * Departures: Volcano orders by priority and share alone; then a queue that lost a large job to an owner could go
 * before the owner in the next cycle.  Both sides are tested at every level below the one they have in common, and
 * again after trimming.  An inner queue that deserves 0 deserves its children's sum.  Guarantees bound what all others
 * hold together, not each.
 * Cost: O(depth) a test, O(queues) if there are guarantees; O(1) a comparison.
 * Known failure: a job that asks little of a resource of which its queue deserves much is entitled even if it is over
 * quota in the others; only the comparison of shares in the after-state stops a chain of such reclaims.
 */
#include "policies/quota/guarantee.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_id limit = amount_forbids(tree, leaf, ask);
    return limit != QUEUE_NONE ? limit : guarantee_forbids(tree, leaf, ask);
}

/* The largest held / deserved of the resources that are not unlimited; 1 if something is held of a resource of which
 * nothing is deserved. */
static struct ratio share(const struct queue_tree *tree, queue_id queue)
{
    struct ratio most = RATIO_ZERO;
    bool is_empty = true;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t deserved = amount_deserved(tree, queue, r);
        int64_t held = queue_tree_charged(tree, queue, r);
        if (deserved == AMOUNT_ANY)
            continue;
        is_empty &= deserved == 0;
        most = ratio_larger(most, deserved == 0 ? (struct ratio){held > 0, 1} : (struct ratio){held, deserved});
    }
    return is_empty ? (struct ratio){1, 1} : most;
}

/* With the ask, would the queue hold no more than it deserves of each resource that is asked? */
static bool is_within(const struct queue_tree *tree, struct contender contender)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (contender.ask[r] > 0 &&
            queue_tree_charged(tree, contender.queue, r) + contender.ask[r] > amount_deserved(tree, contender.queue, r))
            return false;
    return true;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    bool within_a = is_within(tree, a), within_b = is_within(tree, b);
    if (within_a != within_b)
        return within_a ? -1 : 1;
    int32_t priority_a = queue_tree_spec(tree, a.queue)->priority;
    int32_t priority_b = queue_tree_spec(tree, b.queue)->priority;
    if (priority_a != priority_b)
        return priority_a > priority_b ? -1 : 1;
    int order = ratio_compare(share(tree, a.queue), share(tree, b.queue));
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

/* Does some resource that is asked and not unlimited stay within what the queue deserves?  more: 1 adds the ask to the
 * charge; 0: it is charged already. */
static bool is_entitled(const struct queue_tree *tree, queue_id queue, const int64_t *ask, int more)
{
    bool is_said = false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t deserved = amount_deserved(tree, queue, r);
        if (ask[r] <= 0 || deserved == AMOUNT_ANY)
            continue;
        is_said = true;
        if (queue_tree_charged(tree, queue, r) + more * ask[r] <= deserved)
            return true;
    }
    return !is_said;
}

static bool is_entitled_up_to(const struct queue_tree *tree, queue_id leaf, queue_id top, const int64_t *ask, int more)
{
    queue_id q = leaf;
    while (is_entitled(tree, q, ask, more) && q != top)
        q = tree->queues[q].parent;
    return q == top && is_entitled(tree, q, ask, more);
}

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    return is_entitled(tree, leaf, ask, 1);
}

/* Does the queue hold more than it deserves of a resource that both use? */
static bool is_over(const struct queue_tree *tree, queue_id queue, const struct taking *taking)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (amount_is_disputed(taking, r) && queue_tree_charged(tree, queue, r) > amount_deserved(tree, queue, r))
            return true;
    return false;
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id preemptor_top, victim_top;
    if (!amount_levels(tree, taking->preemptor, taking->victim, &preemptor_top, &victim_top) ||
        !is_entitled_up_to(tree, taking->preemptor, preemptor_top, taking->preemptor_ask, 1))
        return false;
    for (queue_id q = taking->victim;; q = tree->queues[q].parent) {
        if (!is_over(tree, q, taking))
            return false;
        if (q == victim_top)
            return guarantee_spares(tree, taking->victim, victim_top, taking->victim_unit);
    }
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] != preemptor && amount_levels(tree, preemptor, touched[i], &mine, &its) &&
            !is_entitled_up_to(tree, preemptor, mine, ask, 0))
            return false;
    }
    return true;
}

const struct quota_policy quota_capacity = {
    .name = "capacity",
    .version = 1,
    .summary = "explicit deserved amounts and guarantees, the rest borrowed and taken back; says "
               "nothing of how borrowers divide it",
    .reads_queue = QUEUE_READS_ALL(QUEUE_QUOTA) | QUEUE_READS_ALL(QUEUE_GUARANTEE) | QUEUE_READS(QUEUE_PRIORITY) |
                   QUEUE_READS(QUEUE_AGE),
    .state_size = sizeof(struct guarantee_state),
    .forbids = forbids,
    .compare = compare,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = guarantee_refresh,
};
