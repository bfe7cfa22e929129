#include "policies/quota/cohort_reclaim.h"
#include "policies/quota/quota_config.h"

enum round_kind { ROUND_BORROWING, ROUND_WITHIN, ROUND_FINAL_SHARE, ROUND_INITIAL_SHARE };

static struct cohort_change charged(queue_id leaf, const int64_t *ask)
{
    return (struct cohort_change){leaf, ask, 1};
}

static queue_id top_of(const struct queue_tree *tree, queue_id queue)
{
    while (!cohort_is_top(tree, queue))
        queue = tree->queues[queue].parent;
    return queue;
}

/* The lowest queue from `leaf` up to below the top of the tree that is entitled to all of the ask; QUEUE_NONE: none. */
static queue_id entitled_below_top(const struct queue_tree *tree, queue_id leaf, const int64_t *ask,
                                   struct cohort_change change)
{
    queue_id below = leaf;
    if (cohort_is_top(tree, leaf))
        return QUEUE_NONE;
    while (!cohort_is_top(tree, tree->queues[below].parent))
        below = tree->queues[below].parent;
    return cohort_entitled(tree, leaf, below, ask, change);
}

bool cohort_may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    if (tree->config->reclaim_within_cohort == RECLAIM_NEVER || cohort_is_top(tree, leaf))
        return false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (ask[r] > 0 && ask[r] > cohort_state(tree, leaf)->potential_available[r])
            return false;
    if (tree->config->fair_sharing || tree->config->borrow_within_cohort != RECLAIM_NEVER)
        return true;
    return entitled_below_top(tree, leaf, ask, charged(leaf, ask)) != QUEUE_NONE;
}

/* ---- rounds ---- */

static uint8_t all_asked(const int64_t *ask)
{
    uint8_t asked = 0;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        asked |= (uint8_t)((ask[r] > 0) << r);
    return asked;
}

/* The resources of which more is asked than is available, as bits. */
static uint8_t find_lacking(const struct queue_tree *tree, queue_id leaf, const int64_t *ask)
{
    uint8_t lacking = 0;
    queue_id binds;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (ask[r] > 0 && ask[r] > cohort_available(tree, leaf, r, &binds))
            lacking |= (uint8_t)(1 << r);
    return lacking;
}

/* With the ask, would the queue or a cohort below the top stay within its quota of this resource? */
static bool is_within_below_top(const struct queue_tree *tree, queue_id leaf, enum resource r, const int64_t *ask)
{
    for (queue_id q = leaf; !cohort_is_top(tree, q); q = tree->queues[q].parent)
        if (!cohort_is_borrowing(tree, q, r, charged(leaf, ask)))
            return true;
    return false;
}

/* May jobs be evicted because this resource lacks? */
static bool may_preempt_for(const struct queue_tree *tree, queue_id leaf, enum resource r, const int64_t *ask)
{
    const struct quota_config *config = tree->config;
    const int64_t nominal = queue_tree_spec(tree, leaf)->deserved[r];
    if (ask[r] > cohort_state(tree, leaf)->potential_available[r])
        return false;
    if (nominal == QUOTA_UNLIMITED || ask[r] <= nominal || is_within_below_top(tree, leaf, r, ask))
        return true;
    return config->fair_sharing ? config->reclaim_within_cohort != RECLAIM_NEVER
                                : config->borrow_within_cohort != RECLAIM_NEVER;
}

/* Does every queue from this one to `top` borrow one of these resources? */
static bool is_lent(const struct queue_tree *tree, queue_id queue, queue_id top, uint8_t resources)
{
    for (queue_id q = queue;; q = tree->queues[q].parent) {
        bool borrows = false;
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            borrows |= (resources >> r & 1) && cohort_is_borrowing(tree, q, r, COHORT_AS_IS);
        if (!borrows || q == top)
            return borrows;
    }
}

/* Does some leaf queue outside `entitled` borrow a resource that the job needs? */
static bool has_debtors_beyond(const struct queue_tree *tree, queue_id entitled, uint8_t needs)
{
    const queue_id top = top_of(tree, entitled);
    for (queue_id q = top; q < tree->count; q++) {
        queue_id mine, its;
        if (tree->queues[q].first_child != QUEUE_NONE || !cohort_is_below(tree, q, top) ||
            cohort_is_below(tree, q, entitled))
            continue;
        queue_tree_below_common(tree, entitled, q, &mine, &its);
        if (is_lent(tree, q, its, needs))
            return true;
    }
    return false;
}

