#include "sim/live/guard.h"

#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "policies/gang/gangs.h"
#include "policies/placement/gpu_choice.h"

static struct guard_slot slots[PLUGINS_MAX];
static const struct guard_frame *volatile innermost;
static volatile uint32_t ticks; /* in plug-ins and cycles, since a cycle was over */
static volatile bool is_in_cycle;
static char broken[512]; /* the first answer that could not be; "": none */

struct guard_slot *guard_slot_at(uint32_t index)
{
    assert(index < PLUGINS_MAX);
    return &slots[index];
}

void guard_enter(struct guard_frame *frame, const struct guard_slot *slot, const char *doing)
{
    frame->slot = slot;
    frame->doing = doing;
    frame->outer = innermost;
    innermost = frame;
}

void guard_leave(const struct guard_frame *frame)
{
    innermost = frame->outer;
}

const struct guard_frame *guard_innermost(void)
{
    return innermost;
}

uint32_t guard_tick(void)
{
    if (innermost != NULL || is_in_cycle)
        ticks++;
    return ticks;
}

void guard_cycle_begin(void)
{
    is_in_cycle = true;
}

struct error guard_cycle_done(void)
{
    is_in_cycle = false;
    ticks = 0;
    if (broken[0] == '\0')
        return ERROR_OK;
    struct error error = error_new(ERROR_CONFIG, "%s", broken);
    broken[0] = '\0';
    return error;
}

static void blame(const struct guard_slot *slot, const char *what)
{
    if (broken[0] == '\0')
        snprintf(broken, sizeof broken, "%s %s", slot->label, what);
}

/* ---- The calls: between HOOK and DONE the plug-in's code runs ---- */

#define HOOK(slot_, name_)                                                                         \
    struct guard_frame frame_;                                                                     \
    const struct guard_slot *slot = &slots[slot_];                                                 \
    guard_enter(&frame_, slot, "in its hook '" name_ "'")
#define DONE guard_leave(&frame_)

static uint64_t order_rank(int at, const struct order_view *view, const struct order_config *config)
{
    HOOK(at, "rank");
    const struct order_policy *policy = slot->own->policy;
    uint64_t rank = policy->rank(view, config);
    bool is_pure = policy->rank(view, config) == rank;
    DONE;
    if (!is_pure)
        blame(slot, "gave two ranks for the same job at the same time");
    return rank;
}

static uint64_t victim_rank(int at, const struct victim_view *view)
{
    HOOK(at, "rank");
    const struct victim_key *policy = slot->own->policy;
    uint64_t rank = policy->rank(view);
    bool is_pure = policy->rank(view) == rank;
    DONE;
    if (!is_pure)
        blame(slot, "gave two ranks for the same victim at the same time");
    return rank;
}

static time_ns estimate_length(int at, time_ns limit, time_ns estimate)
{
    HOOK(at, "length");
    const struct estimate_policy *policy = slot->own->policy;
    time_ns length = policy->length(limit, estimate);
    bool is_pure = policy->length(limit, estimate) == length;
    DONE;
    if (!is_pure)
        blame(slot, "gave two lengths for the same job");
    if (length >= 0)
        return length;
    blame(slot, "says that a job runs for less than no time");
    return TIME_NEVER;
}

static void estimate_note_run(int at, void *state, time_ns ran)
{
    HOOK(at, "note_run");
    const struct estimate_policy *policy = slot->own->policy;
    policy->note_run(state, ran);
    DONE;
}

static time_ns estimate_predict(int at, const void *state)
{
    HOOK(at, "predict");
    const struct estimate_policy *policy = slot->own->policy;
    time_ns predicted = policy->predict(state);
    bool is_pure = policy->predict(state) == predicted;
    DONE;
    if (!is_pure)
        blame(slot, "made two predictions from the same runs");
    if (predicted >= 0)
        return predicted;
    blame(slot, "predicts that a job runs for less than no time");
    return TIME_NEVER;
}

/* ---- placement ---- */

/* Of a node: no more than what was said of any. */
static bool is_within_bound(const struct placement_policy *policy, const struct spot *spot,
                            int64_t score)
{
    if (!policy->looks_at_nodes || policy->bound == NULL || spot->node == NODE_NONE)
        return true;
    struct spot any = *spot;
    any.node = NODE_NONE;
    any.members_here = 0;
    return score <= policy->bound(&any);
}

