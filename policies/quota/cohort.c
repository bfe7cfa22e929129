/* cohort.  Quotas that queues lend each other within cohorts, as Kueue does it.
 *
 * Idea: a job is admitted if it fits what its queue has available: its own quota, and what others of its cohort, or
 * of cohorts above, leave idle, up to its borrowing limit and their lending limits (cohort_tree.h).  What was lent is
 * taken back by whoever is entitled to it, from queues that borrow, as far as reclaim_within_cohort allows.
 *   Classical: who would not borrow goes first.  Jobs of other queues are evicted for one that fits the quota of
 * its queue or of a cohort on the way to the common one; while borrowing only, with borrow_within_cohort, those of
 * lower priority up to borrow_max_priority.
 *   Fair sharing: the smaller dominant resource share with the job goes first, at each level.  A job of another queue
 * is evicted if the gainer's share with its job is at most the victim's without (final_share), or below the
 * victim's as it is (initial_share).  A gainer that does not borrow where the two are compared has share 0.
 * Source: Kueue, pkg/cache/scheduler/{resource_node,fair_sharing}.go and pkg/scheduler/preemption.
 * Reads: fair_sharing, reclaim_within_cohort, borrow_within_cohort, borrow_max_priority, strategies,
 * firm_needs_quota; of queues deserved (the nominal quota), borrowing_limit, lending_limit, limit, over-quota weight.
 * Departures: one flavor per resource; `limit` bounds charges besides; between jobs of equal standing Kueue asks
 * priority and age of the jobs, here their queues answer: the smaller share, the less used quota, the older.  How
 * deep in a cohort a job borrows is asked level by level.  Both strategies are asked of a victim at once, not in two
 * rounds.  What a queue keeps below a compared cohort is not credited to the job in its share.  A share of
 * nothing lendable is infinite, not 0.  Within nominal means at the compared level, not at the leaf, because of the
 * loop of Kueue's issue 3779.  Under lower_priority no equal is taken, even for a job that fits its queue's own quota.
 * Cost: O(depth) a test, O(1) a comparison; O(queues below) instead where lending is limited.
 * Known failure: quotas that sum to less than the cluster leave the rest idle; a queue under no cohort never borrows.
 */
#include "policies/quota/cohort_tree.h"
#include "policies/quota/quotas.h"

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    if (leaf == QUEUE_ROOT)
        return QUEUE_NONE; /* a job that names no queue is in no cohort */
    queue_id binds = amount_forbids(tree, leaf, ask);
    for (enum resource r = 0; r < RESOURCE_COUNT && binds == QUEUE_NONE; r++)
        if (ask[r] <= 0 || ask[r] <= cohort_available(tree, leaf, r, &binds))
            binds = QUEUE_NONE;
    return binds;
}

static struct cohort_change with(struct contender contender)
{
    return (struct cohort_change){contender.queue, contender.ask, 1};
}

/* The part of its quota that it would use. */
static struct ratio fill(const struct queue_tree *tree, struct contender contender)
{
    struct ratio most = RATIO_ZERO;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t quota = cohort_state(tree, contender.queue)->quota[r];
        int64_t usage = cohort_usage(tree, contender.queue, r, with(contender));
        if (quota != AMOUNT_ANY)
            most = ratio_larger(most, (struct ratio){usage, quota});
    }
    return most;
}

static bool is_borrower(const struct queue_tree *tree, struct contender contender)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (contender.ask[r] > 0 && !cohort_is_top(tree, contender.queue) &&
            cohort_is_borrowing(tree, contender.queue, r, with(contender)))
            return true;
    return false;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    bool borrows_a = is_borrower(tree, a), borrows_b = is_borrower(tree, b);
    if (!tree->config->fair_sharing && borrows_a != borrows_b)
        return borrows_a ? 1 : -1;
    int order = cohort_share_compare(cohort_share(tree, a.queue, with(a)),
                                     cohort_share(tree, b.queue, with(b)));
    if (order == 0)
        order = ratio_compare(fill(tree, a), fill(tree, b));
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

static int compare_victims(struct queue_tree *tree, struct contender a, struct contender b)
{
    int order = 0;
    if (tree->config->fair_sharing)
        order = cohort_share_compare(cohort_share(tree, b.queue, COHORT_AS_IS),
                                     cohort_share(tree, a.queue, COHORT_AS_IS));
    return order != 0 ? order : compare(tree, b, a);
}

static bool has_strategy(const struct queue_tree *tree, enum cohort_strategy strategy)
{
    for (int i = 0; i < COHORT_STRATEGIES_MAX; i++)
        if (tree->config->strategies[i] == strategy)
            return true;
    return false;
}

