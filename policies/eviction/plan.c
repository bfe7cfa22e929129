/* Plans: make room for a job by evicting others, first in a trial of the ledger.
 *
 *   ask       does the preemptor fit in free and leaving space together?  Then it only waits for that
 *   collect   list the units that may be evicted (victims.c); if the preemptor would not fit with all of them gone,
 *             there is no plan (plan_bound.c); else put them in the order of their keys
 *   grow      take units until the preemptor fits and the after-state is valid
 *   trim      give back, the last taken first, every unit that is not needed; validate again
 *   stay      give back the units whose new places are on the nodes where they run, if no other place needs what they
 *             hold (plan_places.c)
 *   book      or roll back; the preemptor claims its space, so that no other job gets it
 *
 * The after-state is valid when the quota policy accepts it, the limits hold, and the order puts the preemptor before
 * every victim, so that no victim can take its place back.  A consolidation is valid when every victim fits elsewhere.
 * Limits: victims_max jobs per plan, attempts_per_cycle plans per cycle and kind.
 * Cost: O(running jobs) to collect, a placement per unit taken. */
#include <assert.h>
#include <string.h>

#include "policies/booking/booking.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/node_search.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_bound.h"
#include "policies/eviction/plan_fit.h"
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/trial.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/headroom.h"
#include "policies/state/over_quota.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* Give back every unit that holds nothing on the nodes where the preemptor is placed.  True if there is one. */
static bool drop_bystanders(struct sched *sched)
{
    struct plan_scratch *plan = sched->plan;
    bool is_any = false;
    for (uint32_t p = 0; p < plan->pieces.count; p++)
        plan->node_mark[plan->pieces.pieces[p].node] = 1;
    for (uint32_t t = plan->taken_count; t-- > 0;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = &sched->jobs.jobs[unit->slot];
        bool touches = !unit->is_taken || plan_is_core_taken(sched, unit);
        for (uint32_t i = 0; i < job->holding_count && !touches; i++)
            if (unit_has(sched, unit, i))
                touches = plan->node_mark[sched_job_holding(job, i)->piece.node] != 0;
        if (touches)
            continue;
        is_any |= unit->is_taken;
        plan_give_back(sched, unit);
    }
    for (uint32_t p = 0; p < plan->pieces.count; p++)
        plan->node_mark[plan->pieces.pieces[p].node] = 0;
    return is_any;
}

/* Is the preemption cost worth the time that the preemptor has waited?  If not, notes when it may be.  The cost
 * does not matter if the preemptor's queue stays in quota. */
static bool weigh_cost(struct sched *sched, const struct plan_request *request)
{
    if (sched->policy.preempt.loss_ratio_milli == 0 || sched_is_entitled(sched, request->preemptor))
        return true;
    const struct plan_scratch *plan = sched->plan;
    struct preemption_cost all = {.saved_at = TIME_NEVER};
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken)
            continue;
        const struct preemption_cost *own = &unit_terms(plan, unit)->preemption_cost;
        all.loss_gpu_ns += own->loss_gpu_ns;
        all.least_gpu_ns += own->least_gpu_ns;
        all.growth_milli += own->growth_milli;
        if (own->saved_at < all.saved_at)
            all.saved_at = own->saved_at;
    }
    if (all.loss_gpu_ns <= preemption_cost_of_wait(sched, request->preemptor))
        return true;
    preemption_cost_note(sched, request->preemptor, &all);
    return false;
}

/* Give back, the last taken first, every unit without which the preemptor still fits and the rounds allow the rest.
 * is_strict: the whole after-state must stay valid.  True if a unit was given back. */
static bool give_back_spare(struct sched *sched, const struct plan_request *request, bool is_strict)
{
    struct plan_scratch *plan = sched->plan;
    bool is_any = false;
    for (uint32_t t = plan->taken_count; t-- > 0;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken || plan_is_core_taken(sched, unit))
            continue;
        plan_give_back(sched, unit);
        if (!plan_try_fit(sched, request) || !plan_is_lawful(sched, request) ||
            (is_strict && !plan_validate(sched, request)))
            plan_take_again(sched, unit);
        else
            is_any = true;
    }
    return is_any;
}