static int64_t placement_score(int at, const struct spot *spot)
{
    HOOK(at, "score");
    const struct placement_policy *policy = slot->own->policy;
    int64_t score = policy->score(spot);
    bool is_pure = policy->score(spot) == score;
    bool is_bounded = is_within_bound(policy, spot, score);
    DONE;
    if (!is_pure || !is_bounded)
        blame(slot, is_pure ? "scored a node higher than its own 'bound'"
                            : "gave two scores for the same spot");
    if (score != SPOT_NEVER || policy->looks_at_nodes)
        return score;
    blame(slot, "scored a spot SPOT_NEVER, which only a policy that looks at nodes may");
    return SPOT_NEVER + 1;
}

static int64_t placement_bound(int at, const struct spot *spot)
{
    HOOK(at, "bound");
    int64_t bound = ((const struct placement_policy *)slot->own->policy)->bound(spot);
    DONE;
    return bound;
}

static uint16_t placement_choose_gpus(int at, uint16_t free_mask, uint32_t gpus)
{
    HOOK(at, "choose_gpus");
    const struct placement_policy *policy = slot->own->policy;
    uint16_t chosen = policy->choose_gpus(free_mask, gpus);
    DONE;
    if ((chosen & ~free_mask) == 0 && (uint32_t)__builtin_popcount(chosen) == gpus)
        return chosen;
    blame(slot, (chosen & ~free_mask) != 0 ? "chose GPUs that are not free"
                                           : "chose more or fewer GPUs than were asked for");
    return gpu_choice_lowest(free_mask, gpus);
}

static uint32_t placement_draw(int at, const struct spot *spot, uint32_t count)
{
    HOOK(at, "draw");
    uint32_t drawn = ((const struct placement_policy *)slot->own->policy)->draw(spot, count);
    DONE;
    if (drawn >= count)
        blame(slot, "drew a number that is not below the count");
    return drawn < count ? drawn : 0;
}

/* ---- gang ---- */

static const char *chunk_fault(const struct gang_policy *policy, const struct gang_view *view,
                               const uint32_t chunk[])
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < view->group_count; g++) {
        if (chunk[g] > view->groups[g].count - view->held[g])
            return "asks for more members than the job lacks";
        count += chunk[g];
    }
    if (count == 0)
        return "asks for a chunk of no members";
    for (uint32_t s = 0; policy->is_all_or_nothing && s < gang_set_count(view); s++) {
        uint32_t held = gang_held(view, s);
        for (uint32_t g = 0; g < view->group_count; g++)
            held += gang_in_set(view, g, s) ? chunk[g] : 0;
        if (held < gang_minimum(view, s))
            return "is all or nothing, but asks for less than the minimum";
    }
    return NULL;
}

static bool gang_next(int at, const struct gang_view *view, uint32_t chunk[])
{
    HOOK(at, "next");
    const struct gang_policy *policy = slot->own->policy;
    bool wants = policy->next(view, chunk);
    DONE;
    const char *fault = wants ? chunk_fault(policy, view, chunk) : NULL;
    if (fault == NULL)
        return wants;
    blame(slot, fault);
    return false;
}

/* ---- quota ---- */

static const char *quota_complaint(int at, struct queue_tree *tree, queue_id *queue)
{
    HOOK(at, "complaint");
    const struct quota_policy *policy = slot->own->policy;
    const char *complaint = policy->complaint(tree, queue);
    DONE;
    if (complaint != NULL && *queue >= tree->count) {
        blame(slot, "complains of a queue that there is not");
        *queue = QUEUE_ROOT;
    }
    return complaint;
}

static queue_id quota_forbids(int at, struct queue_tree *tree, queue_id leaf,
                              const int64_t ask[QUEUE_SUM_COUNT])
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
    blame(slot, "forbids by a queue that is neither the leaf nor above it");
    return QUEUE_NONE;
}

static const uint16_t *quota_confines(int at, struct queue_tree *tree, queue_id leaf,
                                      const struct shape *shape)
{
    HOOK(at, "confines");
    const struct quota_policy *policy = slot->own->policy;
    const uint16_t *confine = policy->confines(tree, leaf, shape);
    DONE;
    if (confine == NULL || !shape->is_preemptible)
        return confine;
    blame(slot, "confines a shape that can be preempted");
    return NULL;
}