/* Does all that is asked fit the quota of some queue from `leaf` to `top`?  Then the job takes what is its own. */
static bool has_advantage(const struct queue_tree *tree, queue_id leaf, queue_id top,
                          const int64_t *ask, struct cohort_change change)
{
    for (queue_id q = leaf;; q = tree->queues[q].parent) {
        bool fits = true;
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            fits &= ask[r] <= 0 || !cohort_is_borrowing(tree, q, r, change);
        if (fits || q == top)
            return fits;
    }
}

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    if (tree->config->reclaim_within_cohort == RECLAIM_NEVER || cohort_is_top(tree, leaf))
        return false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (ask[r] > 0 && ask[r] > cohort_state(tree, leaf)->potential[r])
            return false;
    if (tree->config->fair_sharing || tree->config->borrow_within_cohort != RECLAIM_NEVER)
        return true;
    queue_id top = leaf;
    while (!cohort_is_top(tree, tree->queues[top].parent))
        top = tree->queues[top].parent;
    return has_advantage(tree, leaf, top, ask, (struct cohort_change){leaf, ask, 1});
}

/* Does every queue from the victim's to `top` borrow what is in dispute? */
static bool is_lent(const struct queue_tree *tree, const struct taking *taking, queue_id top)
{
    for (queue_id q = taking->victim;; q = tree->queues[q].parent) {
        bool borrows = false;
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            borrows |=
                amount_is_disputed(taking, r) && cohort_is_borrowing(tree, q, r, COHORT_AS_IS);
        if (!borrows || q == top)
            return borrows;
    }
}

static bool may_take_fair(const struct queue_tree *tree, const struct taking *taking,
                          queue_id gainer_top, queue_id victim_top)
{
    struct cohort_change gained = {taking->gainer, taking->gainer_ask, 1};
    struct cohort_change lost = {taking->victim, taking->victim_unit, -1};
    struct cohort_share gainer = cohort_share(tree, gainer_top, gained);
    if (gainer.plain.part == 0)
        return true;
    if (has_strategy(tree, STRATEGY_FINAL_SHARE) &&
        cohort_share_compare(gainer, cohort_share(tree, victim_top, lost)) <= 0)
        return true;
    return has_strategy(tree, STRATEGY_INITIAL_SHARE) &&
           cohort_share_compare(gainer, cohort_share(tree, victim_top, COHORT_AS_IS)) < 0;
}

static bool may_take_classical(const struct queue_tree *tree, const struct taking *taking,
                               queue_id gainer_top)
{
    const struct quota_config *config = tree->config;
    if (has_advantage(tree, taking->gainer, gainer_top, taking->gainer_ask,
                      (struct cohort_change){taking->gainer, taking->gainer_ask, 1}))
        return true;
    return config->borrow_within_cohort != RECLAIM_NEVER &&
           taking->victim_priority < taking->gainer_priority &&
           taking->victim_priority <= config->borrow_max_priority;
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id gainer_top, victim_top;
    const struct quota_config *config = tree->config;
    if (!amount_levels(tree, taking->gainer, taking->victim, &gainer_top, &victim_top) ||
        cohort_is_top(tree, gainer_top) || !is_lent(tree, taking, victim_top))
        return false;
    if (config->reclaim_within_cohort == RECLAIM_NEVER ||
        (config->reclaim_within_cohort == RECLAIM_LOWER_PRIORITY &&
         taking->victim_priority >= taking->gainer_priority))
        return false;
    return config->fair_sharing ? may_take_fair(tree, taking, gainer_top, victim_top)
                                : may_take_classical(tree, taking, gainer_top);
}

/* The shares after all: giving a victim of the gainer's own queue back may have raised the gainer's beyond those of
 * the others (Kueue's issue 14543).  What initial_share took cannot be told from here: that the gainer with its job
 * still goes before each victim with its own is what the engine asks of `compare`. */
static bool is_valid(struct queue_tree *tree, queue_id gainer, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    const struct quota_config *config = tree->config;
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] == gainer || !amount_levels(tree, gainer, touched[i], &mine, &its))
            continue;
        if (!config->fair_sharing) {
            if (config->borrow_within_cohort == RECLAIM_NEVER &&
                !has_advantage(tree, gainer, mine, ask, COHORT_AS_IS))
                return false;
            continue;
        }
        struct cohort_share share = cohort_share(tree, mine, COHORT_AS_IS);
        if (share.plain.part > 0 && !has_strategy(tree, STRATEGY_INITIAL_SHARE) &&
            cohort_share_compare(share, cohort_share(tree, its, COHORT_AS_IS)) > 0)
            return false;
    }
    return true;
}

static bool advance(struct queue_tree *tree, time_ns now, time_ns *next)
{
    (void)now;
    *next = TIME_NEVER;
    return cohort_refresh(tree);
}

const struct quota_policy quota_cohort = {
    .name = "cohort",
    .version = 1,
    .summary =
        "nominal quotas lent within cohorts up to borrowing and lending limits, and taken back; "
        "what no quota covers stays idle",
    .state_size = sizeof(struct cohort_state),
    .forbids = forbids,
    .compare = compare,
    .compare_victims = compare_victims,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = advance,
    .archive = cohort_archive,
};
