/* Decides starts, and starts or drops claims. */
#include "policies/booking/start.h"
#include "policies/booking/booking.h"
#include "policies/booking/sched_tags.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/headroom.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

/* ---- Claims ---- */

static void list_claim(struct sched *sched, uint32_t slot, enum source source)
{
    struct job_facts *facts = &sched->jobs.facts[slot];
    MEM_GROW(sched->claims.slots, sched->claims.capacity, (size_t)sched->claims.count + 1);
    sched->claims.slots[sched->claims.count++] = slot;
    sched->claims.until = sched->now; /* claims_expire sets it when time passes */
    facts->claimed_at = sched->now;
    facts->claim_source = (uint8_t)source;
}

void sched_drop_claim(struct sched *sched, uint32_t slot)
{
    sched_unclaim(sched, slot);
    decided_release(sched, sched->jobs.jobs[slot].id);
    sched_settle(sched, slot);
}

void sched_recall_claim(struct sched *sched, uint32_t slot)
{
    sched_unclaim(sched, slot);
    decided_unreserve(sched, sched->jobs.jobs[slot].id);
    sched_settle(sched, slot);
    sched_count_change(sched);
}

void sched_drop_hold(struct sched *sched, uint32_t slot)
{
    sched_unclaim(sched, slot);
    sched_settle(sched, slot);
}

/* ---- Starts ---- */

static time_ns earlier(time_ns a, time_ns b)
{
    return a < b ? a : b;
}

/* Append a START for the job's holdings of this phase that belong to no decision yet. */
static void decide_start(struct sched *sched, uint32_t slot, enum holding_phase phase, enum source source)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    bool is_first = !job->is_booked;
    struct decision *decision = sched_decide(sched, DECISION_START, slot);
    struct holding *holdings = sched_job_holdings(job);
    decision->is_partial = !is_first;
    decision->source = source;
    decision_id id = decision->id;
    if (is_first)
        job->decided = sched->now;
    if (is_first)
        OBSERVERS_TELL(sched, start_decided, slot);
    uint32_t first = phase == HOLDING_STARTING ? job->holding_count : 0; /* what starts is new, and the last */
    while (first > 0 && holdings[first - 1].phase == phase && holdings[first - 1].decision == 0)
        first--;
    for (uint32_t i = first; i < job->holding_count; i++) {
        if (holdings[i].phase != phase || holdings[i].decision != 0)
            continue;
        if (i < job->open_from)
            job->open_from = i;
        if (phase == HOLDING_CLAIMED)
            sched->claims.piece_milli -= piece_milli(&holdings[i].piece);
        sched_job_turn(job, &holdings[i], HOLDING_STARTING);
        if (phase == HOLDING_CLAIMED)
            sched_move(sched, slot, i, ledger_tags_join);
        holdings[i].decision = id;
        sched_tell_piece(sched, &holdings[i].piece);
    }
    sched_settle(sched, slot);
    if (phase == HOLDING_CLAIMED)
        waits_review(sched, slot);
}

static bool has_all_its_space(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        struct space space = request_class_space(request_class, &holding->piece, slot);
        if (holding->phase == HOLDING_LEAVING && !job->is_booked)
            return false; /* it is moved, and still leaves its old place */
        if (holding->phase == HOLDING_CLAIMED && !ledger_is_there(sched->ledger, &space))
            return false;
    }
    return true;
}

/* When the claim is dropped if its space has not arrived.  Not before its victims had time to leave: else they could
 * take their place back while the job waits again. */
static time_ns claim_expiry(const struct sched *sched, uint32_t slot)
{
    const time_ns expiry = sched->policy.reservation_expiry;
    const time_ns grace = sched->policy.preemption->is_kill ? 0 : sched->policy.preempt.grace;
    const time_ns least = grace > SCHED_PATIENCE_MIN ? grace : SCHED_PATIENCE_MIN;
    return time_after(sched->jobs.facts[slot].claimed_at, expiry > least ? expiry : least);
}

void claims_expire(struct sched *sched, bool is_cycle)
{
    sched->claims.until = TIME_NEVER;
    for (uint32_t c = sched->claims.count; c-- > 0;) {
        const uint32_t slot = sched->claims.slots[c];
        const time_ns expiry = claim_expiry(sched, slot);
        if (is_cycle && tags_shut_claims(sched, slot))
            sched_drop_claim(sched, slot);
        else if (expiry > sched->now)
            sched->claims.until = earlier(sched->claims.until, expiry);
        else if (!has_all_its_space(sched, slot))
            sched_drop_claim(sched, slot);
    }
}

void claims_start(struct sched *sched)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < sched->claims.count; c++) {
        uint32_t slot = sched->claims.slots[c];
        if (has_all_its_space(sched, slot) && !tags_shut_claims(sched, slot))
            decide_start(sched, slot, HOLDING_CLAIMED, sched->jobs.facts[slot].claim_source);
        else
            sched->claims.slots[kept++] = slot;
    }
    sched->claims.count = kept;
}

time_ns claim_wake(const struct sched *sched, uint32_t slot)
{
    if (sched->jobs.facts[slot].claimed_at == sched->now && has_all_its_space(sched, slot))
        return sched->now;
    return claim_expiry(sched, slot);
}

void book_start(struct sched *sched, uint32_t slot, enum source source)
{
    sched_unwait(sched, slot);
    sched_hold(sched, slot, &sched->pieces, HOLDING_STARTING, 0);
    decide_start(sched, slot, HOLDING_STARTING, source);
    headroom_close(sched);
}

void sched_take(struct sched *sched, uint32_t slot)
{
    const struct request_class *request_class = &sched->request_classes.at[sched->jobs.jobs[slot].ask];
    for (uint32_t p = 0; p < sched->pieces.count; p++) {
        struct space space = request_class_space(request_class, &sched->pieces.pieces[p], slot);
        ledger_take(sched->ledger, &space);
    }
}

void sched_start(struct sched *sched, uint32_t slot, enum source source)
{
    sched_take(sched, slot);
    book_start(sched, slot, source);
}

static void hold_pieces(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum source source)
{
    const struct request_class *request_class = sched_request_class(sched, &sched->jobs.jobs[slot]);
    for (uint32_t p = 0; p < pieces->count; p++) {
        struct space space = request_class_space(request_class, &pieces->pieces[p], slot);
        ledger_claim(sched->ledger, &space);
    }
    sched_hold(sched, slot, pieces, HOLDING_CLAIMED, 0);
    sched_settle(sched, slot);
    list_claim(sched, slot, source);
}

static void claim_pieces(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum source source)
{
    hold_pieces(sched, slot, pieces, source);
    sched_decide(sched, DECISION_RESERVE, slot);
    for (uint32_t p = 0; p < pieces->count; p++)
        sched_tell_piece(sched, &pieces->pieces[p]);
}

void sched_claim(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum source source)
{
    sched_unwait(sched, slot);
    claim_pieces(sched, slot, pieces, source);
}

void sched_claim_move(struct sched *sched, uint32_t slot, const struct piece_list *pieces)
{
    claim_pieces(sched, slot, pieces, SOURCE_FREE);
}

void sched_hold_move(struct sched *sched, uint32_t slot, const struct piece_list *pieces)
{
    hold_pieces(sched, slot, pieces, SOURCE_FREE);
}

void sched_begin_fact(struct sched *sched, time_ns now)
{
    if (now != sched->now)
        sched_pass_time(sched, now);
    sched->changes++;
}
