/* Running jobs that move to other places: what that costs them, how many may move in an hour, and where they go.
 *
 * A move is an eviction whose victim was placed again in the after-state of the plan (policies/eviction/plan.c).  It
 * costs the job the grace to save its work and the restart.  If the job cannot save in that grace, it also loses what
 * it ran since its last checkpoint.  The run time of earlier attempts counts as saved, so with true estimates no job
 * ends sooner than assumed here.
 * Known limit: surplus members that move get no claim on their new place.
 * Cost: O(1) for the cost of a move; the log forgets each move once. */
#include <string.h>

#include "policies/booking/booking.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/planned_end.h"
#include "policies/state/ranks.h"
#include "policies/state/sched_state.h"

#define HOUR_NS (3600 * TIME_NS_PER_S)

time_ns moves_cost(struct sched *sched, uint32_t slot)
{
    const struct checkpoint_plan *plan = &sched->jobs.facts[slot].checkpoint;
    const time_ns grace = sched_grace(sched, slot);
    const bool saves = grace > 0 && plan->duration <= grace;
    return grace + plan->restart + (saves ? 0 : candidates_unsaved(candidates_get(sched, slot), sched->now));
}

bool moves_spares(struct sched *sched, uint32_t slot)
{
    if (!sched->policy.defrag_config.spares_ending)
        return false;
    const time_ns end = planned_end(sched, slot), length = planned_length(sched, slot);
    if (end == TIME_NEVER)
        return false;
    const time_ns left = length - sched_ran(sched, slot), cost = moves_cost(sched, slot);
    return end - sched->now <= cost || left <= cost;
}

void moves_forget_old(struct sched *sched)
{
    struct move_log *log = sched->moves;
    uint32_t old = 0;
    while (old < log->count && log->at[old] <= sched->now - HOUR_NS)
        old++;
    if (old == 0)
        return;
    log->count -= old;
    memmove(log->at, log->at + old, log->count * sizeof *log->at);
}

/* How many jobs one plan may move, whatever was moved in the last hour. */
static int64_t moves_per_plan(const struct sched *sched)
{
    const int64_t per_plan = sched->policy.defrag_config.moves_per_plan;
    return per_plan >= 0 ? per_plan : sched->policy.preempt.victims_max;
}

int64_t moves_bound(const struct sched *sched)
{
    const int64_t per_plan = moves_per_plan(sched), per_h = sched->policy.defrag_config.moves_per_h;
    if (!sched->policy.defrag->moves || per_h == 0)
        return per_plan;
    const int64_t left = per_h - sched->moves->count;
    return left < per_plan ? left : per_plan;
}

void moves_note_bound(struct sched *sched)
{
    const struct move_log *log = sched->moves;
    if (log->count > 0 && moves_bound(sched) < moves_per_plan(sched))
        plan_note_eligible(sched->plan, log->at[0] + HOUR_NS);
}

void moves_log(struct sched *sched)
{
    struct move_log *log = sched->moves;
    if (sched->policy.defrag_config.moves_per_h == 0)
        return;
    MEM_GROW(log->at, log->capacity, (size_t)log->count + 1);
    log->at[log->count++] = sched->now;
}

static void claim_place(struct sched *sched, const struct unit *unit)
{
    const struct unit_terms *terms = unit_terms(sched->plan, unit);
    const struct piece_list pieces = {.pieces = &sched->plan->places[terms->first_place], .count = terms->place_count};
    struct plan_scratch *plan = sched->plan;
    if (sched->policy.defrag_config.holds_places) {
        sched_claim_move(sched, unit->slot, &pieces);
    } else if (!plan_stays_partly(plan, unit->slot)) {
        sched_hold_move(sched, unit->slot, &pieces);
        MEM_GROW(plan->holds, plan->hold_capacity, (size_t)plan->hold_count + 1);
        plan->holds[plan->hold_count++] = unit->slot;
    }
}

void moves_drop_holds(struct sched *sched)
{
    while (sched->plan->hold_count > 0)
        sched_drop_hold(sched, sched->plan->holds[--sched->plan->hold_count]);
}

void moves_hold_places(struct sched *sched)
{
    const struct plan_scratch *plan = sched->plan;
    if (!sched->policy.defrag_config.holds_places && !sched->policy.preempt.replaces_victims)
        return;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        const bool has_left = sched->jobs.jobs[unit->slot].state != SJOB_PENDING; /* false: it was recalled */
        if (unit->is_moved && unit->holding == UNIT_CORE && has_left)
            claim_place(sched, unit);
    }
}

static bool is_on_kept_node(struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched->ledger->is_kept[sched_job_holding(job, i)->piece.node])
            return true;
    return false;
}

/* In the trial, take the jobs on kept nodes that find another place.  Returns their number.  Only jobs without surplus
 * are taken: surplus that is evicted could start again on any node. */
static uint32_t vacate(struct sched *sched, uint32_t bound)
{
    struct plan_scratch *plan = sched->plan;
    uint32_t moved = 0;
    for (uint32_t u = 0; u < plan->unit_count && moved < bound; u++) {
        struct unit *unit = &plan->units[u];
        if (unit->holding != UNIT_CORE || unit->surplus_count > 0 || !is_on_kept_node(sched, unit))
            continue;
        plan_take(sched, unit);
        if (plan_replace(sched, unit))
            moved++;
        else
            plan_give_back(sched, unit);
    }
    return moved;
}

bool moves_vacate(struct sched *sched, uint32_t preemptor)
{
    struct plan_scratch *plan = sched->plan;
    plan->is_moving = false;
    plan_begin(plan);
    plan->place_count = 0;
    plan->eligible_at = plan->eligible_last_at = plan->affordable_at = TIME_NEVER;
    victims_collect(sched, preemptor, PLAN_CONSOLIDATE);
    victims_sort(sched);
    size_t mark = ledger_mark(sched->ledger);
    const uint32_t moved = vacate(sched, plan_job_bound(sched, PLAN_CONSOLIDATE));
    ledger_rollback(sched->ledger, mark);
    if (moved == 0)
        return false;
    plan_book(sched, sched->jobs.jobs[preemptor].id, PLAN_CONSOLIDATE);
    if (sched->policy.defrag_config.holds_places) /* else nothing comes in this cycle that could take them */
        moves_hold_places(sched);
    return true;
}
