/* The cycle, in this order:
 *
 *   update what changes with time alone: ranks, expired claims
 *   issue rejections and releases of reservations
 *   reopen request classes that new free space may hold
 *   start jobs whose claimed space is free
 *   run the actions of the policy, in its order:
 *     allocate       the queue selection names a class queue; its head is placed, or the class queue is closed; under
 *                    `cohort` this also makes the reclaim plan of that class queue
 *     consolidation, reclaim, preempt       plans for heads that did not fit (policies/eviction/plan.c)
 *     stale_gang     evicts the remaining members of gangs below their minimum
 *   what mechanisms decide by themselves (policies/state/observer.h, act): cuts of GPUs, idle jobs told and evicted
 *   after a plan: allocate again, because victims freed headroom and the preemptor no longer blocks other jobs
 */
#include <assert.h>

#include "policies/allocate/allocate.h"
#include "policies/booking/booking.h"
#include "policies/booking/patience.h"
#include "policies/booking/sched_tags.h"
#include "policies/booking/start.h"
#include "policies/booking/told.h"
#include "policies/eviction/eviction.h"
#include "policies/reservation/reservation.h"
#include "policies/state/candidates.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/ranks.h"
#include "policies/state/waits.h"

static time_ns earlier(time_ns a, time_ns b)
{
    return a < b ? a : b;
}

#define REST_LONGEST (30 * 86400 * TIME_NS_PER_S)

/* Recompute all ranks if their period is over. */
static void refresh_ranks(struct sched *sched)
{
    if ((sched->ranks.are_moving || sched->ranks.need_accounts) &&
        sched->now - sched->ranks.at >= sched->policy.order_config.period)
        sched_rank_all(sched);
}

static bool fits_on_any(const struct sched *sched, const struct request_class *request_class, const node_id nodes[],
                        uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        if (request_class_fits_member(request_class, sched->ledger, nodes[n]))
            return true;
    return false;
}

enum { GROWTH_OPENS = REQUEST_CLASS_BLOCKED | REQUEST_CLASS_PROMISED | REQUEST_CLASS_SPARES_NODES };

/* Open closed request classes that may fit again.  A class that did not fit needs a node that gained space; one that
 * was kept from the headroom needs such a node, or enough free space. */
static void reopen_request_classes(struct sched *sched)
{
    const node_id *nodes;
    uint32_t count = ledger_take_grown(sched->ledger, &nodes);
    const bool may_rules_open = sched->ledger->tags != NULL && ledger_tags_take_changes(sched->ledger);
    if (sched->request_classes.closed_count == 0)
        return;
    const struct free_space free = headroom_free(sched);
    for (uint32_t id = request_class_next_closed(&sched->request_classes, 0); id < sched->request_classes.count;
         id = request_class_next_closed(&sched->request_classes, id + 1)) {
        const struct request_class *request_class = &sched->request_classes.at[id];
        uint8_t closed = (request_class->closed & (REQUEST_CLASS_BLOCKED | REQUEST_CLASS_PROMISED)) |
                         headroom_still_spares(sched, request_class, free);
        if (closed & GROWTH_OPENS &&
            ((may_rules_open && request_class->tags != NULL) || fits_on_any(sched, request_class, nodes, count)))
            closed &= (uint8_t)~GROWTH_OPENS;
        if (closed != request_class->closed)
            request_class_close(&sched->request_classes, id, closed);
    }
}

/* Evict all running members of the job. */
static void evict_rest(struct sched *sched, uint32_t slot, enum reason reason)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    decision_id id = decision->id;
    decision->reason = reason;
    decision->grace = sched_grace(sched, slot);
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase == HOLDING_RUNNING) {
            sched_tell_piece(sched, &sched_job_holding(job, i)->piece);
            sched_let_leave(sched, slot, i, id);
        }
    sched_settle(sched, slot);
}

enum { STALE_COUNT_MAX = 12 };

/* Is `stale_gang` one of the policy's actions? */
static bool evicts_stale(const struct sched *sched)
{
    bool is_found = false;
    for (uint32_t a = 0; a < sched->act_count; a++)
        is_found |= sched->acts[a] == ACTION_STALE_GANG;
    return is_found;
}

/* The time at which a gang below its minimum is evicted; TIME_NEVER: it is not.  One that was adopted so is evicted
 * under every policy with gangs, at once if that waits for ever otherwise.  The time doubles with each such eviction,
 * and after STALE_COUNT_MAX of them there is none: otherwise gangs that block each other would start and be evicted
 * for ever. */
static time_ns stale_at(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    time_ns after = sched_stale_after(sched, slot);
    if (facts->is_left_partial && (after == TIME_NEVER || !evicts_stale(sched)))
        after = 0;
    if (after < SCHED_PATIENCE_MIN)
        after = SCHED_PATIENCE_MIN;
    if (facts->stale_count == STALE_COUNT_MAX || after > TIME_NEVER >> facts->stale_count)
        return TIME_NEVER;
    return time_after(facts->below_since, after << facts->stale_count);
}

static bool is_stale(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state != SJOB_RUNNING || stale_at(sched, slot) > sched->now)
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++) /* starts and evictions under way come first */
        if (sched_job_holding(job, i)->phase != HOLDING_RUNNING)
            return false;
    return true;
}

