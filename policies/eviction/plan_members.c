/* Members that stay: of a job in several subgroups, a plan that moves its victims moves only the members that it must.
 *
 * Trimming (plan.c) gives back each unit that is not needed.  Here it gives back the members of a core, one piece after
 * another, in the job's order: a piece stays if the after-state is valid without its move.  The others move.  The job
 * waits for them with what it kept, below its minimum, so all of them must find another place.
 *
 * A job that loses some members is told Consolidated: it is moved.  So a reclaim parts only jobs that a consolidation
 * might move (moves_spares, moves_bound); it evicts the others whole.
 *
 * A gang without subgroups moves whole.  So does a core whose surplus goes too, one with slices, and every core where
 * places are held for the victims (holds_places).
 *
 * Law: of a job with subgroups no single piece moves that could stay while the others move.  Checked by
 * tests/cases/kai_victims.json.  The fault it caught: a job with a member on each of two nodes lost both to a job that
 * needed one of the nodes.
 * Law: no job is parted whose end is nearer than what the move costs, nor more jobs than may be moved.  Checked by the
 * rules `guard` and `budget` of tests/property/test_defrag.c.  The fault it caught: a reclaim moved a member of a job
 * that would have ended first.
 * Source: KAI-Scheduler, `framework/statement.go` (a pod placed on its own node is not evicted) and its consolidation
 * tests with subgroups.  There members of a gang without subgroups may stay too.
 * Cost: a placement of the preemptor and of all victims for each piece of such jobs. */
#include "policies/eviction/eviction.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_fit.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/units.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* May some members of the unit stay while others move? */
static bool may_part(struct sched *sched, const struct unit *unit)
{
    const struct request_class *request_class = sched_request_class(sched, &sched->jobs.jobs[unit->slot]);
    const uint32_t subgroups = request_class->set_count > 0 ? request_class->set_count : request_class->group_count;
    if (!unit->is_taken || unit->holding != UNIT_CORE || unit->surplus_count > 0 || subgroups < 2 ||
        sched->policy.defrag_config.holds_places)
        return false;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_class->groups[g].slice_members != 0)
            return false;
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    for (uint32_t i = 0; i < job->holding_count; i++) /* a START is recalled whole */
        if (sched_job_holding(job, i)->phase != HOLDING_RUNNING)
            return false;
    return true;
}

/* May the job of the unit be moved by a plan of this kind?  A consolidation has tested that already. */
static bool may_be_moved(struct sched *sched, const struct plan_request *request, const struct unit *unit)
{
    const struct plan_scratch *plan = sched->plan;
    int64_t parted = 0; /* other jobs */
    if (request->kind == PLAN_CONSOLIDATE)
        return true;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *other = &plan->units[plan->taken[t]];
        parted += other->is_taken && other->slot != unit->slot && other->holding == UNIT_CORE &&
                  plan_stays_partly(plan, other->slot);
    }
    return parted < moves_bound(sched) && !moves_spares(sched, unit->slot);
}

static uint32_t count_pieces(const struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->holding_count; i++)
        count += unit_has(sched, unit, i);
    return count;
}

/* In the trial, give the piece back if the after-state is valid without its move. */
static bool let_stay(struct sched *sched, const struct plan_request *request, struct stay stay)
{
    struct plan_scratch *plan = sched->plan;
    MEM_GROW(plan->stays, plan->stay_capacity, (size_t)plan->stay_count + 1);
    plan->stays[plan->stay_count++] = stay;
    sched_move(sched, stay.slot, stay.holding, ledger_call_back);
    if (plan_try_fit(sched, request) && plan_validate(sched, request))
        return true;
    sched_move(sched, stay.slot, stay.holding, ledger_send_off);
    plan->stay_count--;
    return false;
}

/* Give back every piece of the unit that need not move; one at least moves.  True if one was given back. */
static bool part(struct sched *sched, const struct plan_request *request, const struct unit *unit)
{
    const uint32_t before = count_pieces(sched, unit);
    uint32_t moving = before;
    for (uint32_t i = 0; moving > 1 && i < sched->jobs.jobs[unit->slot].holding_count; i++)
        if (unit_has(sched, unit, i))
            moving -= let_stay(sched, request, (struct stay){unit->slot, i});
    return moving < before;
}

void plan_trim_members(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    bool was_tried = false, is_any = true;
    while (is_any) { /* the places of the others may depend on which members move */
        is_any = false;
        for (uint32_t t = 0; t < plan->taken_count; t++) {
            const struct unit *unit = &plan->units[plan->taken[t]];
            if (!may_part(sched, unit) || !may_be_moved(sched, request, unit))
                continue;
            is_any |= part(sched, request, unit);
            was_tried = true;
        }
    }
    if (was_tried) /* the last one tried may have left other places */
        plan_validate(sched, request);
}