/* Remove units that were given back from the list of taken units. */
static void forget_given_back(struct plan_scratch *plan)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < plan->taken_count; t++)
        if (plan->units[plan->taken[t]].is_taken)
            plan->taken[count++] = plan->taken[t];
    plan->taken_count = count;
}

/* Give back every unit that is not needed.  False: the plan is not valid.  Where victims move, a unit that the
 * preemptor does not need may have to go so that another victim finds a place.  If the plan is not valid without such
 * units, they stay in it. */
static bool trim(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    forget_given_back(plan);
    size_t mark = ledger_mark(sched->ledger);
    give_back_spare(sched, request, false);
    bool is_trimmed = plan_validate(sched, request);
    if (is_trimmed || !plan_may_move(sched, request)) {
        ledger_commit(sched->ledger, mark);
        return is_trimmed;
    }
    ledger_rollback(sched->ledger, mark);
    for (uint32_t t = 0; t < plan->taken_count; t++)
        plan->units[plan->taken[t]].is_taken = true;
    while (give_back_spare(sched, request, true))
        continue; /* the places of moved victims may depend on which others move */
    return plan_validate(sched, request);
}

/* In a round, only the rules of the round are asked here.  The rest of the after-state is asked after trimming. */
static bool accept(struct sched *sched, const struct plan_request *request)
{
    if (request->kind == PLAN_CONSOLIDATE && !plan_may_hold_all(sched, request->preemptor)) {
#ifdef WINDTUNNEL_DEBUG
        assert(!plan_validate(sched, request));
#endif
        return false;
    }
    return plan_count_jobs(sched) <= plan_job_bound(sched, request->kind) && plan_try_fit(sched, request) &&
           (plan_round(sched->plan, request) != NULL ? plan_is_lawful(sched, request) : plan_validate(sched, request));
}

/* The units taken suffice.  Is the after-state valid?  It is tried first without the units on nodes where the preemptor
 * is not placed, then with all of them. */
static bool settle_for(struct sched *sched, const struct plan_request *request)
{
    size_t mark = ledger_mark(sched->ledger);
    const bool is_any_dropped = drop_bystanders(sched);
    if (accept(sched, request)) {
        ledger_commit(sched->ledger, mark);
        return true;
    }
    ledger_rollback(sched->ledger, mark);
    if (!is_any_dropped)
        return false; /* all of them were tried */
    for (uint32_t t = 0; t < sched->plan->taken_count; t++)
        sched->plan->units[sched->plan->taken[t]].is_taken = true;
    return accept(sched, request);
}

/* A generator of units: it takes the units that the search tries next.  It returns false if no unit is left. */
typedef bool take_fn(struct sched *sched, const struct plan_request *request);

static bool take_in_order(struct sched *sched, const struct plan_request *request)
{
    struct unit *unit = victims_next(sched, request);
    if (unit != NULL)
        plan_take(sched, unit);
    return unit != NULL;
}

static bool take_by_node(struct sched *sched, const struct plan_request *request)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[request->preemptor]);
    uint32_t group = 0;
    while (ask->groups[group].count == 0)
        group++;
    return node_search_take(sched, request, &ask->groups[group].request);
}

/* The search stops taking units once the units taken belong to this many jobs; UINT32_MAX: never.  A search that moves
 * its victims looks at the first units of the order only, so it has such a bound. */
static uint32_t most_jobs(const struct sched *sched, const struct plan_request *request, take_fn *take)
{
    const bool is_moving = request->kind == PLAN_CONSOLIDATE || request->is_moving;
    if (take == take_in_order)
        return is_moving ? plan_job_bound(sched, PLAN_CONSOLIDATE) : UINT32_MAX;
    const uint32_t bound = plan_job_bound(sched, request->kind);
    return bound == UINT32_MAX ? UINT32_MAX : bound + 1;
}

