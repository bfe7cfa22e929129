/* Is the after-state of a plan valid?  The quota policy accepts it, the limits hold, and the order puts the preemptor
 * before every victim that is lost, so that no victim can take its place back (policies/eviction/plan.c).
 * Cost: a placement of the preemptor and of each victim that may move; a comparison of queues for each victim. */
#include "policies/eviction/eviction.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/trial.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* May each taken unit be taken in its round, with the units before it gone?  Charges end as they were. */
bool plan_is_lawful(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    const uint32_t round = plan->round;
    bool is_lawful = true;
    if (plan_round(plan, request) == NULL)
        return true;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (unit->is_taken && !unit->is_moved)
            plan_charge(sched, unit, 1);
    }
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken || unit->is_moved)
            continue;
        plan->round = unit->round;
        is_lawful = is_lawful && victims_is_lawful(sched, request, unit);
        plan_charge(sched, unit, -1);
    }
    plan->round = round;
    return is_lawful;
}

/* With the victims gone and waiting again, does the order put the preemptor before each of them? */
static bool is_ordered_first(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        struct contender a, b;
        if (!unit->is_taken || unit->is_moved || plan_takes_own(sched, request->preemptor, unit->queue))
            continue;
        if (sched->policy.preempt.replaces_victims && plan_stands_on_lost(sched, unit))
            continue; /* it waits behind that, which is compared */
        plan_contenders(sched, request->preemptor, unit, &a, &b);
        if (!plan_is_by_right(sched, request, a.queue) && sched->policy.quota->compare(&sched->tree, a, b) > 0)
            return false;
    }
    for (uint32_t r = 0; r < plan->recall_count; r++)
        if (!plan_recall_is_last(sched, request->preemptor, plan->recalls[r]))
            return false;
    return true;
}

static uint32_t list_touched(struct sched *sched)
{
    struct plan_scratch *plan = sched->plan;
    uint32_t count = 0;
    for (uint32_t r = 0; r < plan->recall_count; r++) {
        MEM_GROW(plan->touched, plan->touched_capacity, (size_t)count + 1);
        plan->touched[count++] = sched->jobs.jobs[plan->recalls[r]].queue;
    }
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        bool is_new = unit->is_taken && !unit->is_moved;
        for (uint32_t i = 0; i < count && is_new; i++)
            is_new = plan->touched[i] != unit->queue;
        if (!is_new)
            continue;
        MEM_GROW(plan->touched, plan->touched_capacity, (size_t)count + 1);
        plan->touched[count++] = unit->queue;
    }
    return count;
}

/* Do the quota policy and the order accept the after-state?  Only a reclaim is asked. */
static bool is_quota_good(struct sched *sched, const struct plan_request *request)
{
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    const int64_t *ask = sched_ask(sched, own)->charge;
    if (request->kind != PLAN_RECLAIM)
        return true;
    if (!is_ordered_first(sched, request) || !plan_is_lawful(sched, request))
        return false;
    if (quota->is_valid == NULL)
        return true;
    uint32_t touched = list_touched(sched);
    plan_charge_preemptor(sched, request->preemptor, 1);
    bool is_valid = quota->is_valid(&sched->tree, own->queue, ask, sched->plan->touched, touched);
    plan_charge_preemptor(sched, request->preemptor, -1);
    return is_valid;
}

/* Victims that found no other place are lost.  May each of them be lost, one after another?  The moved ones are charged
 * again already. */
static bool may_be_lost(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    if (!request->is_moving)
        return true; /* this was asked when each was taken */
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (unit->is_taken && !unit->is_moved)
            plan_charge(sched, unit, 1);
    }
    bool is_lawful = true;
    for (uint32_t t = 0; t < plan->taken_count && is_lawful; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken || unit->is_moved)
            continue;
        is_lawful = victims_is_lawful(sched, request, unit);
        plan_charge(sched, unit, -1);
    }
    return is_lawful;
}

/* Do all members find a place whose job keeps others where they are? */
static bool has_all_parts(const struct sched *sched)
{
    const struct plan_scratch *plan = sched->plan;
    for (uint32_t t = 0; t < plan->taken_count && plan->stay_count > 0; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (unit->is_taken && !unit->is_moved && plan_stays_partly(plan, unit->slot))
            return false;
    }
    return true;
}

/* May victims of such a plan be placed elsewhere? */
bool plan_may_move(const struct sched *sched, const struct plan_request *request)
{
    return request->kind == PLAN_CONSOLIDATE || sched->policy.preempt.replaces_victims;
}

bool plan_validate(struct sched *sched, const struct plan_request *request)
{
    if (!plan_may_move(sched, request))
        return is_quota_good(sched, request);
    size_t mark = ledger_mark(sched->ledger);
    uint32_t unplaced;
    bool is_placed =
        plan_put_all(sched, request->preemptor, request->kind == PLAN_CONSOLIDATE ? 0 : UINT32_MAX, &unplaced);
    bool is_valid = is_placed && (request->kind != PLAN_CONSOLIDATE || unplaced == 0) && has_all_parts(sched) &&
                    may_be_lost(sched, request) && is_quota_good(sched, request);
    ledger_rollback(sched->ledger, mark);
    return is_valid;
}
