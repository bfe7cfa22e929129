/* policies/eviction/plan_fit.c -- does the preemptor fit in a trial?  Avoids placements that would fail, where the
 * preemptor is confined to its queue's GPUs. */
#include "policies/eviction/plan_fit.h"
#include "policies/booking/booking.h"

#include "policies/eviction/plan_scratch.h"
#include "policies/quota/quota.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/sched_state.h"

/* The only group of the request class, if the places of its members depend on nothing outside their home; else NULL.
 * The members of one group are alike, so it does not matter which of them is placed where. */
static const struct job_group *homely_group(const struct request_class *ask)
{
    const struct job_group *only = NULL;
    for (uint32_t g = 0; g < ask->group_count; g++) {
        if (ask->groups[g].count == 0)
            continue;
        if (only != NULL)
            return NULL;
        only = &ask->groups[g];
    }
    return ask->tags != NULL || request_class_asks_domains(ask) ? NULL : only;
}

/* *has_no_place: placement was tried and found no place; a lack of headroom does not count. */
static bool fits(struct sched *sched, uint32_t preemptor, bool *has_no_place)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[preemptor]);
    size_t mark = ledger_mark(sched->ledger);
    bool may_fit = placement_may_fit(sched->ledger, ask);
    bool is_placed = may_fit && sched_place(sched, preemptor, &sched->plan->pieces);
    *has_no_place = may_fit && !is_placed;
    if (is_placed && !headroom_is_for(sched, preemptor))
        is_placed = headroom_spares(sched, preemptor, sched->plan->free_before) == 0;
    ledger_rollback(sched->ledger, mark);
    return is_placed;
}

static bool is_allowed(struct sched *sched, const struct plan_request *request)
{
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    const struct quota_round *round = plan_round(sched->plan, request);
    const int64_t *ask = sched_ask(sched, own)->charge;
    if (round != NULL && quota->lending.suffices != NULL &&
        !quota->lending.suffices(&sched->tree, own->queue, ask, round))
        return false;
    return queue_tree_forbids(&sched->tree, own->queue, ask) == QUEUE_NONE &&
           kept_forbids(sched, request->preemptor) == QUEUE_NONE;
}

bool plan_try_fit(struct sched *sched, const struct plan_request *request)
{
    bool has_no_place;
    return is_allowed(sched, request) && fits(sched, request->preemptor, &has_no_place);
}

/* Has nothing changed at home since the preemptor found no place there? */
static bool is_misfit_still(const struct ledger *ledger, struct misfit *misfit)
{
    if (misfit->keeper == QUEUE_NONE || ledger->change_count - misfit->changes > ledger->change_mask + UINT64_C(1))
        return false; /* the ledger keeps only the last changes */
    for (; misfit->changes < ledger->change_count; misfit->changes++)
        if (ledger_is_keeper(ledger, misfit->keeper, ledger->changes[misfit->changes & ledger->change_mask]))
            return false;
    return true;
}

/* The queue whose home alone decides where the preemptor may be placed; QUEUE_NONE: it is not confined. */
static queue_id keeper_of(struct sched *sched, uint32_t preemptor)
{
    const struct sched_job *job = &sched->jobs.jobs[preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    queue_id keeper = QUEUE_NONE;
    if (quota->homes.confines == NULL ||
        quota->homes.confines(&sched->tree, job->queue, sched_ask(sched, job), &keeper) == NULL)
        return QUEUE_NONE;
    return keeper;
}

bool plan_try_fit_again(struct sched *sched, const struct plan_request *request, struct misfit *misfit)
{
    bool has_no_place;
    if (is_misfit_still(sched->ledger, misfit) || !is_allowed(sched, request))
        return false;
    bool is_placed = fits(sched, request->preemptor, &has_no_place);
    *misfit = (struct misfit){QUEUE_NONE, sched->ledger->change_count};
    if (has_no_place && homely_group(sched_ask(sched, &sched->jobs.jobs[request->preemptor])) != NULL)
        misfit->keeper = keeper_of(sched, request->preemptor);
    return is_placed;
}

const struct job_group *plan_home_of(struct sched *sched, uint32_t preemptor, queue_id *keeper)
{
    const struct job_group *group = homely_group(sched_ask(sched, &sched->jobs.jobs[preemptor]));
    *keeper = group == NULL ? QUEUE_NONE : keeper_of(sched, preemptor);
    return *keeper == QUEUE_NONE ? NULL : group;
}

/* The number of GPUs of the row that hold no job which can never be a victim. */
static uint32_t count_room(const struct sched *sched, const struct home_row *row)
{
    const uint16_t *unmovable = &sched->preemption_bound.unmovable[sched->cluster->nodes[row->node].first_gpu];
    uint32_t room = 0;
    for (uint16_t gpus = row->gpus; gpus != 0; gpus &= (uint16_t)(gpus - 1))
        room += unmovable[__builtin_ctz(gpus)] == 0;
    return room;
}

bool plan_home_suffices(struct sched *sched, uint32_t preemptor)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor];
    const struct quota_policy *quota = sched->policy.quota;
    if (quota->homes.confines == NULL)
        return true;
    const struct request_class *ask = sched_ask(sched, own);
    const struct job_group *group = homely_group(ask);
    if (group == NULL || sched->lists.leaving_firm_count > 0 || sched->policy.preempt.replaces_victims ||
        sched->policy.preempt.loss_ratio_milli != 0)
        /* The counts below take GPUs with jobs that are never evicted for lost.  In the other cases the search also
         * notes when to retry. */
        return true;
    if (quota->homes.has_room != NULL && !quota->homes.has_room(&sched->tree, own->queue, ask, false))
        return false;
    if (group->request.gpus == 0)
        return true;
    const queue_id keeper = keeper_of(sched, preemptor);
    if (keeper == QUEUE_NONE)
        return true;
    const struct home_rows home = quota->homes.rows(&sched->tree, keeper);
    uint64_t members = 0;
    for (uint32_t r = 0; r < home.count && members < group->count; r++)
        members += count_room(sched, &home.rows[r]) / group->request.gpus;
    return members >= group->count;
}
