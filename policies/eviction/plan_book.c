/* Books a valid plan: victims leave, or their START of this cycle is recalled. */
#include <assert.h>
#include <string.h>

#include "policies/booking/booking.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"

/* The decision id of holdings that leave by this plan until their EVICT is written.  Holdings that left before have
 * another id, so they are not told again. */
#define BEING_BOOKED UINT64_MAX

/* Members that are starting give back their space.  True if other members of the job are evicted by this plan. */
static bool recall(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    bool is_evicted = false;
    for (uint32_t i = job->holding_count; i-- > 0;) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->decision != BEING_BOOKED)
            continue;
        is_evicted |= holding->phase == HOLDING_LEAVING;
        if (holding->phase != HOLDING_STARTING)
            continue;
        sched_unhold(sched, slot, i);
        sched_count_change(sched);
    }
    return is_evicted;
}

/* Append one EVICT for the victim job if members of it run; a job that is only starting is just recalled. */
static void book_victim(struct sched *sched, uint32_t slot, job_id preemptor, enum reason reason, bool *needs_grace)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    sched->jobs.facts[slot].displaced_by = preemptor;
    sched->jobs.facts[slot].displaced_cycle = sched->cycle;
    sched->jobs.facts[slot].displaced_reason = (uint8_t)reason;
    if (!recall(sched, slot)) {
        sched_settle(sched, slot);
        return;
    }
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    decision->for_job = preemptor;
    decision->reason = reason;
    decision->grace = sched_grace(sched, slot);
    *needs_grace |= decision->grace > 0;
    decision_id id = decision->id;
    for (uint32_t i = 0; i < job->holding_count; i++)
        decision->is_partial |= sched_job_holding(job, i)->phase != HOLDING_LEAVING;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        struct holding *holding = &sched_job_holdings(job)[i];
        if (holding->phase != HOLDING_LEAVING || holding->decision != BEING_BOOKED)
            continue;
        holding->decision = id;
        sched_tell_piece(sched, &holding->piece);
    }
    sched_settle(sched, slot);
    sched->eviction->evicted_in_cycle++;
}

/* The holding starts to leave.  book_victim then writes it into the job's EVICT, or recalls it. */
static void let_go(struct sched *sched, uint32_t slot, uint32_t index)
{
    struct holding *holding = &sched_job_holdings(&sched->jobs.jobs[slot])[index];
    if (holding->phase == HOLDING_RUNNING) {
        sched_let_leave(sched, slot, index, BEING_BOOKED);
        return;
    }
    decided_untell(sched, holding->decision, &holding->piece);
    holding->decision = BEING_BOOKED;
}

enum source plan_book(struct sched *sched, job_id preemptor, enum plan_kind kind)
{
    struct plan_scratch *plan = sched->plan;
    const int64_t evicted = sched->eviction->evicted_in_cycle;
    bool needs_grace = false;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = &sched->jobs.jobs[unit->slot];
        if (!unit->is_taken)
            continue;
        for (uint32_t i = 0; i < job->holding_count; i++)
            if (unit_has(sched, unit, i))
                let_go(sched, unit->slot, i);
    }
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken)
            continue;
        const bool is_move = kind == PLAN_CONSOLIDATE || plan_stays_partly(plan, unit->slot);
        enum reason reason = is_move                 ? REASON_CONSOLIDATED
                             : kind == PLAN_HEADROOM ? REASON_HEADROOM
                             : unit->is_over_quota   ? REASON_RECLAIMED
                                                     : REASON_PREEMPTED;
        book_victim(sched, unit->slot, preemptor, reason, &needs_grace);
        for (uint32_t u = t; u < plan->taken_count; u++) /* this booked all units of the job */
            if (plan->units[plan->taken[u]].slot == unit->slot)
                plan->units[plan->taken[u]].is_taken = false;
    }
    if (sched->eviction->evicted_in_cycle == evicted)
        return SOURCE_FREE;
    return needs_grace ? SOURCE_EVICTION : SOURCE_GRACE_0;
}

enum source eviction_take(struct sched *sched, uint32_t slot, uint32_t preemptor, enum reason reason)
{
    bool needs_grace = false;
    for (uint32_t i = 0; i < sched->jobs.jobs[slot].holding_count; i++)
        let_go(sched, slot, i);
    book_victim(sched, slot, sched->jobs.jobs[preemptor].id, reason, &needs_grace);
    return needs_grace ? SOURCE_EVICTION : SOURCE_GRACE_0;
}

void plan_release(struct plan_scratch *plan)
{
    mem_free(plan->units);
    mem_free(plan->terms);
    mem_free(plan->sorted);
    mem_free(plan->order);
    mem_free(plan->taken);
    mem_free(plan->places);
    mem_free(plan->stays);
    mem_free(plan->holds);
    mem_free(plan->recalls);
    piece_list_release(&plan->staying);
    piece_list_release(&plan->pieces);
    piece_list_release(&plan->moved);
    mem_free(plan->touched);
    mem_free(plan->node_mark);
    mem_free(plan->returned_milli);
    mem_free(plan->cleared);
    mem_free(plan->spans);
    mem_free(plan->has_units);
    mem_free(plan->notes.at);
    mem_free(plan->node_search.nodes);
    mem_free(plan->node_search.listed);
    mem_free(plan->node_search.least_milli);
    mem_free(plan->node_search.links);
    mem_free(plan);
}
