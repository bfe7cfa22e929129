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

static int64_t due(struct queue_tree *tree, queue_id queue, enum resource r)
{
    return amount_deserved(tree, queue, r);
}

/* The largest held / deserved of the resources that are not unlimited; 1 if something is held of a resource of which
 * nothing is deserved. */
static struct ratio share(struct queue_tree *tree, queue_id queue)
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
    return guarantee_compare(tree, a.queue, b.queue, share);
}

/* Does some resource that is asked and not unlimited stay within what the queue deserves?  more: 1 adds the ask to the
 * charge; 0: it is charged already. */
static bool is_entitled(struct queue_tree *tree, queue_id queue, const int64_t *ask, int more)
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

static const struct guarantee_rule rule = {.due = due, .is_entitled = is_entitled};

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    return is_entitled(tree, leaf, ask, 1);
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    return guarantee_may_take(tree, taking, &rule);
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    return guarantee_is_valid(tree, preemptor, ask, touched, touched_count, &rule);
}

const struct quota_policy quota_capacity = {
    .name = "capacity",
    .version = 1,
    .summary = "explicit deserved amounts and guarantees, the rest borrowed and taken back; says "
               "nothing of how borrowers divide it",
    .reads_queue = QUEUE_READS_ALL(QUEUE_QUOTA) | QUEUE_READS_ALL(QUEUE_GUARANTEE) | QUEUE_READS(QUEUE_PRIORITY) |
                   QUEUE_READS(QUEUE_AGE),
    .state_size = sizeof(struct guarantee_state),
    .forbids = guarantee_forbids,
    .compare = compare,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = guarantee_refresh,
};
