/* fairshare.  A tree of queues, each with a deserved share, a limit, an over-quota weight and a priority.
 *
 * Idea: each queue gets what it deserves as far as it asks for it.  The rest goes, by queue priority and then by
 * weight, to the queues that ask more.  A queue below its share may take back what others borrow.  GPUs, CPUs and
 * memory are divided separately (policies/quota/division.h).  Past usage may count against a queue
 * (policies/quota/usage.h).
 * Source: the published behaviour of NVIDIA's KAI scheduler, its "proportion" plug-in. Reads of quota_config:
 * firm_needs_quota, saturation_milli, window, half_life, usage_weight_milli (k), share_period.
 *
 * Departures
 *  - Shares are rounded to whole GPUs, whole CPU cores and whole GiB; there CPUs and memory to the milli and the byte.
 *  - The comparison is total: "the smaller allocatable share goes first" looks at GPUs, then CPUs, then memory.
 *  - Victims are taken in the exact reverse of the admission order: a unit has the rank that it had when it was
 *    admitted.  So `held` is the queue's present charge without the unit, and `with the job` is its present charge.
 *    Units taken before are uncharged already, for the share and for all other keys.  In KAI only the share is reduced,
 *    so that a queue whose only surplus is one large unit still counts as over-utilised.
 *  - Usage is integrated exactly, not sampled, and enters the division in steps.
 *
 * Cost: a comparison O(depth) if nothing is stale, a division O(children * passes) for each level of the tree above
 * a queue whose demand changed; with past usage O(queues) per instant.
 *
 * Known failures
 *  - If deserved shares sum to more than the cluster has, phase 1 gives more than there is, and the order decides.
 *  - A queue of weight 0 is due only what it deserves.  It may still run on what is idle, since a share is not a limit.
 *  - Over-utilised means above its share in ALL resources.  An unlimited CPU or memory quota is a share as large as
 *    the demand, so that with the defaults the first key of the order never decides.
 *  - A victim's queue needs to be above its share in ONE resource only: a queue within its GPU share may lose GPUs
 *    because it has one core too many.
 *  - A reclaim within the preemptor's quota may take until the loser is at its quota, not at its fair share.
 *  - No planned starts: a large gang starves behind small jobs unless its queue is due the space.
 *  - A saturation multiplier below 1 would let two queues evict each other for ever; 1 stops them only just.
 */
#include "policies/quota/amounts.h"
#include "policies/quota/division.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

static bool is_within(int64_t amount, int64_t bound)
{
    return bound == QUOTA_UNLIMITED || amount <= bound;
}

/* The most that the queue may hold without borrowing.  Its share must be fresh. */
static int64_t allocatable(const struct queue_tree *tree, queue_id queue, enum resource r)
{
    const struct queue_spec *spec = queue_tree_spec(tree, queue);
    if (spec->deserved[r] == QUOTA_UNLIMITED)
        return spec->limit[r];
    int64_t share = tree->queues[queue].share[r];
    int64_t due = share > spec->deserved[r] ? share : spec->deserved[r];
    return spec->limit[r] == QUOTA_UNLIMITED ? due : amount_smaller(due, spec->limit[r]);
}

/* The values of a queue that the order compares. */
struct standing {
    queue_id queue;
    int64_t held[RESOURCE_COUNT], with_job[RESOURCE_COUNT];
    int64_t allocatable[RESOURCE_COUNT]; /* set when the later keys are needed */
};

/* held and with_job: the queue's charge plus these multiples of the job's request. */
static struct standing standing_of(const struct queue_tree *tree, struct contender contender, int held_sign,
                                   int with_job_sign)
{
    struct standing standing = {.queue = contender.queue};
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        int64_t charged = queue_tree_charged(tree, contender.queue, (enum resource)r);
        standing.held[r] = charged + held_sign * contender.ask[r];
        standing.with_job[r] = charged + with_job_sign * contender.ask[r];
    }
    return standing;
}

