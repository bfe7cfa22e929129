/* proportion.  Each resource is divided among the queues by weight, up to what each can use (weighted max-min).
 *
 * Idea: the share of a queue is its weight times one common level, but not less than its guarantee, and not more than
 * it asks or its limit allows (Volcano's realCapability follows: the others get their guarantees).  First goes a queue
 * that stays within its share with the job, then one that the job would take beyond it, last one that has reached its
 * share of a resource that it asks.  Among equals the higher queue priority goes first, then the queue that holds the
 * smaller part of its share.
 * Reclaim: a job that stays within its queue's share may take from queues that hold more than theirs of a resource that
 * both use, before the unit is taken, and their guarantee after.
 * Source: the proportion plugin of Volcano (pkg/scheduler/plugins/proportion).
 * Reads: firm_needs_quota; of queues the over-quota weight, guarantee, limit, priority; not what they deserve.
 * Departures: it is hierarchical: a queue's share is the total of its children.  The level is computed exactly, not in
 * rounds that stop when nothing changes.  Each resource is divided separately.  Volcano starts no job of a queue over
 * its share; here such a queue goes last and what it borrowed can be taken back, so that no GPU stays idle.  Only the
 * resources that the job asks are tested, since the share of a plentiful resource is never reached.  A preemptor's
 * queue must be within its share with the job; Volcano's must only be below it, and then two queues take one GPU from
 * each other in turn (issues 377, 561).
 * Cost: O(children^2) a division at worst, O(1) a comparison, O(depth) a test.
 * Known failure: shares depend on what is asked, so a queue that submits more gets more, up to its weight.  A queue of
 * weight 0 gets only its guarantee.
 */
#include "policies/quota/guarantee.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

enum { OPEN = -1 }; /* a share that is not fixed yet */

struct split { /* the division of one resource among the children of one queue */
    struct queue_tree *tree;
    queue_id parent;
    enum resource resource;
    int64_t total;
};

/* The most that a child can use, or its guarantee if that is more. */
static int64_t most(const struct split *split, queue_id queue)
{
    const struct queue_tree *tree = split->tree;
    int64_t guarantee = guarantee_of(tree, queue, split->resource);
    int64_t limit = queue_tree_spec(tree, queue)->limit[split->resource];
    int64_t use = tree->queues[queue].demand[split->resource];
    if (limit != QUOTA_UNLIMITED)
        use = amount_smaller(use, limit);
    return amount_larger(use, guarantee);
}

/* Returns the sum of the weights of the open children.  *left: what is left for them. */
static int64_t sum_open(const struct split *split, int64_t *left)
{
    int64_t weights = 0;
    *left = split->total;
    for (EACH_CHILD(split->tree, split->parent, c)) {
        int64_t settled = split->tree->queues[c].share[split->resource];
        if (settled == OPEN)
            weights += queue_tree_spec(split->tree, c)->weight_milli[split->resource];
        else
            *left -= settled;
    }
    return weights;
}

static int64_t part_of(const struct split *split, queue_id queue, int64_t left, int64_t weights)
{
    int64_t weight = queue_tree_spec(split->tree, queue)->weight_milli[split->resource];
    return left <= 0 || weights == 0 ? 0 : (int64_t)((__int128)left * weight / weights);
}

static int64_t clipped(const struct split *split, queue_id queue, int64_t part)
{
    int64_t least = guarantee_of(split->tree, queue, split->resource);
    return amount_larger(amount_smaller(part, most(split, queue)), least);
}

/* One round: fix the share of each child whose bound applies at the final level for sure.  If raising parts to
 * guarantees takes more than cutting parts to what can be used frees, the level can only fall; then the raised children
 * are fixed.  Otherwise the cut children are fixed.  True: some are still open. */
