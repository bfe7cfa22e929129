/* When plans are tried: which lanes may ask, in what order, how often, and when again.
 *
 * A lane whose head found nobody to evict backs off by state changes, twice as many each time, or until a victim that
 * was too young is ripe.  One that found victims, but none worth the wait, sleeps until they may be (worth.c), whatever
 * else happens, unless its queue comes to deserve what it asks.  Lanes that would surely find nobody are refused without a
 * search, and do not count.  Limits: attempts_per_cycle plans per cycle and kind.
 * Cost: O(lanes due) a cycle (agenda.c). */
#include "policies/eviction/eviction.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/node_search.h"
#include "policies/eviction/nominees.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/over_quota.h"
#include "policies/state/patience.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"

enum { BACKOFF_SHIFT_MAX = 12, BACKOFF_EAGER = 6 };

/* Since when the lane's head has waited long enough for anybody to be evicted, or moved. */
static time_ns patient_at(const struct sched *sched, const struct lane *lane, enum plan_kind kind)
{
    const uint32_t head = lane->heap[0].slot;
    const time_ns delay = sched_delay(sched, head), wait = sched->policy.defrag_config.wait;
    return sched->jobs.facts[head].waiting_since +
           (kind == PLAN_CONSOLIDATE && wait > delay ? wait : delay);
}

/* When the lane may ask: when it is due, and its head has waited long enough. */
static time_ns ask_at(const struct sched *sched, uint32_t lane_id, enum plan_kind kind)
{
    const struct lane *lane = &sched->pending.lanes[lane_id];
    const struct plan_memo *memo = &sched->pending.memos[lane_id][kind];
    time_ns due = agenda_is_due(sched, memo) ? 0 : memo->ripe_at,
            patient = patient_at(sched, lane, kind);
    return due > patient ? due : patient;
}

/* The first time one of the lanes that are awake may ask. */
static time_ns first_awake(const struct sched *sched, enum plan_kind kind)
{
    const struct agenda *agenda = &sched->agendas[kind];
    time_ns first = TIME_NEVER;
    for (uint32_t i = 0; i < agenda->awake_count && first > sched->now; i++) {
        time_ns at = ask_at(sched, agenda->awake[i], kind);
        if (at < first && plan_may_ask(sched, agenda->awake[i], kind))
            first = at;
    }
    return first;
}

time_ns plan_wake(struct sched *sched)
{
    time_ns first = TIME_NEVER;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        if (!sched->agendas[k].is_used)
            continue;
        time_ns awake = agenda_wake(sched, (enum plan_kind)k)
                            ? first_awake(sched, (enum plan_kind)k)
                            : TIME_NEVER;
        time_ns asleep = agenda_ripe_at(sched, (enum plan_kind)k);
        first = awake < first ? awake : first;
        first = asleep < first ? asleep : first;
    }
    return first <= sched->now ? sched->now + 1
                               : first; /* those the budget left over go on in the next cycle */
}

uint32_t plan_take_best_lane(struct sched *sched)
{
    struct plan_scratch *plan = sched->plan;
    uint32_t best =
        contest_best(&sched->tree, &sched->pending, plan->lanes, plan->lane_count, &sched->contest);
    for (uint32_t i = 0; i < plan->lane_count; i++)
        if (plan->lanes[i] == best) {
            plan->lanes[i] = plan->lanes[--plan->lane_count];
            break;
        }
    return best;
}

/* Asleep for twice as many state changes each time. */
static void back_off(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    struct plan_memo *memo = &sched->pending.memos[lane][kind];
    if (memo->failed < BACKOFF_SHIFT_MAX)
        memo->failed++;
    memo->retry_change = sched->changes + (UINT64_C(1) << memo->failed);
    if (sched->policy.quota->confines !=
        NULL) /* who owns a place is asked again whenever anything has changed */
        memo->retry_change = sched->changes + 1;
    memo->tried_cycle = sched->cycle;
    agenda_sleep(sched, lane, kind);
}

/* A plan for the lane's head came to nothing: what has to happen before the next? */
static void note_failure(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    const struct plan_scratch *plan = sched->plan;
    struct plan_memo *memo = &sched->pending.memos[lane][kind];
    uint32_t gainer = pending_head(&sched->pending, lane);
    /* A plan that keeps failing waits until all that are too young now are not: by then whoever it lacked is ripe. */
    memo->ripe_at = memo->failed < BACKOFF_EAGER ? plan->ripe_at : plan->ripe_last_at;
    memo->awaits_worth = plan->saw_dear;
    if (memo->awaits_worth)
        memo->ripe_at = worth_retry_at(sched, gainer);
    memo->awaits_start = plan->saw_starting;
    memo->starts_seen = sched->starts;
    memo->nobody_for = JOB_NONE;
    if (plan->saw_nobody && sched->policy.preemption->spares == NULL && kind == PLAN_PREEMPT &&
        !sched->policy.quota->is_flat) {
        memo->nobody_for = sched->jobs.jobs[gainer].id;
        memo->nobody_version = roster_version(sched, sched->jobs.jobs[gainer].queue);
        memo->nobody_until = plan->ripe_at;
    }
    back_off(sched, lane, kind);
}

