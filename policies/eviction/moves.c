/* Running jobs that move to other places: what that costs them, and where they go.
 *
 * A move is an eviction whose victim was placed again in the after-state of the plan (policies/eviction/plan.c).  It
 * costs the job the grace to save its work and the restart.  If the job cannot save in that grace, it also loses what
 * it ran since its last checkpoint.  The run time of earlier attempts counts as saved, so with true estimates no job
 * ends sooner than assumed here.
 * Known limit: surplus members that move get no claim on their new place.
 * Cost: O(1) for the cost of a move. */
#include "policies/eviction/moves.h"
#include "policies/booking/booking.h"
#include "policies/booking/planned_end.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/ranks.h"
#include "policies/state/sched_state.h"

/* The job's time that a move would throw away now: the grace, the restart, and the run time that it cannot save. */
static time_ns moves_cost(struct sched *sched, uint32_t slot)
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

int64_t moves_bound(const struct sched *sched)
{
    const int64_t per_plan = sched->policy.defrag_config.moves_per_plan;
    return per_plan >= 0 ? per_plan : sched->policy.preempt.victims_max;
}

uint32_t plan_job_bound(const struct sched *sched, enum plan_kind kind)
{
    const struct preemption_config *config = &sched->policy.preempt;
    const int64_t bound = kind == PLAN_CONSOLIDATE ? moves_bound(sched) : config->victims_max;
    return bound > UINT32_MAX ? UINT32_MAX : bound < 0 ? 0 : (uint32_t)bound;
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