static int opposite(int order)
{
    return order < 0 ? 1 : order > 0 ? -1 : 0;
}

static int total_order(const struct guard_slot *slot, struct contender a, struct contender b,
                       int order, int reversed)
{
    if (a.queue == b.queue)
        return order;
    if (order == 0)
        blame(slot, "finds two queues equal: the last keys are the age, then the id");
    else if ((order < 0) == (reversed < 0))
        blame(slot, "puts each of two queues before the other");
    else
        return order;
    return a.queue < b.queue ? -1 : 1;
}

static int quota_compare(int at, struct queue_tree *tree, struct contender a, struct contender b)
{
    HOOK(at, "compare");
    const struct quota_policy *policy = slot->own->policy;
    int order = policy->compare(tree, a, b);
    int reversed = a.queue == b.queue ? opposite(order) : policy->compare(tree, b, a);
    DONE;
    return total_order(slot, a, b, order, reversed);
}

static int quota_compare_victims(int at, struct queue_tree *tree, struct contender a,
                                 struct contender b)
{
    HOOK(at, "compare_victims");
    const struct quota_policy *policy = slot->own->policy;
    int order = policy->compare_victims(tree, a, b);
    int reversed = a.queue == b.queue ? opposite(order) : policy->compare_victims(tree, b, a);
    DONE;
    return total_order(slot, a, b, order, reversed);
}

static void check_share(const struct guard_slot *slot, struct queue_tree *tree, queue_id queue,
                        enum resource resource)
{
    if (tree->queues[queue].share[resource] >= 0)
        return;
    blame(slot, "gave a queue a negative share");
    tree->queues[queue].share[resource] = 0;
}

static void quota_divide(int at, struct queue_tree *tree, queue_id parent, enum resource resource,
                         int64_t total)
{
    HOOK(at, "divide");
    const struct quota_policy *policy = slot->own->policy;
    policy->divide(tree, parent, resource, total);
    DONE;
    for (EACH_CHILD(tree, parent, child))
        check_share(slot, tree, child, resource);
}

static bool quota_adjust(int at, struct queue_tree *tree, queue_id child, enum resource resource,
                         int64_t demand_before, int64_t total_before)
{
    HOOK(at, "adjust");
    const struct quota_policy *policy = slot->own->policy;
    bool is_adjusted = policy->adjust(tree, child, resource, demand_before, total_before);
    DONE;
    check_share(slot, tree, child, resource);
    return is_adjusted;
}

static bool quota_may_reclaim(int at, struct queue_tree *tree, queue_id leaf,
                              const int64_t ask[QUEUE_SUM_COUNT])
{
    HOOK(at, "may_reclaim");
    const struct quota_policy *policy = slot->own->policy;
    bool may = policy->may_reclaim(tree, leaf, ask);
    DONE;
    return may;
}

static bool quota_may_take(int at, struct queue_tree *tree, const struct taking *taking)
{
    HOOK(at, "may_take");
    const struct quota_policy *policy = slot->own->policy;
    bool may = policy->may_take(tree, taking);
    DONE;
    return may;
}

static bool quota_is_valid(int at, struct queue_tree *tree, queue_id gainer,
                           const int64_t ask[QUEUE_SUM_COUNT], const queue_id *touched,
                           uint32_t touched_count)
{
    HOOK(at, "is_valid");
    const struct quota_policy *policy = slot->own->policy;
    bool is_valid = policy->is_valid(tree, gainer, ask, touched, touched_count);
    DONE;
    return is_valid;
}

static bool quota_advance(int at, struct queue_tree *tree, time_ns now, time_ns *next)
{
    HOOK(at, "advance");
    const struct quota_policy *policy = slot->own->policy;
    bool has_moved = policy->advance(tree, now, next);
    DONE;
    if (*next <= now) {
        blame(slot, "wants to be called again at a time that has passed");
        *next = TIME_NEVER;
    }
    return has_moved;
}

/* ---- A set of functions for each slot ---- */