/* Cheap refusals: a plan would surely come to nothing, for the same reason as the last or for one that needs no search. */
static bool is_hopeless(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    uint32_t gainer = pending_head(&sched->pending, lane);
    const struct sched_job *job = &sched->jobs.jobs[gainer];
    const struct plan_memo *memo = &sched->pending.memos[lane][kind];
    if (memo->awaits_worth && memo->ripe_at > sched->now && !sched_is_entitled(sched, gainer))
        return true; /* what merely happens does not make it worth more */
    if (sched->leaving_count > 0)
        return false; /* what comes may be enough */
    if (memo->nobody_for == job->id && memo->nobody_until > sched->now &&
        memo->nobody_version == roster_version(sched, job->queue))
        return true;
    const struct shape *ask = sched_ask(sched, job);
    return !potential_suffices(&sched->potential, sched->cluster, ask) ||
           !plan_may_evict(sched, gainer, kind);
}

static void refuse(struct sched *sched, uint32_t lane, enum plan_kind kind)
{
    struct plan_memo *memo = &sched->pending.memos[lane][kind];
    if (memo->ripe_at <= sched->now)
        memo->ripe_at = TIME_NEVER; /* its time has come in vain */
    back_off(sched, lane, kind);
}

static void forget_notes(struct plan_scratch *plan)
{
    plan->ripe_at = plan->ripe_last_at = plan->worth_at = TIME_NEVER;
    plan->saw_starting = plan->saw_dear = plan->saw_nobody = false;
}

/* The head has not waited long enough for any plan to be worth it: not before it may be. */
static bool await_worth(struct sched *sched, uint32_t lane)
{
    struct plan_memo *memo = &sched->pending.memos[lane][PLAN_RECLAIM];
    uint32_t gainer = pending_head(&sched->pending, lane);
    time_ns earliest = worth_earliest(sched, gainer);
    if (earliest <= sched->now)
        return false;
    forget_notes(sched->plan);
    sched->plan->worth_at = earliest;
    memo->awaits_worth = true;
    memo->ripe_at = worth_retry_at(sched, gainer);
    back_off(sched, lane, PLAN_RECLAIM);
    return true;
}

void plan_gather_lanes(struct sched *sched, enum plan_kind kind)
{
    struct plan_scratch *plan = sched->plan;
    const struct agenda *agenda = &sched->agendas[kind];
    plan->lane_count = 0;
    if (!agenda_wake(sched, kind))
        return;
    for (uint32_t i = 0; i < agenda->awake_count; i++) {
        uint32_t l = agenda->awake[i];
        const struct plan_memo *memo = &sched->pending.memos[l][kind];
        if (memo->tried_cycle == sched->cycle || !plan_may_ask(sched, l, kind))
            continue;
        time_ns at = ask_at(sched, l, kind);
        if (at > sched->now) {
            if (agenda_is_due(sched, memo))
                agenda_doze(sched, l, kind, at);
            continue;
        }
        if (kind == PLAN_RECLAIM && await_worth(sched, l))
            continue;
        if (is_hopeless(sched, l, kind)) {
            refuse(sched, l, kind);
            continue;
        }
        MEM_GROW(plan->lanes, plan->lane_capacity, (size_t)plan->lane_count + 1);
        plan->lanes[plan->lane_count++] = l;
    }
}

bool plan_attempt(struct sched *sched, uint32_t lane, enum plan_kind kind, bool is_nomination)
{
    uint32_t gainer = pending_head(&sched->pending, lane);
    forget_notes(sched->plan);
    sched->pending.memos[lane][kind].ripe_at = TIME_NEVER;
    if (is_nomination ? !plan_find(sched, gainer, kind) : !plan_make(sched, gainer, kind)) {
        note_failure(sched, lane, kind);
        return false;
    }
    if (!is_nomination)
        sched->pending.memos[lane][kind].failed /= 2;
    return true;
}

bool plan_cycle(struct sched *sched, enum plan_kind kind)
{
    bool is_booked = false;
    plan_gather_lanes(sched, kind);
    int64_t attempts = kind == PLAN_RECLAIM ? sched->plan->turn_attempts : 0;
    if (sched->policy.quota->rounds != NULL && sched->plan->lane_count > 1) {
        attempts += nominees_try_all(sched, kind, &is_booked);
        plan_gather_lanes(sched, kind);
    }
    for (; attempts < sched->policy.preempt.attempts_per_cycle && sched->plan->lane_count > 0;
         attempts++) {
        if (!plan_attempt(sched, plan_take_best_lane(sched), kind, false))
            continue;
        is_booked = true;
        plan_gather_lanes(sched, kind); /* the next head of the queue, and the lane behind it */
    }
    return is_booked;
}