/* Take units until the preemptor fits in a valid after-state; false if that never comes. */
static bool grow(struct sched *sched, const struct plan_request *request, take_fn *take)
{
    const uint32_t most = most_jobs(sched, request, take);
    struct misfit misfit = {.keeper = QUEUE_NONE};
    uint32_t tested = UINT32_MAX; /* the number of units taken at the last test, which failed */
    while ((most == UINT32_MAX || plan_count_jobs(sched) < most) && take(sched, request)) {
        if (sched->plan->taken_count == tested)
            continue;
        tested = sched->plan->taken_count;
        if (request->kind == PLAN_CONSOLIDATE && !plan_may_hold_all(sched, request->preemptor))
            continue; /* nor could it with some of them only */
        if (plan_try_fit_again(sched, request, &misfit) && settle_for(sched, request))
            return true;
    }
    return false;
}

/* Do the candidates and the free space together hold as many GPUs as the preemptor asks?  If not, there is no plan.
 * True also for a request by GPU memory: its number of GPUs depends on the model. */
static bool could_suffice(struct sched *sched, const struct request_class *ask)
{
    const struct ledger *ledger = sched->ledger;
    int64_t room = (int64_t)sched->cluster->gpu_count * GPU_MILLI - ledger->used_milli - ledger->coming_milli -
                   ledger->claimed_milli;
    for (uint32_t u = 0; u < sched->plan->unit_count; u++)
        room += sched->plan->units[u].held_milli;
    for (uint32_t g = 0; g < ask->group_count; g++)
        if (ask->groups[g].request.gpu_memory_mib != 0)
            return true;
    return room >= ask->charge[QUEUE_SUM_GPU];
}

/* Search among the units that were collected, round by round.  Units taken or refused before are reset. */
static bool search(struct sched *sched, const struct plan_request *request, take_fn *take)
{
    size_t mark = ledger_mark(sched->ledger);
    bool is_found, goes_on = true;
    plan_begin(sched->plan);
    sched->plan->next = sched->plan->round = 0;
    if (take == take_in_order)
        victims_arrange(sched, request);
    for (uint32_t u = 0; u < sched->plan->unit_count; u++)
        sched->plan->units[u].is_taken = sched->plan->units[u].is_refused = false;
    do {
        is_found = grow(sched, request, take);
        node_search_end(sched);
        goes_on = !is_found && plan_next_round(sched, request, &mark);
    } while (goes_on);
    if (is_found)
        ledger_commit(sched->ledger, mark);
    else
        ledger_rollback(sched->ledger, mark);
    return is_found;
}

/* May the units that were collected suffice?  With debug assertions on, a refusal is compared with the search that it
 * spares. */
static bool bound_suffices(struct sched *sched, const struct plan_request *request)
{
    const bool suffices = plan_bound_suffices(sched, request);
#ifdef WINDTUNNEL_DEBUG
    if (!suffices && sched->plan->unit_count > 0)
        assert(!search(sched, request, take_in_order));
#endif
    return suffices;
}

/* Collect the units.  False: even all of them together would not suffice.  If the home is too small, they are not
 * needed, but it is noted when units may be taken later. */
static bool collect_enough(struct sched *sched, const struct plan_request *request, bool has_home)
{
    const bool is_hopeless = (!has_home && request->kind == PLAN_RECLAIM) ||
                             (request->kind == PLAN_CONSOLIDATE && !plan_room_suffices(sched, request->preemptor));
#ifdef WINDTUNNEL_DEBUG
    if (is_hopeless && request->kind == PLAN_CONSOLIDATE) {
        victims_collect(sched, request);
        assert(!search(sched, request, take_in_order));
    }
#endif
    if (is_hopeless)
        victims_note(sched, request);
    else
        victims_collect(sched, request);
    if (is_hopeless || !has_home || !could_suffice(sched, sched_ask(sched, &sched->jobs.jobs[request->preemptor])))
        return false;
    return request->kind != PLAN_CONSOLIDATE || plan_job_bound(sched, request->kind) > 0;
}

/* With all units taken that may be lost, the preemptor may have enough space, but not in one place.  Then victims that
 * find another place are moved.  The quotas do not forbid that, since these victims lose no space. */
