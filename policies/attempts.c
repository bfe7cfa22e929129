/* When plans are tried: which lanes may ask, in what order, how often, and when again.
 *
 * A lane whose head found nobody to evict backs off by state changes, twice as many each time, or until a victim that
 * was too young is ripe.  Limits: attempts_per_cycle plans per cycle and kind.  Cost: O(lanes with jobs) a cycle. */
#include "policies/sched_state.h"

enum { BACKOFF_SHIFT_MAX = 12, BACKOFF_EAGER = 6 };

/* A plan of this kind may be asked for by the lane's head: space, or a limit that victims could ease, keeps it
 * waiting. */
static bool may_ask(const struct sched *sched, const struct lane *lane, enum plan_kind kind)
{
    const struct shape *shape = &sched->shapes.shapes[lane->shape];
    bool is_forbidden = lane->quota_block != QUEUE_NONE;
    if (lane->count == 0 ||
        !pending_is_closed(&sched->pending, (uint32_t)(lane - sched->pending.lanes)))
        return false;
    if (kind == PLAN_CONSOLIDATE)
        return shape->is_preemptible && !is_forbidden &&
               sched->policy.preempt.consolidation_max != 0;
    return kind != PLAN_RECLAIM || sched->policy.quota->may_reclaim != NULL;
}

/* When a plan for the lane may be tried; TIME_NEVER: not before something changes. */
static time_ns due_at(const struct sched *sched, const struct lane *lane, enum plan_kind kind)
{
    if (!may_ask(sched, lane, kind))
        return TIME_NEVER;
    const struct plan_memo *memo = &lane->memos[kind];
    bool has_news = memo->awaits_start && memo->starts_seen != sched->starts;
    bool is_ready = has_news || memo->retry_change <= sched->changes;
    if (is_ready && memo->awaits_worth && !sched_is_entitled(sched, lane->heap[0].slot))
        is_ready = false; /* what merely happens does not make it worth more */
    time_ns due = is_ready ? 0 : memo->ripe_at;
    time_ns patient =
        sched->jobs.facts[lane->heap[0].slot].waiting_since + sched->policy.preempt.delay;
    return due > patient ? due : patient;
}

/* In a strict line only its first lane may go. */
static bool is_in_turn(const struct sched *sched, uint32_t lane)
{
    return !sched->pending.is_strict ||
           pending_first(&sched->pending, sched->pending.lanes[lane].line) == lane;
}

/* The lanes that may ask now and did not in this cycle. */
static void gather_lanes(struct sched *sched, enum plan_kind kind)
{
    struct plan_scratch *plan = &sched->plan;
    plan->lane_count = 0;
    for (uint32_t b = 0; b < sched->pending.busy_count; b++) {
        uint32_t l = sched->pending.busy[b];
        const struct lane *lane = &sched->pending.lanes[l];
        if (lane->memos[kind].tried_cycle == sched->cycle ||
            due_at(sched, lane, kind) > sched->now || !is_in_turn(sched, l))
            continue;
        MEM_GROW(plan->lanes, plan->lane_capacity, (size_t)plan->lane_count + 1);
        plan->lanes[plan->lane_count++] = l;
    }
}

static bool has_action(const struct sched *sched, enum action action)
{
    for (uint32_t a = 0; a < sched->policy.action_count; a++)
        if (sched->policy.actions[a] == action)
            return true;
    return false;
}

time_ns plan_wake(const struct sched *sched)
{
    static const enum action actions[PLAN_KIND_COUNT] = {ACTION_CONSOLIDATION, ACTION_RECLAIM,
                                                         ACTION_PREEMPT};
    time_ns first = TIME_NEVER;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        if (!has_action(sched, actions[k]))
            continue;
        for (uint32_t b = 0; b < sched->pending.busy_count && first > sched->now; b++) {
            uint32_t l = sched->pending.busy[b];
            time_ns due = due_at(sched, &sched->pending.lanes[l], (enum plan_kind)k);
            if (due < first && is_in_turn(sched, l))
                first = due;
        }
    }
    return first <= sched->now ? sched->now + 1
                               : first; /* those the budget left over go on in the next cycle */
}

/* Take the lane with the best head out of those gathered; LANE_NONE when there are no more. */
static uint32_t take_best_lane(struct sched *sched)
{
    struct plan_scratch *plan = &sched->plan;
    uint32_t best = contest_best(&sched->tree, &sched->pending, plan->lanes, plan->lane_count);
    for (uint32_t i = 0; i < plan->lane_count; i++)
        if (plan->lanes[i] == best) {
            plan->lanes[i] = plan->lanes[--plan->lane_count];
            break;
        }
    return best;
}

static void back_off(const struct sched *sched, uint32_t gainer, struct plan_memo *memo)
{
    if (memo->failed < BACKOFF_SHIFT_MAX)
        memo->failed++;
    memo->retry_change = sched->changes + (UINT64_C(1) << memo->failed);
    if (sched->policy.quota->confines !=
        NULL) /* who owns a place is asked again whenever anything has changed */
        memo->retry_change = sched->changes + 1;
    /* A plan that keeps failing waits until all that are too young now are not: by then whoever it lacked is ripe. */
    memo->ripe_at = memo->failed <= BACKOFF_EAGER ? sched->plan.ripe_at : sched->plan.ripe_last_at;
    memo->awaits_worth = sched->plan.saw_dear;
    if (memo->awaits_worth) {
        time_ns retry_at = worth_retry_at(sched, gainer);
        memo->ripe_at = retry_at < memo->ripe_at ? retry_at : memo->ripe_at;
    }
    memo->tried_cycle = sched->cycle;
    memo->awaits_start = sched->plan.saw_starting;
    memo->starts_seen = sched->starts;
}

bool plan_cycle(struct sched *sched, enum plan_kind kind)
{
    bool is_booked = false;
    gather_lanes(sched, kind);
    for (int64_t i = 0; i < sched->policy.preempt.attempts_per_cycle; i++) {
        uint32_t id = take_best_lane(sched);
        if (id == LANE_NONE)
            break;
        sched->plan.ripe_at = sched->plan.ripe_last_at = TIME_NEVER;
        sched->plan.worth_at = TIME_NEVER;
        sched->plan.saw_starting = sched->plan.saw_dear = false;
        sched->pending.lanes[id].memos[kind].ripe_at = TIME_NEVER;
        uint32_t gainer = pending_head(&sched->pending, id);
        if (plan_make(sched, gainer, kind)) {
            sched->pending.lanes[id].memos[kind].failed /= 2;
            is_booked = true;
            gather_lanes(sched, kind); /* its next head, and whoever was behind it */
        } else {
            back_off(sched, gainer, &sched->pending.lanes[id].memos[kind]);
        }
    }
    return is_booked;
}
