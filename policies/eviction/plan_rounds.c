/* Rounds: the ways in which the quota policy lets a plan search victims (struct quota_round), one after another.
 *
 * Where a quota policy has rounds, one plan of reclaim takes from the preemptor's own queue and from others; no plans
 * of preemption are made then.  A unit is judged by the rules of the round in which it was taken, also when the plan is
 * validated.
 * Cost: as a plan, once per round; a comparison of all queues per victim where a round goes by share. */
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/sched_state.h"

bool plan_may_evict(struct sched *sched, uint32_t preemptor, enum plan_kind kind)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    const int64_t *ask = sched_ask(sched, own)->charge;
    struct plan_scratch *plan = sched->plan;
    plan->round_count = plan->round = 0;
    if (kind == PLAN_CONSOLIDATE)
        return true;
    if (quota->rounds != NULL) {
        uint32_t count = quota->rounds(&sched->tree, own->queue, ask, plan->rounds);
        plan->round_count = kind == PLAN_RECLAIM ? count : 0;
        if (count == 0)
            return false;
    }
    return kind == PLAN_PREEMPT || quota->may_reclaim(&sched->tree, own->queue, ask) ||
           (sched->eviction->takes_both && !victims_has_no_lower(sched, preemptor, own->queue));
}

bool plan_takes_own(const struct sched *sched, uint32_t preemptor, queue_id queue)
{
    return sched->eviction->takes_both && preemptor != SLOT_NONE && queue == sched->jobs.jobs[preemptor].queue;
}

static bool is_entitled(const struct sched *sched, const struct quota_round *round, queue_id preemptor_top)
{
    return round->entitled != QUEUE_NONE &&
           sched->tree.queues[round->entitled].depth >= sched->tree.queues[preemptor_top].depth;
}

bool plan_is_by_right(const struct sched *sched, queue_id preemptor_top)
{
    const struct quota_round *round = plan_round(sched->plan);
    return round != NULL && is_entitled(sched, round, preemptor_top);
}

bool plan_is_by_share(const struct sched *sched)
{
    const struct quota_round *round = plan_round(sched->plan);
    return round != NULL && round->by_share;
}

bool plan_is_all_by_right(const struct sched *sched, queue_id queue)
{
    const struct plan_scratch *plan = sched->plan;
    queue_id mine, its;
    if (plan_round(plan) == NULL || queue == sched->jobs.jobs[plan->preemptor].queue)
        return false;
    queue_tree_below_common(&sched->tree, sched->jobs.jobs[plan->preemptor].queue, queue, &mine, &its);
    for (uint32_t r = 0; r < plan->round_count; r++)
        if (!is_entitled(sched, &plan->rounds[r], mine))
            return false;
    return true;
}

void plan_contenders(struct sched *sched, uint32_t preemptor, const struct unit *unit, struct contender *a,
                     struct contender *b)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *its = &sched->jobs.jobs[unit->slot];
    *a = (struct contender){.ask = sched_ask(sched, own)->charge,
                            .leaf = own->queue,
                            .priority = own->priority,
                            .submit = sched->jobs.facts[preemptor].submit};
    *b = (struct contender){.ask = unit_terms(sched->plan, unit)->charge,
                            .leaf = unit->queue,
                            .priority = its->priority,
                            .submit = sched->jobs.facts[unit->slot].submit};
    queue_tree_below_common(&sched->tree, own->queue, unit->queue, &a->queue, &b->queue);
}

bool plan_next_round(struct sched *sched, size_t *mark)
{
    struct plan_scratch *plan = sched->plan;
    if (!plan->is_seeking || plan->round + 1 >= plan->round_count)
        return false;
    const bool goes_on = plan->rounds[++plan->round].goes_on;
    if (!goes_on) {
        ledger_rollback(sched->ledger, *mark);
        *mark = ledger_mark(sched->ledger);
        plan_begin(plan);
    }
    plan->next = 0;
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        plan->units[u].is_refused = false;
        plan->units[u].is_taken &= goes_on;
    }
    return true;
}

/* May each taken unit be taken in its round, with the units before it gone?  Charges end as they were. */
bool plan_is_lawful(struct sched *sched, uint32_t preemptor)
{
    struct plan_scratch *plan = sched->plan;
    const uint32_t round = plan->round;
    bool is_lawful = true;
    if (plan_round(plan) == NULL)
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
        is_lawful = is_lawful && victims_is_lawful(sched, preemptor, unit);
        plan_charge(sched, unit, -1);
    }
    plan->round = round;
    return is_lawful;
}

/* ---- by share ---- */

static struct unit *first_left(struct plan_scratch *plan, queue_id queue)
{
    struct unit_span *span = &plan->spans[queue];
    if (span->round != plan->round) {
        span->round = plan->round;
        span->next = span->first;
        span->is_done = false;
    }
    for (; !span->is_done && span->next < span->first + span->count; span->next++) {
        struct unit *unit = &plan->units[span->next];
        if (!unit->is_taken && !unit->is_refused)
            return unit;
    }
    return NULL;
}

struct front { /* the unit that would be taken next in a part of the tree, and the child queue it is below */
    struct unit *unit;
    queue_id queue;
};

static bool loses_first(struct sched *sched, struct front a, struct front b)
{
    const struct plan_scratch *plan = sched->plan;
    struct contender x = {.queue = a.queue, .ask = unit_terms(plan, a.unit)->charge},
                     y = {.queue = b.queue, .ask = unit_terms(plan, b.unit)->charge};
    x.leaf = a.unit->queue;
    y.leaf = b.unit->queue;
    int order = sched->policy.quota->compare_victims(&sched->tree, x, y);
    return order != 0 ? order < 0 : victims_compare(plan, a.unit, b.unit) < 0;
}

static struct unit *front_below(struct sched *sched, queue_id queue)
{
    struct front best = {first_left(sched->plan, queue), queue};
    if (best.unit != NULL)
        return best.unit;
    for (queue_id c = sched->tree.queues[queue].first_child; c != QUEUE_NONE; c = sched->tree.queues[c].next_sibling) {
        struct front front = {NULL, c};
        if (sched->plan->has_units[c])
            front.unit = front_below(sched, c);
        if (front.unit != NULL && (best.unit == NULL || loses_first(sched, front, best)))
            best = front;
    }
    return best.unit;
}

struct unit *plan_next_by_share(struct sched *sched, uint32_t preemptor, enum plan_kind kind)
{
    struct plan_scratch *plan = sched->plan;
    const bool is_once = plan_round(plan)->once_a_queue;
    for (;;) {
        plan_charge_preemptor(sched, preemptor, 1); /* compare shares as they will be with it */
        struct unit *unit = front_below(sched, QUEUE_ROOT);
        plan_charge_preemptor(sched, preemptor, -1);
        if (unit == NULL)
            return NULL;
        const queue_id queue = unit->queue;
        for (; unit != NULL; unit = first_left(plan, queue)) {
            bool may = victims_may_take(sched, preemptor, unit, kind);
            plan->spans[queue].is_done = is_once;
            if (may)
                return unit;
        }
    }
}
