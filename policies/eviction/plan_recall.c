/* Claims of this cycle that a reclaim takes back: their RESERVE is not told, and their jobs wait as before.
 *
 * An action books its plans before the next action begins.  So a consolidation may promise space to a job whose queue
 * is beyond its share, and a reclaim in the same cycle needs it.  Where the policy lets a plan take what this cycle
 * decided (victims_of_this_cycle), such a claim is a victim like others, but that nothing is evicted: the quota policy
 * must let its queue lose it, and the order must put the preemptor before its job.
 *
 * A plan without them is preferred.  Else the last claims go first, the reverse of the order in which they were made,
 * until the preemptor fits, with or without victims.  Known limit: a claim made later than the one that is needed is
 * taken back too.
 *
 * Law: a claim of this cycle is taken back only if no plan without that is valid.  Checked by
 * tests/cases/kai_victims.json. The fault it caught: a job that was moved lost its new place, and another its old one,
 * because the claim for which it had moved could not be taken back.
 * Source: KAI-Scheduler, actions/integration_tests/consolidation_and_reclaim: pipelined pods are victims.
 * Cost: a search of victims for each claim of the cycle that may be taken back. */
#include "policies/booking/booking.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_fit.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

static bool is_recalled(const struct plan_scratch *plan, uint32_t slot)
{
    for (uint32_t r = 0; r < plan->recall_count; r++)
        if (plan->recalls[r] == slot)
            return true;
    return false;
}

/* Is all that the job has a claim of this cycle? */
static bool is_new_claim(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase != HOLDING_CLAIMED)
            return false;
    return decided_reserve(sched, job->id) != NULL;
}

bool plan_recall_is_last(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *its = &sched->jobs.jobs[slot];
    const struct contender a = {.ask = sched_ask(sched, own)->charge,
                                .leaf = own->queue,
                                .priority = own->priority,
                                .submit = sched->jobs.facts[preemptor].submit};
    const struct contender b = {.ask = sched_ask(sched, its)->charge,
                                .leaf = its->queue,
                                .priority = its->priority,
                                .submit = sched->jobs.facts[slot].submit};
    struct contender above_a = a, above_b = b;
    queue_tree_below_common(&sched->tree, own->queue, its->queue, &above_a.queue, &above_b.queue);
    return sched->policy.quota->compare(&sched->tree, above_a, above_b) <= 0;
}

static bool may_recall(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *job = &sched->jobs.jobs[slot];
    const struct request_class *ask = sched_ask(sched, job);
    const struct taking taking = {.preemptor = own->queue,
                                  .victim = job->queue,
                                  .preemptor_ask = sched_ask(sched, own)->charge,
                                  .victim_unit = ask->charge,
                                  .preemptor_priority = own->priority,
                                  .victim_priority = job->priority};
    return job->queue != own->queue && sched_request_class(sched, job)->is_preemptible &&
           !is_recalled(sched->plan, slot) && is_new_claim(sched, slot) &&
           sched->policy.quota->may_take(&sched->tree, &taking);
}

/* In the trial: change the ledger for every piece of the claim, and its queue's charge. */
static void change(struct sched *sched, uint32_t slot, ledger_move_fn *move, int sign)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        sched_move(sched, slot, i, move);
        sched_add_charge(sched, slot, &sched_job_holding(job, i)->piece, sign, amounts);
    }
    ledger_charge(sched->ledger, job->queue, amounts);
}

bool plan_recall_next(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    if (request->kind != PLAN_RECLAIM || sched->decided.recalls_after == UINT64_MAX ||
        !sched->policy.preempt.replaces_victims || sched->policy.quota->lending.rounds != NULL)
        return false;
    for (uint32_t c = sched->claims.count; c-- > 0;) {
        const uint32_t slot = sched->claims.slots[c];
        if (!may_recall(sched, request->preemptor, slot))
            continue;
        change(sched, slot, ledger_unclaim, -1);
        ledger_foresee(sched->ledger); /* what it waited for is coming */
        MEM_GROW(plan->recalls, plan->recall_capacity, (size_t)plan->recall_count + 1);
        plan->recalls[plan->recall_count++] = slot;
        return true;
    }
    return false;
}

void plan_recall_claims(struct sched *sched, uint32_t preemptor)
{
    struct plan_scratch *plan = sched->plan;
    for (uint32_t r = 0; r < plan->recall_count; r++) {
        struct job_facts *facts = &sched->jobs.facts[plan->recalls[r]];
        sched_recall_claim(sched, plan->recalls[r]);
        facts->displaced_by = sched->jobs.jobs[preemptor].id;
        facts->displaced_cycle = sched->cycle;
    }
    plan->recall_count = 0;
}
