/* The hooks of plug-ins, watched: see sim/plugins/guard.h.  Those of quota policies: sim/plugins/guard_quota.c. */
#include "sim/plugins/guard_inside.h"

#include <assert.h>

#include "policies/gang/gangs.h"
#include "policies/placement/gpu_choice.h"

static uint64_t order_rank(int at, const struct order_view *view, const struct order_config *config)
{
    HOOK(at, "rank");
    const struct order_policy *policy = slot->own->policy;
    uint64_t rank = policy->rank(view, config);
    bool is_pure = policy->rank(view, config) == rank;
    DONE;
    if (!is_pure)
        guard_blame(slot, "gave two ranks for the same job at the same time");
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
        guard_blame(slot, "gave two ranks for the same victim at the same time");
    return rank;
}

static bool preemption_spares(int at, const struct victim_view *view)
{
    HOOK(at, "spares");
    const struct preemption_policy *policy = slot->own->policy;
    bool spares = policy->spares(view);
    bool is_pure = policy->spares(view) == spares;
    DONE;
    if (!is_pure)
        guard_blame(slot, "spares a victim and does not, at the same time");
    return spares;
}

static bool backfill_reserves(int at, const struct order_view *view)
{
    HOOK(at, "reserves");
    const struct backfill_policy *policy = slot->own->policy;
    bool reserves = policy->reserves(view);
    bool is_pure = policy->reserves(view) == reserves;
    DONE;
    if (!is_pure)
        guard_blame(slot, "gives a job a forecast and does not, at the same time");
    return reserves;
}

static void job_told(int at, void *state, const int64_t *params, enum plugin_event event, const struct order_view *view)
{
    HOOK(at, "on_job");
    slot->own->on_job(state, params, event, view);
    DONE;
}

static time_ns estimate_length(int at, time_ns limit, time_ns estimate, const struct policy_own *own)
{
    HOOK(at, "length");
    const struct estimate_policy *policy = slot->own->policy;
    time_ns length = policy->length(limit, estimate, own);
    bool is_pure = policy->length(limit, estimate, own) == length;
    DONE;
    if (!is_pure)
        guard_blame(slot, "gave two lengths for the same job");
    if (length >= 0)
        return length;
    guard_blame(slot, "says that a job runs for less than no time");
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
        guard_blame(slot, "made two predictions from the same runs");
    if (predicted >= 0)
        return predicted;
    guard_blame(slot, "predicts that a job runs for less than no time");
    return TIME_NEVER;
}

/* ---- placement ---- */

/* A node's score must not exceed the bound that the plug-in gave for any node. */
static bool is_within_bound(const struct placement_policy *policy, const struct spot *spot, int64_t score)
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
        guard_blame(slot, is_pure ? "scored a node higher than its own 'bound'" : "gave two scores for the same spot");
    if (score != SPOT_NEVER || policy->looks_at_nodes)
        return score;
    guard_blame(slot, "scored a spot SPOT_NEVER, which only a policy that looks at nodes may");
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
    guard_blame(slot, (chosen & ~free_mask) != 0 ? "chose GPUs that are not free"
                                                 : "chose more or fewer GPUs than were asked for");
    return gpu_choice_lowest(free_mask, gpus);
}

static uint32_t placement_draw(int at, const struct spot *spot, uint32_t count)
{
    HOOK(at, "draw");
    uint32_t drawn = ((const struct placement_policy *)slot->own->policy)->draw(spot, count);
    DONE;
    if (drawn >= count)
        guard_blame(slot, "drew a number that is not below the count");
    return drawn < count ? drawn : 0;
}

static int32_t placement_score_place(int at, const struct place *place)
{
    HOOK(at, "score_place");
    const struct placement_policy *policy = slot->own->policy;
    const int32_t score = policy->score_place(place);
    const bool is_pure = policy->score_place(place) == score;
    DONE;
    if (!is_pure)
        guard_blame(slot, "gave two scores for the same place");
    return score;
}

/* ---- gang ---- */

/* With the chunk, is the job below its minimum, or a set that gets members below its own? */
static bool lacks_minimum(const struct gang_view *view, const uint32_t chunk[])
{
    uint32_t held[JOB_GROUPS_MAX];
    struct gang_view grown = *view;
    for (uint32_t g = 0; g < view->group_count; g++)
        held[g] = view->held[g] + chunk[g];
    grown.held = held;
    for (uint32_t g = 0; g < view->group_count; g++) {
        const uint32_t set = view->sets != NULL ? view->groups[g].set : g;
        if (chunk[g] > 0 && gang_held(&grown, set) < gang_minimum(view, set))
            return true;
    }
    return gang_fill(&grown) == FILL_BELOW;
}