/* Does the queue use less than its quota of each of these resources? */
static bool is_under_nominal(const struct queue_tree *tree, queue_id leaf, uint8_t resources)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if ((resources >> r & 1) && cohort_usage(tree, leaf, r, COHORT_AS_IS) >= cohort_state(tree, leaf)->quota[r])
            return false;
    return true;
}

static uint32_t fair_rounds(const struct queue_tree *tree, struct quota_round like,
                            struct quota_round rounds[QUOTA_ROUNDS_MAX])
{
    uint32_t count = 0;
    for (int i = 0; i < COHORT_STRATEGIES_MAX; i++) {
        if (tree->config->strategies[i] == STRATEGY_NONE)
            continue;
        like.kind = tree->config->strategies[i] == STRATEGY_FINAL_SHARE ? ROUND_FINAL_SHARE : ROUND_INITIAL_SHARE;
        like.goes_on = like.once_a_queue = count > 0;
        like.by_share = true;
        rounds[count++] = like;
    }
    return count;
}

uint32_t cohort_rounds(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                       struct quota_round rounds[QUOTA_ROUNDS_MAX])
{
    struct quota_round like = {.kind = ROUND_BORROWING, .entitled = QUEUE_NONE};
    rounds[0] = like;
    rounds[0].needs = all_asked(ask);
    if (leaf == QUEUE_ROOT)
        return 1; /* in no cohort */
    const uint8_t lacking = find_lacking(tree, leaf, ask);
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if ((lacking >> r & 1) && !may_preempt_for(tree, leaf, r, ask))
            return 0;
    like.needs = lacking != 0 ? lacking : all_asked(ask);
    if (tree->config->fair_sharing)
        return fair_rounds(tree, like, rounds);
    like.entitled = entitled_below_top(tree, leaf, ask, charged(leaf, ask));
    struct quota_round within = like;
    within.kind = ROUND_WITHIN;
    within.entitled = leaf;
    rounds[0] = like;
    rounds[1] = within;
    const bool is_forbidden = tree->config->borrow_within_cohort == RECLAIM_NEVER;
    if (cohort_is_top(tree, leaf) || (is_forbidden && !is_under_nominal(tree, leaf, like.needs)) ||
        tree->config->reclaim_within_cohort == RECLAIM_NEVER || !has_debtors_beyond(tree, leaf, like.needs))
        return 1;
    if (is_forbidden && (like.entitled == QUEUE_NONE || !has_debtors_beyond(tree, like.entitled, like.needs))) {
        rounds[0] = within;
        rounds[1] = like;
    }
    return 2;
}

bool cohort_suffices(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                     const struct quota_round *round)
{
    for (enum resource r = 0; r < RESOURCE_COUNT && round->kind == ROUND_WITHIN; r++)
        if (ask[r] > 0 && cohort_is_borrowing(tree, leaf, r, charged(leaf, ask)))
            return false;
    return true;
}

bool cohort_keeps(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                  int64_t kept[QUEUE_SUM_COUNT])
{
    if (tree->config->reclaim_within_cohort == RECLAIM_ANY)
        return false;
    if (leaf == QUEUE_ROOT || cohort_is_top(tree, leaf))
        return leaf == QUEUE_ROOT;
    const uint8_t lacking = find_lacking(tree, leaf, ask);
    bool borrows = false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if ((lacking >> r & 1) && !may_preempt_for(tree, leaf, r, ask))
            return false;
        borrows |= ask[r] > 0 && cohort_is_borrowing(tree, leaf, r, charged(leaf, ask));
    }
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        const int64_t limit = queue_tree_spec(tree, leaf)->borrowing_limit[r];
        const int64_t quota = cohort_state(tree, leaf)->quota[r];
        const int64_t left = quota - cohort_usage(tree, leaf, r, COHORT_AS_IS);
        kept[r] = ask[r];
        if (!borrows)
            kept[r] = amount_smaller(ask[r], left);
        else if (limit != QUOTA_UNLIMITED && quota != AMOUNT_ANY)
            kept[r] = amount_smaller(ask[r], left + limit);
        kept[r] = amount_larger(0, kept[r]);
    }
    return true;
}

