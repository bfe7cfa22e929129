/* drf.  Dominant resource fairness over a tree of queues.
 *
 * Idea: the share of a queue is the largest part of the cluster that it holds, over the resources, divided by its
 * weight; the smallest share goes first.  If an inner queue were judged by what its children hold together, a child
 * that cannot grow, or asks another resource, would starve its siblings.  So the children that still ask are scaled
 * down to the smallest dominant share among them before they are added up.  A queue that asks nothing more (saturated)
 * counts in full and goes last.
 * Reclaim: from a queue whose share without the victim stays at or above the preemptor's share with its job.
 * Source: Ghodsi et al., "Dominant Resource Fairness", NSDI'11; Bhattacharya et al., "Hierarchical Scheduling for
 * Diverse Datacenter Workloads", SoCC'13; the drf plugin of Volcano (pkg/scheduler/plugins/drf).
 * Reads: firm_needs_quota; of queues the over-quota weight of each resource, limit; what they deserve only for that
 * flag.
 * Departures: shares are exact, so Volcano's slack of 10^-6 is equality.  A queue that asks a resource of which nothing
 * is free does not count as saturated: that would make the order depend on other queues.  The scaled sum is rounded
 * down to a unit.  Reclaim uses what the queues hold, unscaled, since a scaled share may not grow with what is taken.
 * Cost: O(queues below) a comparison, O(depth) a test.
 * Known failure: no queue owns anything; a queue that comes late takes its part from all others.  A queue of weight 0
 * goes last and reclaims nothing.
 */
#include "policies/quota/amounts.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

/* The largest part of the cluster that the amounts are, over the resources. */
static struct ratio part(struct queue_tree *tree, const int64_t amounts[RESOURCE_COUNT])
{
    struct ratio most = RATIO_ZERO;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (amounts[r] > 0)
            most = ratio_larger(most, (struct ratio){amounts[r], queue_tree_share(tree, QUEUE_ROOT, r)});
    return most;
}

/* As above, divided by the queue's weights; infinite if a weight is 0. */
static struct ratio weighted(struct queue_tree *tree, queue_id queue, const int64_t amounts[RESOURCE_COUNT])
{
    struct ratio most = RATIO_ZERO;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t weight = queue_tree_spec(tree, queue)->weight_milli[r];
        __int128 whole = (__int128)queue_tree_share(tree, QUEUE_ROOT, r) * weight;
        most = ratio_larger(most, (struct ratio){weight == 0 ? 1 : amounts[r], whole});
    }
    return most;
}

static bool is_saturated(const struct queue_tree *tree, queue_id queue)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (tree->queues[queue].demand[r] > queue_tree_charged(tree, queue, r))
            return false;
    return true;
}

/* The smallest part among the children that hold something and still ask; 1 if there is none. */
static struct ratio smallest_part(struct queue_tree *tree, queue_id queue, int64_t (*held)[RESOURCE_COUNT])
{
    struct ratio least = {1, 1};
    for (EACH_CHILD(tree, queue, c)) {
        struct ratio own = part(tree, held[c]);
        if (own.part > 0 && !is_saturated(tree, c) && ratio_compare(own, least) < 0)
            least = own;
    }
    return least;
}

/* Set held[queue] to what the queue counts as holding.  Jobs of an inner queue itself count in full. */
static void count_held(struct queue_tree *tree, queue_id queue, int64_t (*held)[RESOURCE_COUNT])
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        held[queue][r] = queue_tree_charged(tree, queue, r);
    for (EACH_CHILD(tree, queue, c))
        count_held(tree, c, held);
    struct ratio least = smallest_part(tree, queue, held);
    for (EACH_CHILD(tree, queue, c)) {
        struct ratio own = part(tree, held[c]);
        bool is_scaled = own.part > 0 && own.whole > 0 && !is_saturated(tree, c);
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            __int128 counted = held[c][r];
            if (is_scaled && counted > 0) /* amounts times parts fit: below 10^38 */
                counted = counted * least.part * own.whole / (least.whole * own.part);
            held[queue][r] += (int64_t)counted - queue_tree_charged(tree, c, r);
        }
    }
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    int64_t(*held)[RESOURCE_COUNT] = tree->scratch; /* three amounts for each queue */
    bool saturated_a = is_saturated(tree, a.queue), saturated_b = is_saturated(tree, b.queue);
    if (saturated_a != saturated_b)
        return saturated_a ? 1 : -1;
    count_held(tree, a.queue, held);
    count_held(tree, b.queue, held);
    int order = ratio_compare(weighted(tree, a.queue, held[a.queue]), weighted(tree, b.queue, held[b.queue]));
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

/* The share that the queue would have with sign * amounts more. */
static struct ratio share_with(struct queue_tree *tree, queue_id queue, const int64_t *amounts, int sign)
{
    int64_t held[RESOURCE_COUNT];
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        held[r] = amount_larger(0, queue_tree_charged(tree, queue, r) + sign * amounts[r]);
    return weighted(tree, queue, held);
}

/* A queue of weight 0 reclaims nothing. */
static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent)
        if (ratio_is_infinite(share_with(tree, q, ask, 1)))
            return false;
    return true;
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id preemptor_top, victim_top;
    return amount_levels(tree, taking->preemptor, taking->victim, &preemptor_top, &victim_top) &&
           ratio_compare(share_with(tree, preemptor_top, taking->preemptor_ask, 1),
                         share_with(tree, victim_top, taking->victim_unit, -1)) <= 0;
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] != preemptor && amount_levels(tree, preemptor, touched[i], &mine, &its) &&
            ratio_compare(share_with(tree, mine, ask, 0), share_with(tree, its, ask, 0)) > 0)
            return false;
    }
    return true;
}

const struct quota_policy quota_drf = {
    .name = "drf",
    .version = 1,
    .summary = "the smallest dominant share first, and evened out by reclaim; nothing is anybody's own",
    .reads_queue = QUEUE_READS_ALL(QUEUE_WEIGHT) | QUEUE_READS(QUEUE_AGE),
    .forbids = amount_forbids,
    .compare = compare,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
};