static const char *chunk_fault(const struct gang_policy *policy, const struct gang_view *view, const uint32_t chunk[])
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < view->group_count; g++) {
        if (chunk[g] > view->groups[g].count - view->held[g])
            return "asks for more members than the job lacks";
        count += chunk[g];
    }
    if (count == 0)
        return "asks for an allocation step of no members";
    if (policy->is_all_or_nothing && lacks_minimum(view, chunk))
        return "is all or nothing, but asks for less than the minimum";
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
    guard_blame(slot, fault);
    return false;
}

/* ---- A set of functions for each slot ---- */

#define FUNCTIONS_OF(n)                                                                                                \
    static bool spares_##n(const struct victim_view *v)                                                                \
    {                                                                                                                  \
        return preemption_spares(n, v);                                                                                \
    }                                                                                                                  \
    static bool reserves_##n(const struct order_view *v)                                                               \
    {                                                                                                                  \
        return backfill_reserves(n, v);                                                                                \
    }                                                                                                                  \
    static void job_##n(void *state, const int64_t *params, enum plugin_event event, const struct order_view *v)       \
    {                                                                                                                  \
        job_told(n, state, params, event, v);                                                                          \
    }                                                                                                                  \
    static uint64_t rank_##n(const struct order_view *v, const struct order_config *c)                                 \
    {                                                                                                                  \
        return order_rank(n, v, c);                                                                                    \
    }                                                                                                                  \
    static uint64_t victim_##n(const struct victim_view *v)                                                            \
    {                                                                                                                  \
        return victim_rank(n, v);                                                                                      \
    }                                                                                                                  \
    static time_ns length_##n(time_ns limit, time_ns estimate, const struct policy_own *own)                           \
    {                                                                                                                  \
        return estimate_length(n, limit, estimate, own);                                                               \
    }                                                                                                                  \
    static void note_run_##n(void *state, time_ns ran)                                                                 \
    {                                                                                                                  \
        estimate_note_run(n, state, ran);                                                                              \
    }                                                                                                                  \
    static time_ns predict_##n(const void *state)                                                                      \
    {                                                                                                                  \
        return estimate_predict(n, state);                                                                             \
    }                                                                                                                  \
    static int64_t score_##n(const struct spot *s)                                                                     \
    {                                                                                                                  \
        return placement_score(n, s);                                                                                  \
    }                                                                                                                  \
    static int64_t bound_##n(const struct spot *s)                                                                     \
    {                                                                                                                  \
        return placement_bound(n, s);                                                                                  \
    }                                                                                                                  \
    static uint16_t choose_##n(uint16_t mask, uint32_t gpus)                                                           \
    {                                                                                                                  \
        return placement_choose_gpus(n, mask, gpus);                                                                   \
    }                                                                                                                  \
    static uint32_t draw_##n(const struct spot *s, uint32_t count)                                                     \
    {                                                                                                                  \
        return placement_draw(n, s, count);                                                                            \
    }                                                                                                                  \
    static int32_t place_##n(const struct place *p)                                                                    \
    {                                                                                                                  \
        return placement_score_place(n, p);                                                                            \
    }                                                                                                                  \
    static bool next_##n(const struct gang_view *v, uint32_t chunk[])                                                  \
    {                                                                                                                  \
        return gang_next(n, v, chunk);                                                                                 \
    }                                                                                                                  \
    static const char *complaint_##n(struct queue_tree *t, queue_id *q)                                                \
    {                                                                                                                  \
        return guard_quota_complaint(n, t, q);                                                                         \
    }                                                                                                                  \
    static queue_id forbids_##n(struct queue_tree *t, queue_id q, const int64_t ask[QUEUE_SUM_COUNT])                  \
    {                                                                                                                  \
        return guard_quota_forbids(n, t, q, ask);                                                                      \
    }                                                                                                                  \
    static const uint16_t *confines_##n(struct queue_tree *t, queue_id q, const struct request_class *s, queue_id *k)  \
    {                                                                                                                  \
        return guard_quota_confines(n, t, q, s, k);                                                                    \
    }                                                                                                                  \
    static int compare_##n(struct queue_tree *t, struct contender a, struct contender b)                               \
    {                                                                                                                  \
        return guard_quota_compare(n, t, a, b);                                                                        \
    }                                                                                                                  \
    static int victims_##n(struct queue_tree *t, struct contender a, struct contender b)                               \
    {                                                                                                                  \
        return guard_quota_compare_victims(n, t, a, b);                                                                \
    }                                                                                                                  \
    static void divide_##n(struct queue_tree *t, queue_id q, enum resource r, int64_t total)                           \
    {                                                                                                                  \
        guard_quota_divide(n, t, q, r, total);                                                                         \
    }                                                                                                                  \
    static bool reclaim_##n(struct queue_tree *t, queue_id q, const int64_t ask[QUEUE_SUM_COUNT])                      \
    {                                                                                                                  \
        return guard_quota_may_reclaim(n, t, q, ask);                                                                  \
    }                                                                                                                  \
    static bool take_##n(struct queue_tree *t, const struct taking *taking)                                            \
    {                                                                                                                  \
        return guard_quota_may_take(n, t, taking);                                                                     \
    }                                                                                                                  \
    static bool valid_##n(struct queue_tree *t, queue_id q, const int64_t ask[QUEUE_SUM_COUNT],                        \
                          const queue_id *touched, uint32_t count)                                                     \
    {                                                                                                                  \
        return guard_quota_is_valid(n, t, q, ask, touched, count);                                                     \
    }                                                                                                                  \
    static bool advance_##n(struct queue_tree *t, time_ns now, time_ns *next)                                          \
    {                                                                                                                  \
        return guard_quota_advance(n, t, now, next);                                                                   \
    }