#define FUNCTIONS_OF(n)                                                                            \
    static uint64_t rank_##n(const struct order_view *v, const struct order_config *c)             \
    {                                                                                              \
        return order_rank(n, v, c);                                                                \
    }                                                                                              \
    static uint64_t victim_##n(const struct victim_view *v)                                        \
    {                                                                                              \
        return victim_rank(n, v);                                                                  \
    }                                                                                              \
    static time_ns length_##n(time_ns limit, time_ns estimate)                                     \
    {                                                                                              \
        return estimate_length(n, limit, estimate);                                                \
    }                                                                                              \
    static void note_run_##n(void *state, time_ns ran)                                             \
    {                                                                                              \
        estimate_note_run(n, state, ran);                                                          \
    }                                                                                              \
    static time_ns predict_##n(const void *state)                                                  \
    {                                                                                              \
        return estimate_predict(n, state);                                                         \
    }                                                                                              \
    static int64_t score_##n(const struct spot *s)                                                 \
    {                                                                                              \
        return placement_score(n, s);                                                              \
    }                                                                                              \
    static int64_t bound_##n(const struct spot *s)                                                 \
    {                                                                                              \
        return placement_bound(n, s);                                                              \
    }                                                                                              \
    static uint16_t choose_##n(uint16_t mask, uint32_t gpus)                                       \
    {                                                                                              \
        return placement_choose_gpus(n, mask, gpus);                                               \
    }                                                                                              \
    static uint32_t draw_##n(const struct spot *s, uint32_t count)                                 \
    {                                                                                              \
        return placement_draw(n, s, count);                                                        \
    }                                                                                              \
    static bool next_##n(const struct gang_view *v, uint32_t chunk[])                              \
    {                                                                                              \
        return gang_next(n, v, chunk);                                                             \
    }                                                                                              \
    static const char *complaint_##n(struct queue_tree *t, queue_id *q)                            \
    {                                                                                              \
        return quota_complaint(n, t, q);                                                           \
    }                                                                                              \
    static queue_id forbids_##n(struct queue_tree *t, queue_id q,                                  \
                                const int64_t ask[QUEUE_SUM_COUNT])                                \
    {                                                                                              \
        return quota_forbids(n, t, q, ask);                                                        \
    }                                                                                              \
    static const uint16_t *confines_##n(struct queue_tree *t, queue_id q, const struct shape *s)   \
    {                                                                                              \
        return quota_confines(n, t, q, s);                                                         \
    }                                                                                              \
    static int compare_##n(struct queue_tree *t, struct contender a, struct contender b)           \
    {                                                                                              \
        return quota_compare(n, t, a, b);                                                          \
    }                                                                                              \
    static int victims_##n(struct queue_tree *t, struct contender a, struct contender b)           \
    {                                                                                              \
        return quota_compare_victims(n, t, a, b);                                                  \
    }                                                                                              \
    static void divide_##n(struct queue_tree *t, queue_id q, enum resource r, int64_t total)       \
    {                                                                                              \
        quota_divide(n, t, q, r, total);                                                           \
    }                                                                                              \
    static bool adjust_##n(struct queue_tree *t, queue_id q, enum resource r, int64_t demand,      \
                           int64_t total)                                                          \
    {                                                                                              \
        return quota_adjust(n, t, q, r, demand, total);                                            \
    }                                                                                              \
    static bool reclaim_##n(struct queue_tree *t, queue_id q, const int64_t ask[QUEUE_SUM_COUNT])  \
    {                                                                                              \
        return quota_may_reclaim(n, t, q, ask);                                                    \
    }                                                                                              \
    static bool take_##n(struct queue_tree *t, const struct taking *taking)                        \
    {                                                                                              \
        return quota_may_take(n, t, taking);                                                       \
    }                                                                                              \
    static bool valid_##n(struct queue_tree *t, queue_id q, const int64_t ask[QUEUE_SUM_COUNT],    \
                          const queue_id *touched, uint32_t count)                                 \
    {                                                                                              \
        return quota_is_valid(n, t, q, ask, touched, count);                                       \
    }                                                                                              \
    static bool advance_##n(struct queue_tree *t, time_ns now, time_ns *next)                      \
    {                                                                                              \
        return quota_advance(n, t, now, next);                                                     \
    }