/* ---- victims ---- */

static bool has_strategy(const struct queue_tree *tree, enum cohort_strategy strategy)
{
    for (int i = 0; i < COHORT_STRATEGIES_MAX; i++)
        if (tree->config->strategies[i] == strategy)
            return true;
    return false;
}

static bool allows(const struct queue_tree *tree, const struct quota_round *round, enum cohort_strategy strategy)
{
    if (round == NULL)
        return has_strategy(tree, strategy);
    return round->kind == (strategy == STRATEGY_FINAL_SHARE ? ROUND_FINAL_SHARE : ROUND_INITIAL_SHARE);
}

static bool may_take_fair(const struct queue_tree *tree, const struct taking *taking, queue_id preemptor_top,
                          queue_id victim_top)
{
    struct cohort_change lost = {taking->victim, taking->victim_unit, -1};
    struct cohort_share preemptor =
        cohort_share(tree, preemptor_top, charged(taking->preemptor, taking->preemptor_ask));
    if (preemptor.plain.part == 0)
        return true;
    if (allows(tree, taking->round, STRATEGY_FINAL_SHARE) &&
        cohort_share_compare(preemptor, cohort_share(tree, victim_top, lost)) <= 0)
        return true;
    return allows(tree, taking->round, STRATEGY_INITIAL_SHARE) &&
           cohort_share_compare(preemptor, cohort_share(tree, victim_top, COHORT_AS_IS)) < 0;
}

/* Is the preemptor's side, below the common cohort, entitled to what it takes? */
static bool is_entitled_here(const struct queue_tree *tree, const struct taking *taking, queue_id preemptor_top)
{
    const struct quota_round *round = taking->round;
    if (round == NULL)
        return cohort_entitled(tree, taking->preemptor, preemptor_top, taking->preemptor_ask,
                               charged(taking->preemptor, taking->preemptor_ask)) != QUEUE_NONE;
    return round->entitled != QUEUE_NONE && tree->queues[round->entitled].depth >= tree->queues[preemptor_top].depth;
}

static bool may_take_classical(const struct queue_tree *tree, const struct taking *taking, queue_id preemptor_top)
{
    const struct quota_config *config = tree->config;
    return is_entitled_here(tree, taking, preemptor_top) ||
           (config->borrow_within_cohort != RECLAIM_NEVER && taking->victim_priority < taking->preemptor_priority &&
            taking->victim_priority <= config->borrow_max_priority);
}

/* Does the unit use one of the resources?  A unit of charge 0 counts as using all. */
static bool uses_any(const int64_t *unit, uint8_t resources)
{
    const uint8_t used = all_asked(unit);
    return used == 0 || (used & resources) != 0;
}

bool cohort_may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id preemptor_top, victim_top;
    const struct quota_config *config = tree->config;
    const uint8_t needs = taking->round != NULL ? taking->round->needs : all_asked(taking->preemptor_ask);
    if (!amount_levels(tree, taking->preemptor, taking->victim, &preemptor_top, &victim_top) ||
        cohort_is_top(tree, preemptor_top) || !uses_any(taking->victim_unit, needs) ||
        !is_lent(tree, taking->victim, victim_top, needs))
        return false;
    if (config->reclaim_within_cohort == RECLAIM_NEVER || (config->reclaim_within_cohort == RECLAIM_LOWER_PRIORITY &&
                                                           taking->victim_priority >= taking->preemptor_priority))
        return false;
    return config->fair_sharing ? may_take_fair(tree, taking, preemptor_top, victim_top)
                                : may_take_classical(tree, taking, preemptor_top);
}

/* Compares the shares in the after-state.  Victims taken by initial_share cannot be told apart here; for them the plan
 * tests with `compare` that the preemptor with its job still goes before each victim. */
bool cohort_is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    const struct quota_config *config = tree->config;
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] == preemptor || !amount_levels(tree, preemptor, touched[i], &mine, &its))
            continue;
        if (!config->fair_sharing) {
            if (config->borrow_within_cohort == RECLAIM_NEVER &&
                cohort_entitled(tree, preemptor, mine, ask, COHORT_AS_IS) == QUEUE_NONE)
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