#define TABLE_OF(n)                                                                                                    \
    {                                                                                                                  \
        .order = {.rank = rank_##n}, .victim = {.rank = victim_##n}, .preemption = {.spares = spares_##n},             \
        .backfill = {.reserves = reserves_##n}, .on_job = job_##n,                                                     \
        .estimate = {.length = length_##n, .note_run = note_run_##n, .predict = predict_##n},                          \
        .gang = {.next = next_##n},                                                                                    \
        .placement = {.score = score_##n,                                                                              \
                      .bound = bound_##n,                                                                              \
                      .choose_gpus = choose_##n,                                                                       \
                      .draw = draw_##n,                                                                                \
                      .score_place = place_##n},                                                                       \
        .quota = {                                                                                                     \
            .forbids = forbids_##n,                                                                                    \
            .compare = compare_##n,                                                                                    \
            .compare_victims = victims_##n,                                                                            \
            .divide = divide_##n,                                                                                      \
            .may_reclaim = reclaim_##n,                                                                                \
            .may_take = take_##n,                                                                                      \
            .is_valid = valid_##n,                                                                                     \
            .advance = advance_##n,                                                                                    \
            .homes = {.complaint = complaint_##n, .confines = confines_##n}                                            \
        }                                                                                                              \
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
    struct preemption_policy preemption;
    struct backfill_policy backfill;
    void (*on_job)(void *, const int64_t *, enum plugin_event, const struct order_view *);
} tables[] = {TABLE_OF(0), TABLE_OF(1), TABLE_OF(2), TABLE_OF(3), TABLE_OF(4), TABLE_OF(5), TABLE_OF(6), TABLE_OF(7)};
_Static_assert(sizeof tables / sizeof tables[0] == PLUGINS_MAX, "functions for each slot");

/* Guard a hook if the plug-in has it. */
#define KEEP(hook_)                                                                                                    \
    if (policy->hook_ != NULL)                                                                                         \
    policy->hook_ = table->hook_

static void arm_quota(struct quota_policy *policy, const struct quota_policy *table)
{
    KEEP(forbids);
    KEEP(compare);
    KEEP(compare_victims);
    KEEP(divide);
    KEEP(may_reclaim);
    KEEP(may_take);
    KEEP(is_valid);
    KEEP(advance);
    KEEP(homes.complaint);
    KEEP(homes.confines);
}

static void arm_placement(struct placement_policy *policy, const struct placement_policy *table)
{
    KEEP(score);
    KEEP(bound);
    KEEP(choose_gpus);
    KEEP(draw);
    KEEP(score_place);
}

static void arm_estimate(struct estimate_policy *policy, const struct estimate_policy *table)
{
    KEEP(length);
    KEEP(note_run);
    KEEP(predict);
}

void guard_arm(struct guard_slot *slot)
{
    size_t at = (size_t)(slot - guard_slot_at(0));
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
    case PLUGIN_PREEMPTION:
        slot->policy.preemption = *(const struct preemption_policy *)own;
        if (slot->policy.preemption.spares != NULL)
            slot->policy.preemption.spares = tables[at].preemption.spares;
        break;
    case PLUGIN_BACKFILL:
        slot->policy.backfill = *(const struct backfill_policy *)own;
        if (slot->policy.backfill.reserves != NULL)
            slot->policy.backfill.reserves = tables[at].backfill.reserves;
        break;
    case PLUGIN_NONE:
    case PLUGIN_SEAM_COUNT:
        assert(false && "plugin_check has passed it");
    }
    slot->guarded = *slot->own;
    if (slot->own->on_job != NULL)
        slot->guarded.on_job = tables[at].on_job;
    slot->guarded.policy = &slot->policy;
}

const struct cycle_watch guard_watch = {.begin = guard_cycle_begin, .done = guard_cycle_done};