#define TABLE_OF(n)                                                                                \
    {                                                                                              \
        .order = {.rank = rank_##n}, .victim = {.rank = victim_##n},                               \
        .estimate = {.length = length_##n, .note_run = note_run_##n, .predict = predict_##n},      \
        .gang = {.next = next_##n},                                                                \
        .placement = {.score = score_##n,                                                          \
                      .bound = bound_##n,                                                          \
                      .choose_gpus = choose_##n,                                                   \
                      .draw = draw_##n},                                                           \
        .quota = {                                                                                 \
            .complaint = complaint_##n,                                                            \
            .forbids = forbids_##n,                                                                \
            .confines = confines_##n,                                                              \
            .compare = compare_##n,                                                                \
            .compare_victims = victims_##n,                                                        \
            .divide = divide_##n,                                                                  \
            .adjust = adjust_##n,                                                                  \
            .may_reclaim = reclaim_##n,                                                            \
            .may_take = take_##n,                                                                  \
            .is_valid = valid_##n,                                                                 \
            .advance = advance_##n                                                                 \
        }                                                                                          \
    }

FUNCTIONS_OF(0)
FUNCTIONS_OF(1)
FUNCTIONS_OF(2)
FUNCTIONS_OF(3)
FUNCTIONS_OF(4)
FUNCTIONS_OF(5)
FUNCTIONS_OF(6)
FUNCTIONS_OF(7)

static const struct {
    struct order_policy order;
    struct victim_key victim;
    struct estimate_policy estimate;
    struct gang_policy gang;
    struct placement_policy placement;
    struct quota_policy quota;
} tables[] = {TABLE_OF(0), TABLE_OF(1), TABLE_OF(2), TABLE_OF(3),
              TABLE_OF(4), TABLE_OF(5), TABLE_OF(6), TABLE_OF(7)};
_Static_assert(sizeof tables / sizeof tables[0] == PLUGINS_MAX, "functions for each slot");

/* An optional hook that the plug-in lacks stays away. */
#define KEEP(hook_)                                                                                \
    if (policy->hook_ != NULL)                                                                     \
    policy->hook_ = table->hook_

static void arm_quota(struct quota_policy *policy, const struct quota_policy *table)
{
    KEEP(complaint);
    KEEP(forbids);
    KEEP(confines);
    KEEP(compare);
    KEEP(compare_victims);
    KEEP(divide);
    KEEP(adjust);
    KEEP(may_reclaim);
    KEEP(may_take);
    KEEP(is_valid);
    KEEP(advance);
}

static void arm_placement(struct placement_policy *policy, const struct placement_policy *table)
{
    KEEP(score);
    KEEP(bound);
    KEEP(choose_gpus);
    KEEP(draw);
}

static void arm_estimate(struct estimate_policy *policy, const struct estimate_policy *table)
{
    KEEP(length);
    KEEP(note_run);
    KEEP(predict);
}

void guard_arm(struct guard_slot *slot)
{
    size_t at = (size_t)(slot - slots);
    const void *own = slot->own->policy;
    switch ((enum plugin_seam)slot->own->seam) {
    case PLUGIN_ORDER:
        slot->policy.order = *(const struct order_policy *)own;
        slot->policy.order.rank = tables[at].order.rank;
        break;
    case PLUGIN_QUOTA:
        slot->policy.quota = *(const struct quota_policy *)own;
        arm_quota(&slot->policy.quota, &tables[at].quota);
        break;
    case PLUGIN_PLACEMENT:
        slot->policy.placement = *(const struct placement_policy *)own;
        arm_placement(&slot->policy.placement, &tables[at].placement);
        break;
    case PLUGIN_GANG:
        slot->policy.gang = *(const struct gang_policy *)own;
        slot->policy.gang.next = tables[at].gang.next;
        break;
    case PLUGIN_ESTIMATE:
        slot->policy.estimate = *(const struct estimate_policy *)own;
        arm_estimate(&slot->policy.estimate, &tables[at].estimate);
        break;
    case PLUGIN_VICTIM:
        slot->policy.victim = *(const struct victim_key *)own;
        slot->policy.victim.rank = tables[at].victim.rank;
        break;
    case PLUGIN_NONE:
    case PLUGIN_SEAM_COUNT:
        assert(false && "plugin_check has passed it");
    }
    slot->guarded = *slot->own;
    slot->guarded.policy = &slot->policy;
}