static bool settle(const struct split *split)
{
    int64_t left, weights = sum_open(split, &left), excess = 0;
    bool is_open = false;
    for (EACH_CHILD(split->tree, split->parent, c))
        if (split->tree->queues[c].share[split->resource] == OPEN) {
            int64_t part = part_of(split, c, left, weights);
            excess += clipped(split, c, part) - part;
        }
    for (EACH_CHILD(split->tree, split->parent, c)) {
        int64_t *share = &split->tree->queues[c].share[split->resource];
        int64_t part = part_of(split, c, left, weights);
        if (*share != OPEN)
            continue;
        int64_t clip = clipped(split, c, part);
        if (excess == 0 || (excess > 0 ? clip > part : clip < part))
            *share = clip;
        else
            is_open = true;
    }
    return is_open;
}

static bool takes_more(const struct split *split, queue_id queue)
{
    return split->tree->queues[queue].share[split->resource] < most(split, queue) &&
           queue_tree_spec(split->tree, queue)->weight_milli[split->resource] != 0;
}

static void divide(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total)
{
    struct split split = {tree, parent, resource, total};
    int64_t left;
    for (EACH_CHILD(tree, parent, c))
        tree->queues[c].share[resource] = OPEN;
    while (settle(&split))
        continue;
    sum_open(&split, &left);
    uint32_t unsatisfied = 0; /* often none, and then the other queues are not read */
    for (EACH_CHILD(tree, parent, c))
        unsatisfied += takes_more(&split, c);
    /* The rest, one each; the oldest first. */
    for (uint32_t i = 0; i < tree->count && left > 0 && unsatisfied > 0; i++) {
        queue_id c = tree->by_age[i];
        if (tree->queues[c].parent != parent || !takes_more(&split, c))
            continue;
        tree->queues[c].share[resource]++;
        left--;
        unsatisfied--;
    }
}

enum standing { STANDS_WITHIN, STANDS_AT_EDGE, STANDS_OVER };

/* For the resources asked: is the queue within its share with the job, would the job take it beyond, or has it reached
 * its share already? */
static enum standing standing(struct queue_tree *tree, struct contender contender)
{
    enum standing worst = STANDS_WITHIN;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t share = queue_tree_share(tree, contender.queue, r);
        int64_t held = queue_tree_charged(tree, contender.queue, r);
        if (contender.ask[r] > 0 && held >= share)
            return STANDS_OVER;
        if (contender.ask[r] > 0 && held + contender.ask[r] > share)
            worst = STANDS_AT_EDGE;
    }
    return worst;
}

/* The largest held / share over the resources; 1 if something is held of a resource with share 0. */
static struct ratio fill(struct queue_tree *tree, queue_id queue)
{
    struct ratio largest = RATIO_ZERO;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t share = queue_tree_share(tree, queue, r), held = queue_tree_charged(tree, queue, r);
        largest = ratio_larger(largest, share == 0 ? (struct ratio){held > 0, 1} : (struct ratio){held, share});
    }
    return largest;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    enum standing standing_a = standing(tree, a), standing_b = standing(tree, b);
    if (standing_a != standing_b)
        return standing_a < standing_b ? -1 : 1;
    return guarantee_compare(tree, a.queue, b.queue, fill);
}

/* Do all resources asked stay within the share of the queue? */
static bool is_within(struct queue_tree *tree, queue_id queue, const int64_t *ask, int more)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (ask[r] > 0 && queue_tree_charged(tree, queue, r) + more * ask[r] > queue_tree_share(tree, queue, r))
            return false;
    return true;
}

static const struct guarantee_rule rule = {.due = queue_tree_share, .is_entitled = is_within};

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    return is_within(tree, leaf, ask, 1);
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

const struct quota_policy quota_proportion = {
    .name = "proportion",
    .version = 1,
    .summary = "each resource divided by weight up to the demand; a queue with more demand gets "
               "more, up to its weight",
    .reads_queue = QUEUE_READS_ALL(QUEUE_WEIGHT) | QUEUE_READS_ALL(QUEUE_GUARANTEE) | QUEUE_READS(QUEUE_PRIORITY) |
                   QUEUE_READS(QUEUE_AGE),
    .state_size = sizeof(struct guarantee_state),
    .forbids = guarantee_forbids,
    .compare = compare,
    .divide = divide,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = guarantee_refresh,
};