static bool search_moving(struct sched *sched, const struct plan_request *request)
{
    victims_collect(sched, request);
    return could_suffice(sched, sched_ask(sched, &sched->jobs.jobs[request->preemptor])) &&
           bound_suffices(sched, request) && search(sched, request, take_in_order);
}

/* A search in order may take all that a queue can lose on many different nodes, without room on any.  A search node by
 * node may then find other victims. */
static bool search_nodes_too(struct sched *sched, const struct plan_request *request)
{
    const struct quota_round *round = plan_round(sched->plan, request);
    if (request->kind == PLAN_CONSOLIDATE || (round != NULL && round->by_share))
        return false;
    victims_collect(sched, request);
    return search(sched, request, take_by_node);
}

/* Search as the policy says, then with victims that move (then request->is_moving is set).  If the policy searches in
 * order, search node by node last. */
static bool search_all(struct sched *sched, struct plan_request *request, bool has_home)
{
    const bool suits_nodes = node_search_suit(sched, sched_ask(sched, &sched->jobs.jobs[request->preemptor]));
    const bool by_node = sched->policy.preempt.search == SEARCH_NODE && suits_nodes;
    if (!collect_enough(sched, request, has_home))
        return false;
    /* Costs are noted when offers are compared, so where there is a bound of costs the search must be made. */
    const bool is_bounded = request->loss_bound != INT64_MAX;
    const bool has_any = sched->plan->unit_count > 0 && (is_bounded || bound_suffices(sched, request));
    if (has_any && search(sched, request, by_node ? take_by_node : take_in_order))
        return true;
    request->is_moving = request->kind == PLAN_RECLAIM && sched->policy.preempt.replaces_victims;
    if (request->is_moving && search_moving(sched, request))
        return true;
    request->is_moving = false;
    return has_any && suits_nodes && !by_node && search_nodes_too(sched, request);
}

static bool find_victims(struct sched *sched, const struct plan_request *asked, bool has_home)
{
    struct plan_request searched = *asked; /* as victims were found in the end */
    const struct plan_request *request = &searched;
    sched->plan->round = 0;
    bool is_found = search_all(sched, &searched, has_home) && trim(sched, request);
    /* If victims stay, the preemptor keeps the place that the plan found: a new search might find none beside them. */
    if (is_found && plan_may_move(sched, request))
        plan_trim_members(sched, request);
    const bool some_stay = is_found && plan_may_move(sched, request) && plan_leave_at_home(sched, request->preemptor);
    return is_found && weigh_cost(sched, request) && (some_stay || plan_try_fit(sched, request));
}

/* Would the preemptor fit without any victim, in the ledger as it will be when all leaving space is free? */
static bool try_what_comes(struct sched *sched, uint32_t preemptor)
{
    if (sched->lists.leaving_count == 0 || !ledger_foresee(sched->ledger))
        return false; /* nothing comes */
    const struct plan_request without_rounds = {.preemptor = preemptor, .loss_bound = INT64_MAX};
    return plan_try_fit(sched, &without_rounds);
}

/* May the preemptor, which needs no victim, wait for space that is coming?  Where jobs wait before they evict others,
 * the preemptor may do so only in quota: over quota, an owner of that space would take it back.  Where victims are
 * placed again, plan_await gives such space to the jobs that are next; a plan claims it only if it could take victims
 * too.
 * Source: KAI-Scheduler, `actions/common/solvers/by_pod_solver.go`: a scenario without victims is no solution. */
static bool may_await(const struct sched *sched, const struct plan_request *request)
{
    if (sched->policy.preempt.replaces_victims &&
        (!request->may_evict ||
         (request->kind == PLAN_PREEMPT &&
          plan_has_no_lower(sched, request->preemptor, sched->jobs.jobs[request->preemptor].queue))))
        return false;
    return !sched->has_patience || sched_is_entitled(sched, request->preemptor);
}

bool plan_await(struct sched *sched, uint32_t slot)
{
    if (!sched->policy.preempt.replaces_victims)
        return false;
    size_t mark = ledger_mark(sched->ledger);
    sched->plan->free_before = headroom_free(sched);
    bool is_found = try_what_comes(sched, slot);
    ledger_rollback(sched->ledger, mark);
    if (is_found)
        sched_claim(sched, slot, &sched->plan->pieces, SOURCE_FREE);
    return is_found;
}