static void find_allocatable(const struct queue_tree *tree, struct standing *standing)
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        standing->allocatable[r] = allocatable(tree, standing->queue, (enum resource)r);
}

static bool is_over_utilised(const struct queue_tree *tree, const struct standing *s)
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (s->held[r] <= tree->queues[s->queue].share[r])
            return false;
    return true;
}

static bool is_starved_with_job(const struct queue_tree *tree, const struct standing *s)
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (!is_within(s->with_job[r], queue_tree_spec(tree, s->queue)->deserved[r]))
            return false;
    return true;
}

static bool holds_undue(const struct standing *s)
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (s->allocatable[r] == 0 && s->with_job[r] > 0)
            return true;
    return false;
}

/* The largest amount / allocatable over the resources; without a bound the cluster's total is allocatable.  If nothing
 * is allocatable, each unit held counts as 1000. */
static struct ratio dominant_share(const struct queue_tree *tree, const struct standing *s,
                                   const int64_t amounts[RESOURCE_COUNT])
{
    struct ratio largest = RATIO_ZERO;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        const bool is_bounded = s->allocatable[r] != QUOTA_UNLIMITED;
        struct ratio ratio = {amounts[r], is_bounded ? s->allocatable[r] : tree->capacity[r]};
        if (ratio.whole == 0)
            ratio = (struct ratio){amounts[r] * 1000, division_unit[r]};
        largest = ratio_larger(largest, ratio);
    }
    return largest;
}

static int compare_allocatable(const struct standing *a, const struct standing *b)
{
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        /* As an unsigned number QUOTA_UNLIMITED is the largest. */
        uint64_t left = (uint64_t)a->allocatable[r], right = (uint64_t)b->allocatable[r];
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

static int yes_first(bool a, bool b)
{
    return a == b ? 0 : a ? -1 : 1;
}

static int compare_standings(const struct queue_tree *tree, struct standing *a, struct standing *b)
{
    int order = yes_first(!is_over_utilised(tree, a), !is_over_utilised(tree, b));
    if (order == 0)
        order = yes_first(is_starved_with_job(tree, a), is_starved_with_job(tree, b));
    if (order == 0) {
        int32_t left = queue_tree_spec(tree, a->queue)->priority;
        int32_t right = queue_tree_spec(tree, b->queue)->priority;
        order = left > right ? -1 : left < right;
    }
    if (order != 0)
        return order;
    find_allocatable(tree, a);
    find_allocatable(tree, b);
    order = yes_first(!holds_undue(a), !holds_undue(b));
    if (order == 0)
        order = ratio_compare(dominant_share(tree, a, a->with_job), dominant_share(tree, b, b->with_job));
    if (order == 0)
        order = ratio_compare(dominant_share(tree, a, a->held), dominant_share(tree, b, b->held));
    if (order == 0)
        order = compare_allocatable(a, b);
    if (order == 0)
        order = queue_tree_compare_age(tree, a->queue, b->queue);
    return order;
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    queue_tree_divide(tree, a.queue); /* this divides for its sibling b too */
    struct standing left = standing_of(tree, a, 0, 1), right = standing_of(tree, b, 0, 1);
    return compare_standings(tree, &left, &right);
}

static int compare_victims(struct queue_tree *tree, struct contender a, struct contender b)
{
    queue_tree_divide(tree, a.queue);
    struct standing left = standing_of(tree, a, -1, 0), right = standing_of(tree, b, -1, 0);
    return compare_standings(tree, &right, &left);
}

/* With the ask, would the queue's non-preemptible charge exceed what it deserves in a resource that the ask has
 * non-preemptible?  is_charged: the ask is charged already. */
static bool breaks_quota(const struct queue_tree *tree, queue_id queue, const int64_t ask[QUEUE_SUM_COUNT],
                         bool is_charged)
{
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        int64_t non_preemptible = ask[RESOURCE_COUNT + r];
        int64_t after = queue_tree_non_preemptible(tree, queue, (enum resource)r) + (is_charged ? 0 : non_preemptible);
        if (non_preemptible > 0 && !is_within(after, queue_tree_spec(tree, queue)->deserved[r]))
            return true;
    }
    return false;
}

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    for (queue_id q = leaf; q != QUEUE_ROOT; q = tree->queues[q].parent)
        if (tree->config->firm_needs_quota && breaks_quota(tree, q, ask, false))
            return q;
    return QUEUE_NONE;
}

