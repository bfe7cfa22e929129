/* cohort.  Queues lend each other quota within cohorts, as in Kueue.
 *
 * Idea: a job is admitted if it fits in what its queue has available: its own quota, and what others of its cohort or
 * of cohorts above leave idle, up to its borrowing limit and their lending limits (cohort_tree.h).  A queue takes back
 * what it is entitled to from queues that borrow, as far as reclaim_within_cohort allows.
 *   Classical: the job that borrows less far up the tree goes first, then priority, then age.
 *   Fair sharing: the smaller dominant resource share with the job goes first, at each level; then priority and age.
 * Evictions: see cohort_reclaim.h.
 * Source: Kueue, pkg/cache/scheduler/{resource_node,fair_sharing}.go and pkg/scheduler/preemption. Reads:
 * fair_sharing, reclaim_within_cohort, borrow_within_cohort, borrow_max_priority, strategies, firm_needs_quota; of
 * queues deserved (the nominal quota), borrowing_limit, lending_limit, limit, over-quota weight. Departures: one
 * flavor per resource; `limit` bounds charges too.  How far up a job borrows is computed in the present state, also for
 * a job that must evict; Kueue computes it with its victims gone.  If nothing is lendable, the share is infinite, not
 * 0.  "Within nominal" is tested at the compared level, not at the leaf, because of the loop in Kueue's issue 3779.
 * Under lower_priority no job of equal priority is taken, even for a job that fits its queue's own quota.
 * Cost: O(depth) a test or a comparison; O(queues below) instead where lending is limited. Known failure: quotas that
 * sum to less than the cluster leave the rest idle; a queue under no cohort never borrows.
 */
#include "policies/quota/cohort_reclaim.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"

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
    return (struct cohort_change){contender.leaf, contender.ask, 1};
}

/* How far up the contender borrows: the height of the lowest queue, from its leaf up, that stays within its quota of
 * the resource with the job.  If none does, the height of the top of the tree. */
static uint32_t borrow_level(const struct queue_tree *tree, struct contender contender, enum resource r)
{
    queue_id q = contender.leaf;
    while (!cohort_is_top(tree, q) && cohort_is_borrowing(tree, q, r, with(contender)))
        q = tree->queues[q].parent;
    return cohort_state(tree, q)->height;
}

static uint32_t highest_level(const struct queue_tree *tree, struct contender contender)
{
    uint32_t highest = 0;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (contender.ask[r] <= 0)
            continue;
        uint32_t level = borrow_level(tree, contender, r);
        highest = level > highest ? level : highest;
    }
    return highest;
}

static int compare_jobs(struct contender a, struct contender b)
{
    if (a.priority != b.priority)
        return a.priority > b.priority ? -1 : 1;
    return (a.submit > b.submit) - (a.submit < b.submit);
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    int order;
    if (tree->config->fair_sharing) {
        order = cohort_share_compare(cohort_share(tree, a.queue, with(a)), cohort_share(tree, b.queue, with(b)));
    } else {
        uint32_t level_a = highest_level(tree, a), level_b = highest_level(tree, b);
        order = (level_a > level_b) - (level_a < level_b);
    }
    if (order == 0)
        order = compare_jobs(a, b);
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

static bool is_leaf(const struct queue_tree *tree, queue_id queue)
{
    return tree->queues[queue].first_child == QUEUE_NONE;
}

static int compare_victims(struct queue_tree *tree, struct contender a, struct contender b)
{
    if (!tree->config->fair_sharing)
        return compare(tree, b, a);
    int order =
        cohort_share_compare(cohort_share(tree, b.queue, COHORT_AS_IS), cohort_share(tree, a.queue, COHORT_AS_IS));
    return order != 0 ? order : is_leaf(tree, a.queue) - is_leaf(tree, b.queue);
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
    .summary = "nominal quotas lent within cohorts up to borrowing and lending limits, and taken back; "
               "what no quota covers stays idle",
    .reads_queue = QUEUE_READS_ALL(QUEUE_QUOTA) | QUEUE_READS_ALL(QUEUE_BORROWING) | QUEUE_READS_ALL(QUEUE_LENDING) |
                   QUEUE_READS_ALL(QUEUE_WEIGHT) | QUEUE_READS(QUEUE_AGE),
    .reads_job = JOB_READS(JOB_FIELD_PRIORITY),
    .state_size = sizeof(struct cohort_state),
    .forbids = forbids,
    .compare = compare,
    .compare_victims = compare_victims,
    .may_reclaim = cohort_may_reclaim,
    .may_take = cohort_may_take,
    .is_valid = cohort_is_valid,
    .advance = advance,
    .lending = {.compares_jobs = true,
                .looks_above = true,
                .rounds = cohort_rounds,
                .suffices = cohort_suffices,
                .keeps = cohort_keeps},
};
