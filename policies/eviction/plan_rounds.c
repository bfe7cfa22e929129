/* Rounds: the ways in which the quota policy lets a plan search victims (struct quota_round), one after another.
 *
 * Where a quota policy has rounds, one plan of reclaim takes from the preemptor's own queue and from others; no plans
 * of preemption are made then.  A unit is judged by the rules of the round in which it was taken, also when the plan is
 * validated.
 * Cost: as a plan, once per round; a comparison of all queues per victim where a round goes by share. */
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"

bool plan_has_no_lower(const struct sched *sched, uint32_t preemptor, queue_id queue)
{
    return sched->policy.preempt.within_queue == WITHIN_QUEUE_LOWER &&
           candidates_count_lower(sched, queue, sched->jobs.jobs[preemptor].priority) == 0;
}

/* May jobs be evicted for the preemptor?  Fills the rounds. */
static bool fill_rounds(struct sched *sched, struct plan_request *request)
{
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    const int64_t *ask = sched_ask(sched, own)->charge;
    if (request->kind == PLAN_CONSOLIDATE)
        return true;
    if (quota->lending.rounds != NULL) {
        const uint32_t count = quota->lending.rounds(&sched->tree, own->queue, ask, request->rounds);
        request->round_count = request->kind == PLAN_RECLAIM ? count : 0;
        if (count == 0)
            return false;
    }
    return request->kind == PLAN_PREEMPT || quota->may_reclaim(&sched->tree, own->queue, ask) ||
           (sched->eviction->takes_both && !plan_has_no_lower(sched, request->preemptor, own->queue));
}

struct plan_request plan_request_of(struct sched *sched, uint32_t preemptor, enum plan_kind kind)
{
    struct plan_request request = {.preemptor = preemptor, .kind = kind, .loss_bound = INT64_MAX};
    request.may_evict = fill_rounds(sched, &request);
    return request;
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

bool plan_is_by_right(const struct sched *sched, const struct plan_request *request, queue_id preemptor_top)
{
    const struct quota_round *round = plan_round(sched->plan, request);
    return round != NULL && is_entitled(sched, round, preemptor_top);
}

bool plan_is_by_share(const struct sched *sched, const struct plan_request *request)
{
    const struct quota_round *round = plan_round(sched->plan, request);
    return round != NULL && round->by_share;
}

bool plan_is_all_by_right(const struct sched *sched, const struct plan_request *request, queue_id queue)
{
    const struct plan_scratch *plan = sched->plan;
    queue_id mine, its;
    if (plan_round(plan, request) == NULL || queue == sched->jobs.jobs[request->preemptor].queue)
        return false;
    queue_tree_below_common(&sched->tree, sched->jobs.jobs[request->preemptor].queue, queue, &mine, &its);
    for (uint32_t r = 0; r < request->round_count; r++)
        if (!is_entitled(sched, &request->rounds[r], mine))
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

bool plan_next_round(struct sched *sched, const struct plan_request *request, size_t *mark)
{
    struct plan_scratch *plan = sched->plan;
    if (plan->round + 1 >= request->round_count)
        return false;
    const bool goes_on = request->rounds[++plan->round].goes_on;
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