/* Evict the gangs that have been below their minimum for too long; only_partial: only gangs that were adopted so. */
static inline void evict_stale(struct sched *sched, bool only_partial)
{
    for (uint32_t i = sched->lists.below_count; i-- > 0;)
        if (is_stale(sched, sched->lists.below[i]) &&
            (!only_partial || sched->jobs.facts[sched->lists.below[i]].is_left_partial)) {
            sched->jobs.facts[sched->lists.below[i]].stale_count++;
            evict_rest(sched, sched->lists.below[i], REASON_STALE_GANG);
        }
}

static void act(struct sched *sched)
{
    const bool evicts = sched->policy.preemption->evicts;
    bool is_planned = false;
    if (sched->policy.preempt.victims_of_this_cycle)
        decided_allow_recalls(sched, true);
    for (uint32_t a = 0; a < sched->act_count; a++) {
        enum action action = (enum action)sched->acts[a];
        if (action == ACTION_ALLOCATE)
            allocate(sched);
        else if (action == ACTION_STALE_GANG)
            evict_stale(sched, false);
        else if (sched->pending.job_count > 0)
            is_planned |= plan_cycle(sched, action == ACTION_CONSOLIDATION ? PLAN_CONSOLIDATE
                                            : action == ACTION_RECLAIM     ? PLAN_RECLAIM
                                                                           : PLAN_PREEMPT);
    }
    if (sched->lists.below_count > 0 && !evicts_stale(sched))
        evict_stale(sched, true);
    decided_allow_recalls(sched, false); /* `allocate` below has the last word */
    if (evicts && headroom_is_kept(sched))
        for (int64_t i = 0; i < sched->policy.preempt.attempts_per_cycle; i++)
            if (!headroom_refill(sched))
                break;
    if (is_planned)
        allocate(sched);
    moves_drop_holds(sched);
    OBSERVERS_TELL(sched, act);
}

/* When a cycle is due because ranks, shares or planned starts change with time.  While nothing runs and no fact
 * comes, the interval doubles, and after REST_LONGEST there is no such cycle. */
static time_ns find_turn(struct sched *sched)
{
    time_ns turn = sched->quota_advance.at;
    if (sched->ranks.are_moving || sched->ranks.need_accounts)
        turn = earlier(turn, sched->ranks.at + sched->policy.order_config.period);
    if (sched->policy.backfill_config.overtakes)
        turn = earlier(turn, reservation_wake(sched));
    if (sched->rest.change != sched->changes || sched->lists.booked_count > sched->lists.below_count ||
        sched->lists.leaving_count > 0 || sched->claims.count > 0) {
        sched->rest.change = sched->changes;
        sched->rest.since = sched->now;
    }
    const time_ns rested = sched->now - sched->rest.since;
    if (rested > REST_LONGEST)
        return TIME_NEVER;
    return turn < sched->now + rested ? sched->now + rested : turn;
}

/* When the next cycle is due without any fact; TIME_NEVER: none. */
static time_ns find_wake(struct sched *sched)
{
    time_ns wake = TIME_NEVER;
    if (sched->pending.job_count > 0) {
        wake = find_turn(sched);
        if (sched->policy.preemption->evicts)
            wake = earlier(wake, plan_wake(sched));
    }
    for (uint32_t i = 0; i < sched->lists.below_count; i++) {
        time_ns due = stale_at(sched, sched->lists.below[i]);
        if (due > sched->now) /* else it waits for starts or evictions under way, which end with a fact */
            wake = earlier(wake, due);
    }
    for (uint32_t c = 0; c < sched->claims.count; c++)
        wake = earlier(wake, claim_wake(sched, sched->claims.slots[c]));
    OBSERVERS_EACH(sched, wake, each)
    wake = earlier(wake, each->hooks->wake(sched, each->own));
    return wake <= sched->now ? sched->now + 1 : wake;
}

/* There is nothing to decide or to issue. */
static bool is_idle(const struct sched *sched)
{
    OBSERVERS_EACH(sched, is_due, each)
    if (each->hooks->is_due(sched, each->own))
        return false;
    return sched->pending.job_count + sched->claims.count + sched->lists.below_count + sched->decided.reject_count +
                   sched->decided.release_count + sched->request_classes.closed_count ==
               0 &&
           sched->ranks.are_fixed && !headroom_is_kept(sched);
}

/* A cycle that is not idle; returns its wake_at.  Not inlined, so that an idle cycle costs next to nothing. */
static __attribute__((noinline)) time_ns decide(struct sched *sched)
{
    refresh_ranks(sched);
    if (sched->policy.reservation_expiry != TIME_NEVER || sched->ledger->tags != NULL)
        claims_expire(sched, true);
    decided_tell_notes(sched);
    OBSERVERS_TELL(sched, cycle_begins);
    if (sched->pending.job_count > 0 || sched->request_classes.closed_count > 0)
        reopen_request_classes(sched);
    claims_start(sched);
    if (sched->keeps_quota)
        kept_reopen(sched);
    act(sched);
    decided_close_gaps(sched);
    decided_end_cycle(sched);
    waits_end_cycle(sched);
    return find_wake(sched);
}

void sched_stop_at(struct sched *sched, const volatile int *stop)
{
    sched->stop = stop;
}

size_t sched_cycle(struct sched *sched, time_ns now, const struct decision **out, time_ns *wake_at)
{
    *out = sched->decided.decisions;
    *wake_at = now < sched->now ? sched->now : TIME_NEVER;
    if (!told_in_time(sched, now))
        return 0;
    sched_pass_time(sched, now);
    sched->cycle++;
    decided_begin_cycle(sched);
    *wake_at = is_idle(sched) ? TIME_NEVER : decide(sched);
    *out = sched->decided.decisions;
    return sched->decided.count;
}
