/* A plan that was found good, written into the books: victims leave, the gainer claims their space. */
#include "policies/sched_state.h"

/* Of holdings let go whose EVICT is not written yet; what left before is not told again. */
#define BEING_BOOKED UINT64_MAX

void victims_log(struct sched *sched, queue_id queue)
{
    uint32_t bound = (uint32_t)sched->policy.preempt.evictions_per_queue_h;
    if (bound == 0)
        return;
    MEM_GROW(sched->evictions, sched->eviction_capacity, (size_t)queue + 1);
    struct eviction_log *log = &sched->evictions[queue];
    if (log->at == NULL)
        log->at = mem_zalloc(bound, sizeof *log->at);
    log->at[log->next] = sched->now;
    log->next = (log->next + 1) % bound;
    log->count += log->count < bound;
}

void victims_release(struct sched *sched)
{
    for (size_t q = 0; q < sched->eviction_capacity; q++)
        mem_free(sched->evictions[q].at);
    mem_free(sched->evictions);
}

/* One EVICT per victim job. */
static void book_victim(struct sched *sched, uint32_t slot, job_id gainer, enum reason reason,
                        bool *needs_grace)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    decision->for_job = gainer;
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
    sched->jobs.facts[slot].displaced_by = gainer;
    sched->jobs.facts[slot].displaced_cycle = sched->cycle;
    sched->evicted_in_cycle++;
    if (reason == REASON_CONSOLIDATED)
        moves_log(sched);
    victims_log(sched, job->queue);
}

void plan_book(struct sched *sched, job_id gainer, enum plan_kind kind, bool *needs_grace)
{
    struct plan_scratch *plan = &sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = &sched->jobs.jobs[unit->slot];
        if (!unit->is_taken)
            continue;
        for (uint32_t i = 0; i < job->holding_count; i++)
            if (unit->holding == i ||
                (unit->holding == UNIT_CORE && !plan_is_surplus(sched, unit, i)))
                sched_let_leave(sched, unit->slot, i, BEING_BOOKED);
    }
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken)
            continue;
        enum reason reason = kind == PLAN_CONSOLIDATE ? REASON_CONSOLIDATED
                             : kind == PLAN_HEADROOM  ? REASON_HEADROOM
                             : unit->is_borrower      ? REASON_RECLAIMED
                                                      : REASON_PREEMPTED;
        book_victim(sched, unit->slot, gainer, reason, needs_grace);
        for (uint32_t u = t; u < plan->taken_count; u++) /* all units of the job are told */
            if (plan->units[plan->taken[u]].slot == unit->slot)
                plan->units[plan->taken[u]].is_taken = false;
    }
}

void plan_book_gainer(struct sched *sched, uint32_t gainer, enum source source)
{
    struct sched_job *job = &sched->jobs.jobs[gainer];
    const struct shape *shape = sched_shape(sched, job);
    const struct piece_list *pieces = &sched->plan.pieces;
    sched_unwait(sched, gainer);
    for (uint32_t p = 0; p < pieces->count; p++) {
        struct space space = placement_space(shape, &pieces->pieces[p], gainer);
        ledger_claim(sched->ledger, &space);
    }
    sched_hold(sched, gainer, pieces, HOLDING_CLAIMED, 0);
    sched_settle(sched, gainer);
    MEM_GROW(sched->claims, sched->claim_capacity, (size_t)sched->claim_count + 1);
    sched->claims[sched->claim_count++] = gainer;
    sched->jobs.facts[gainer].claimed_at = sched->now;
    sched->claims_until = sched->now; /* found out when time passes */
    sched->jobs.facts[gainer].claim_source = (uint8_t)source;
    struct decision *decision = sched_decide(sched, DECISION_RESERVE, gainer);
    (void)decision;
    for (uint32_t p = 0; p < pieces->count; p++)
        sched_tell_piece(sched, &pieces->pieces[p]);
}

void plan_release(struct plan_scratch *plan)
{
    mem_free(plan->units);
    mem_free(plan->terms);
    mem_free(plan->sorted);
    mem_free(plan->order);
    mem_free(plan->taken);
    mem_free(plan->places);
    piece_list_release(&plan->pieces);
    piece_list_release(&plan->moved);
    mem_free(plan->touched);
    mem_free(plan->lanes);
    mem_free(plan->nominees);
    mem_free(plan->targets);
    mem_free(plan->node_mark);
    mem_free(plan->spans);
    mem_free(plan->has_units);
}