/* With the job, the queue must be within its fair share, and its non-preemptible charge within what it deserves. */
static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_tree_divide(tree, leaf);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (queue_tree_charged(tree, leaf, (enum resource)r) + ask[r] > tree->queues[leaf].share[r])
            return false;
    return !breaks_quota(tree, leaf, ask, false);
}

/* Tested just below the lowest common ancestor.  Either the victim's side holds more than it may without borrowing (it
 * keeps its fair share), or it holds more than it deserves while the preemptor's side stays within what that deserves
 * (quotas are guaranteed). */
static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id preemptor, victim;
    queue_tree_below_common(tree, taking->preemptor, taking->victim, &preemptor, &victim);
    if (preemptor == victim) /* one queue is above the other, which is no borrowing */
        return false;
    queue_tree_divide(tree, victim);
    const struct queue_spec *from = queue_tree_spec(tree, victim);
    bool is_above_quota = false, stays_within_quota = true;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        const int64_t remaining = queue_tree_charged(tree, victim, (enum resource)r);
        const int64_t gained = queue_tree_charged(tree, preemptor, (enum resource)r) + taking->preemptor_ask[r];
        if (!is_within(remaining, allocatable(tree, victim, (enum resource)r)))
            return true;
        is_above_quota |= !is_within(remaining, from->deserved[r]);
        stays_within_quota &= is_within(gained, queue_tree_spec(tree, preemptor)->deserved[r]);
    }
    return is_above_quota && stays_within_quota;
}

/* Is the preemptor's side above its share, and at least as saturated as the side that lost something? */
static bool is_too_saturated(const struct queue_tree *tree, queue_id preemptor, queue_id loser, enum resource r)
{
    const int64_t preemptor_share = tree->queues[preemptor].share[r];
    const int64_t loser_share = tree->queues[loser].share[r];
    const int64_t gained = queue_tree_charged(tree, preemptor, r);
    if (gained <= preemptor_share || loser_share == 0)
        return false;
    return (__int128)gained * loser_share * tree->config->saturation_milli >=
           (__int128)queue_tree_charged(tree, loser, r) * preemptor_share * 1000;
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    for (queue_id q = preemptor; q != QUEUE_ROOT; q = tree->queues[q].parent)
        if (breaks_quota(tree, q, ask, true))
            return false;
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id above_preemptor, above_loser;
        queue_tree_below_common(tree, preemptor, touched[i], &above_preemptor, &above_loser);
        if (above_preemptor == above_loser)
            continue;
        queue_tree_divide(tree, above_preemptor);
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (ask[r] > 0 && is_too_saturated(tree, above_preemptor, above_loser, (enum resource)r))
                return false;
    }
    return true;
}

const struct quota_policy quota_fairshare = {
    .name = "fairshare",
    .version = 2,
    .summary = "a tree with deserved shares, limits and weights; idle shares are lent and taken "
               "back.  Works for teams that share a cluster; fails when quotas promise more than "
               "there is, and for large gangs among many small jobs",
    .reads_queue = QUEUE_READS_ALL(QUEUE_QUOTA) | QUEUE_READS_ALL(QUEUE_WEIGHT) | QUEUE_READS(QUEUE_PRIORITY) |
                   QUEUE_READS(QUEUE_AGE) | QUEUE_READS(QUEUE_USAGE),
    .state_size = sizeof(struct usage),
    .forbids = forbids,
    .compare = compare,
    .compare_victims = compare_victims,
    .divide = division_divide,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = usage_advance,
    .describe = usage_describe,
};