static bool is_share(const struct request *request)
{
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0;
}

/* In the trial, place the job: how many of its pieces are shares on GPUs that are wholly free?  UINT32_MAX: it does not
 * fit. */
static uint32_t count_opened(struct sched *sched, uint32_t slot)
{
    const struct ledger *ledger = sched->ledger;
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    const size_t mark = ledger_mark(sched->ledger);
    const bool fits = sched_place(sched, slot, &sched->plan->pieces);
    uint32_t count = 0;
    ledger_rollback(sched->ledger, mark);
    for (uint32_t p = 0; p < sched->plan->pieces.count && fits; p++) {
        const struct piece *piece = &sched->plan->pieces.pieces[p];
        const gpu_id first = ledger->cluster->nodes[piece->node].first_gpu;
        count += is_share(&ask->groups[piece->group].request) &&
                 ledger->gpus[first + (uint32_t)__builtin_ctz(piece->gpu_mask)].free == GPU_MILLI;
    }
    return fits ? count : UINT32_MAX;
}

bool plan_await_shared(struct sched *sched, uint32_t slot)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    bool asks_share = false;
    if (!sched->policy.sharing_config.awaits_shared || sched->lists.leaving_count == 0 || headroom_is_kept(sched))
        return false;
    for (uint32_t g = 0; g < ask->group_count; g++)
        asks_share |= ask->groups[g].count > 0 && is_share(&ask->groups[g].request);
    const uint32_t opened = asks_share ? count_opened(sched, slot) : 0;
    if (opened == 0 || opened == UINT32_MAX)
        return false;
    const size_t mark = ledger_mark(sched->ledger);
    const bool is_better = ledger_foresee(sched->ledger) && count_opened(sched, slot) < opened;
    ledger_rollback(sched->ledger, mark);
    if (is_better)
        sched_claim(sched, slot, &sched->plan->pieces, SOURCE_FREE);
    return is_better;
}

bool plan_find(struct sched *sched, uint32_t preemptor, enum plan_kind kind)
{
    struct sched_job *job = &sched->jobs.jobs[preemptor];
    struct plan_request asked = plan_request_of(sched, preemptor, kind);
    const struct plan_request *request = &asked;
    if (!request->may_evict && sched->ledger->coming_milli == 0)
        return false;
    asked.loss_bound = victims_loss_bound(sched, request);
    sched->eviction->plans_tried++;
    sched->plan->recall_count = 0;
    size_t mark = ledger_mark(sched->ledger);
    plan_begin(sched->plan);
    sched->plan->free_before = headroom_free(sched);
    const bool has_home = plan_home_suffices(sched, preemptor);
    /* The preemption bound is a rule here, not a saving (policies/state/preemption_bound.h): find_victims would take
     * what a job that is never evicted is leaving for free. */
    bool is_found =
        has_home && try_what_comes(sched, preemptor)
            ? may_await(sched, request)
            : request->may_evict &&
                  preemption_bound_suffices(&sched->preemption_bound, sched->cluster, sched_ask(sched, job)) &&
                  find_victims(sched, request, has_home);
    while (!is_found && request->may_evict && plan_recall_next(sched, request)) {
        plan_begin(sched->plan);
        is_found =
            plan_try_fit(sched, request) ? plan_validate(sched, request) : find_victims(sched, request, has_home);
    }
    ledger_rollback(sched->ledger, mark);
    return is_found;
}

bool plan_make(struct sched *sched, uint32_t preemptor, enum plan_kind kind)
{
    if (!plan_find(sched, preemptor, kind))
        return false;
    const bool has_victims = plan_count_jobs(sched) > 0;
    const enum source source = plan_book(sched, sched->jobs.jobs[preemptor].id, kind);
    plan_recall_claims(sched, preemptor);
    sched_claim(sched, preemptor, &sched->plan->pieces, source);
    if (has_victims && kind == PLAN_CONSOLIDATE)
        moves_hold_places(sched);
    sched->eviction->plans++;
    return true;
}
