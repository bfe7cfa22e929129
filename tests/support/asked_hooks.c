#include "tests/support/asked_hooks.h"

#include "policies/estimate/estimate.h"
#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/preemption/victim_keys.h"
#include "policies/quota/quota.h"

/* The counters, and the real policies behind the replacements below. */
static struct {
    struct asked *asked;
    const struct order_policy *order;
    const struct victim_key *key;
    const struct placement_policy *placement, *firm;
    const struct quota_policy *quota;
    const struct gang_policy *gang;
    const struct estimate_policy *estimate;
} true_of;

static struct order_policy order;
static struct victim_key key;
static struct placement_policy placement, firm;
static struct quota_policy quota;
static struct gang_policy gang;
static struct estimate_policy estimate;

static void count(enum asked_hook hook)
{
    true_of.asked->of[hook]++;
}

/* ---- Jobs and units ---- */

static uint64_t rank_of(const struct order_view *view, const struct order_config *config)
{
    count(ASKED_RANK);
    return true_of.order->rank(view, config);
}

static uint64_t key_of(const struct victim_view *view)
{
    count(ASKED_KEY);
    return true_of.key->rank(view);
}

static bool next_step(const struct gang_view *view, uint32_t step[])
{
    count(ASKED_CHUNK);
    return true_of.gang->next(view, step);
}

static time_ns length_of(time_ns limit, time_ns learned, const struct policy_own *own)
{
    count(ASKED_LENGTH);
    return true_of.estimate->length(limit, learned, own);
}

/* ---- Places ---- */

static int64_t score_of(const struct spot *spot)
{
    count(ASKED_SCORE);
    return true_of.placement->score(spot);
}

static int64_t bound_of(const struct spot *spot)
{
    count(ASKED_BOUND);
    return true_of.placement->bound(spot);
}

static int64_t score_of_firm(const struct spot *spot)
{
    count(ASKED_SCORE);
    return true_of.firm->score(spot);
}

static int64_t bound_of_firm(const struct spot *spot)
{
    count(ASKED_BOUND);
    return true_of.firm->bound(spot);
}

/* ---- Queues ---- */

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    count(ASKED_FORBIDS);
    return true_of.quota->forbids(tree, leaf, ask);
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    count(ASKED_COMPARE);
    return true_of.quota->compare(tree, a, b);
}

static void divide(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total)
{
    count(ASKED_DIVIDE);
    true_of.quota->divide(tree, parent, resource, total);
}

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    count(ASKED_RECLAIM);
    return true_of.quota->may_reclaim(tree, leaf, ask);
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    count(ASKED_TAKE);
    return true_of.quota->may_take(tree, taking);
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    count(ASKED_VALID);
    return true_of.quota->is_valid(tree, preemptor, ask, touched, touched_count);
}

/* ---- All of them ---- */

#define IN_PLACE(hook, counted) ((hook) != NULL ? (counted) : NULL)

static void count_quota(const struct quota_policy *policy)
{
    quota = *policy;
    quota.forbids = IN_PLACE(policy->forbids, forbids);
    quota.compare = IN_PLACE(policy->compare, compare);
    quota.divide = IN_PLACE(policy->divide, divide);
    quota.may_reclaim = IN_PLACE(policy->may_reclaim, may_reclaim);
    quota.may_take = IN_PLACE(policy->may_take, may_take);
    quota.is_valid = IN_PLACE(policy->is_valid, is_valid);
}

void asked_hooks(struct policy_config *config, struct asked *asked)
{
    true_of.asked = asked;
    true_of.order = config->order[0];
    true_of.placement = config->placement;
    true_of.firm = config->placement_firm;
    true_of.quota = config->quota;
    true_of.gang = config->gang;
    true_of.estimate = config->estimate;
    order = *config->order[0];
    order.rank = rank_of;
    placement = *config->placement;
    placement.score = IN_PLACE(placement.score, score_of);
    placement.bound = IN_PLACE(placement.bound, bound_of);
    firm = *config->placement_firm;
    firm.score = IN_PLACE(firm.score, score_of_firm);
    firm.bound = IN_PLACE(firm.bound, bound_of_firm);
    count_quota(config->quota);
    gang = *config->gang;
    gang.next = next_step;
    estimate = *config->estimate;
    estimate.length = length_of;
    config->order[0] = &order;
    config->placement_firm = config->placement_firm == config->placement ? &placement : &firm;
    config->placement = &placement;
    config->quota = &quota;
    config->gang = &gang;
    config->estimate = &estimate;
    if (config->preempt.victim_key_count > 0) {
        true_of.key = config->preempt.victims[0];
        key = *true_of.key;
        key.rank = key_of;
        config->preempt.victims[0] = &key;
    }
}
