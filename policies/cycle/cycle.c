/* The cycle: from what is known to decisions.
 *
 *   what time alone changed: shares, ranks, reservations that ran out
 *   tell rejections and given-up reservations
 *   reopen what new free space may hold
 *   start reserved jobs whose space has come
 *   the actions of the policy, in its order:
 *     allocate       the contest names a lane, its head is placed or its lane is closed; under `cohort` plans of reclaim, too,
 *                    are made when it comes to their lane
 *     consolidation, reclaim, preempt       plans for heads that did not fit (plan.c)
 *     stale_gang     what is left of gangs below their minimum goes
 *   after a plan: allocate again, for victims gave headroom back, and the gainer holds up nobody any more
 */
#include <assert.h>

#include "policies/eviction/nominees.h"
#include "policies/state/sched_tags.h"
#include "policies/state/waits.h"

static time_ns earlier(time_ns a, time_ns b)
{
    return a < b ? a : b;
}

#define REST_LONGEST (30 * 86400 * TIME_NS_PER_S)

/* Ranks are computed anew at their period, when jobs are about to be compared. */
static void refresh_ranks(struct sched *sched)
{
    if ((sched->ranks_move || sched->needs_accounts) &&
        sched->now - sched->ranked_at >= sched->policy.order_config.period)
        sched_rank_all(sched);
}

/* Start the job's holdings of this phase, booked before. */
static void decide_start(struct sched *sched, uint32_t slot, enum holding_phase phase,
                         enum source source)
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
    if (is_first && sched->overtakes)
        forecast_note_start(sched, slot);
    for (uint32_t i = 0; i < job->holding_count; i++) {
        if (holdings[i].phase != phase || holdings[i].decision != 0)
            continue;
        if (phase == HOLDING_CLAIMED)
            sched->claimed_piece_milli -= piece_milli(&holdings[i].piece);
        holdings[i].phase = HOLDING_STARTING;
        if (phase == HOLDING_CLAIMED)
            sched_move(sched, slot, i, ledger_tags_join);
        holdings[i].decision = id;
        sched_tell_piece(sched, &holdings[i].piece);
    }
    sched_settle(sched, slot);
    if (phase == HOLDING_CLAIMED)
        waits_review(sched, slot);
}

static void tell_rejects(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->reject_count; i++) {
        struct refusal_note *note = &sched->rejects[i];
        if (!sched->waits.is_off)
            wait_times_add(&note->waited, note->reason, sched->now - note->at);
        MEM_GROW(sched->decisions, sched->decision_capacity, (size_t)sched->decision_count + 1);
        sched->decisions[sched->decision_count++] =
            (struct decision){.id = ++sched->decision_sequence << 32 | note->job,
                              .kind = DECISION_REJECT,
                              .job = note->job,
                              .for_job = JOB_NONE,
                              .reason = note->reason,
                              .waited = &note->waited};
    }
    sched->reject_count = 0;
}

static void tell_releases(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->release_count; i++) {
        uint32_t slot = job_table_find(&sched->jobs, sched->releases[i]);
        if (slot != SLOT_NONE)
            sched_decide(sched, DECISION_RELEASE, slot);
    }
    sched->release_count = 0;
}

static bool fits_on_any(const struct sched *sched, const struct shape *shape, const node_id nodes[],
                        uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        if (shape_fits_member(shape, sched->ledger, nodes[n]))
            return true;
    return false;
}

enum { GROWTH_OPENS = SHAPE_BLOCKED | SHAPE_PROMISED | SHAPE_SPARES_NODES };

/* A shape that did not fit may fit again only through nodes that gained space; one for which only kept space was left,
 * through them, or when enough is free. */
static void reopen_shapes(struct sched *sched)
{
    const node_id *nodes;
    uint32_t count = ledger_take_grown(sched->ledger, &nodes);
    const bool may_rules_open =
        sched->ledger->tags != NULL && ledger_tags_take_changes(sched->ledger);
    if (sched->shapes.closed_count == 0)
        return;
    const struct free_space free = headroom_free(sched);
    for (uint32_t id = shape_next_closed(&sched->shapes, 0); id < sched->shapes.count;
         id = shape_next_closed(&sched->shapes, id + 1)) {
        const struct shape *shape = &sched->shapes.shapes[id];
        uint8_t closed = (shape->closed & (SHAPE_BLOCKED | SHAPE_PROMISED)) |
                         headroom_still_spares(sched, shape, free);
        if (closed & GROWTH_OPENS &&
            ((may_rules_open && shape->tags != NULL) || fits_on_any(sched, shape, nodes, count)))
            closed &= (uint8_t)~GROWTH_OPENS;
        if (closed != shape->closed)
            shape_close(&sched->shapes, id, closed);
    }
}

static bool has_all_its_space(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        struct space space = placement_space(shape, &holding->piece, slot);
        if (holding->phase == HOLDING_LEAVING && !job->is_booked)
            return false; /* it is moved there, and has not left yet */
        if (holding->phase == HOLDING_CLAIMED && !ledger_is_there(sched->ledger, &space))
            return false;
    }
    return true;
}

/* When the reservation is given up if its space has not come by then.  Not before its victims were due to leave: else they
 * could take their place back while the job asks anew. */
static time_ns claim_expiry(const struct sched *sched, uint32_t slot)
{
    const time_ns expiry = sched->policy.reservation_expiry;
    const time_ns grace = sched->policy.preemption->is_kill ? 0 : sched->policy.preempt.grace;
    const time_ns least = grace > SCHED_PATIENCE_MIN ? grace : SCHED_PATIENCE_MIN;
    return time_after(sched->jobs.facts[slot].claimed_at, expiry > least ? expiry : least);
}

void sched_expire_claims(struct sched *sched, bool is_cycle)
{
    sched->claims_until = TIME_NEVER;
    for (uint32_t c = sched->claim_count; c-- > 0;) {
        const uint32_t slot = sched->claims[c];
        const time_ns expiry = claim_expiry(sched, slot);
        if (is_cycle && tags_shut_claims(sched, slot))
            sched_drop_claim(sched, slot);
        else if (expiry > sched->now)
            sched->claims_until = earlier(sched->claims_until, expiry);
        else if (!has_all_its_space(sched, slot))
            sched_drop_claim(sched, slot);
    }
}

/* What is claimed draws nobody in until it starts: a claim that started just now may have shut another, which goes in
 * the next cycle. */
static void start_claims(struct sched *sched)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < sched->claim_count; c++) {
        uint32_t slot = sched->claims[c];
        if (has_all_its_space(sched, slot) && !tags_shut_claims(sched, slot))
            decide_start(sched, slot, HOLDING_CLAIMED, sched->jobs.facts[slot].claim_source);
        else
            sched->claims[kept++] = slot;
    }
    sched->claim_count = kept;
}

static void close_lane(struct sched *sched, uint32_t lane_id, queue_id forbids)
{
    pending_block(&sched->pending, lane_id, forbids);
    sched->tree.closing_count += !sched->tree.queues[forbids].has_closed_lanes;
    sched->tree.queues[forbids].has_closed_lanes = true;
    queue_tree_touch(&sched->tree, sched->pending.lanes[lane_id].line);
    sched->plan.is_turn_stale = true;
}

/* Place the chunk; in the ledger it stays taken when it fits.  Returns 0, or how that closes the shape. */
static uint8_t try_place(struct sched *sched, uint32_t slot, enum source *source)
{
    sched->attempts++;
    struct free_space before = headroom_free(sched);
    size_t mark = ledger_mark(sched->ledger);
    bool fits = sched_place(sched, slot, &sched->pieces);
    if (fits && sched->reserves && !reserve_is_clear(sched, slot, &sched->pieces)) {
        ledger_rollback(sched->ledger, mark);
        mark = ledger_mark(sched->ledger);
        if (!reserve_place(sched, slot)) {
            ledger_rollback(sched->ledger, mark);
            return SHAPE_PROMISED;
        }
    }
    uint8_t spares = fits ? headroom_spares(sched, slot, before) : SHAPE_BLOCKED;
    *source = spares != 0 ? SOURCE_HEADROOM : SOURCE_FREE;
    if (!fits || (spares != 0 && !headroom_is_for(sched, slot))) {
        ledger_rollback(sched->ledger, mark);
        return spares;
    }
    ledger_commit(sched->ledger, mark);
    return 0;
}

/* The head does not go: close what that closes.  Others of its shape may fit where it may not. */
static void close_for(struct sched *sched, uint32_t lane_id, uint32_t slot, uint8_t closed)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct shape *shape = &sched->shapes.shapes[job->ask];
    if (closed == SHAPE_BLOCKED && sched->policy.quota->confines != NULL &&
        !shape->is_preemptible) {
        close_lane(sched, lane_id, job->queue);
        return;
    }
    if (closed & SHAPE_SPARES_NODES)
        shape->whole_nodes = headroom_free(sched).whole_nodes;
    if (closed & SHAPE_SPARES_OWNERS)
        borrowers_find(sched, lane_id);
    waits_close_shape(sched, job->ask, closed);
    sched->plan.is_turn_stale = true;
}

/* The waiting job starts on sched->pieces, which the ledger has given. */
static void book_start(struct sched *sched, uint32_t slot, enum source source)
{
    sched_unwait(sched, slot);
    sched_hold(sched, slot, &sched->pieces, HOLDING_STARTING, 0);
    decide_start(sched, slot, HOLDING_STARTING, source);
    headroom_close(sched);
}

void sched_start(struct sched *sched, uint32_t slot, enum source source)
{
    const struct shape *shape = &sched->shapes.shapes[sched->jobs.jobs[slot].ask];
    for (uint32_t p = 0; p < sched->pieces.count; p++) {
        struct space space = placement_space(shape, &sched->pieces.pieces[p], slot);
        ledger_take(sched->ledger, &space);
    }
    book_start(sched, slot, source);
}

/* Does a limit keep the head of the lane, or what is kept for others?  Then the lane is closed. */
static bool is_forbidden(struct sched *sched, uint32_t lane_id, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct quota_policy *quota = sched->policy.quota;
    queue_id forbids = quota->forbids != NULL
                           ? quota->forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge)
                           : QUEUE_NONE;
    if (forbids == QUEUE_NONE && sched->keeps_quota) {
        forbids = kept_forbids(sched, slot);
        sched->pending.lanes[lane_id].is_kept_from = forbids != QUEUE_NONE;
    }
    if (forbids != QUEUE_NONE)
        close_lane(sched, lane_id, forbids);
    return forbids != QUEUE_NONE;
}

/* Try the head of the lane; close the lane if it cannot go. */
void sched_try_head(struct sched *sched, uint32_t lane_id)
{
    uint32_t slot = pending_head(&sched->pending, lane_id);
    const struct shape *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    enum source source;
    if (is_forbidden(sched, lane_id, slot))
        return;
    if (ask->closed != 0 && borrowers_find(sched, lane_id))
        return; /* what is left is for owners */
    uint8_t closed = try_place(sched, slot, &source);
    const uint32_t shorter = closed == SHAPE_PROMISED ? reserve_shorter(sched, lane_id) : SLOT_NONE;
    if (shorter != SLOT_NONE)
        closed = try_place(sched, slot = shorter, &source);
    if (closed != 0) {
        if (closed == SHAPE_PROMISED || !plan_await(sched, slot))
            close_for(sched, lane_id, slot, closed);
        return;
    }
    for (int k = 0; k < PLAN_KINDS_MAX && sched->policy.preemption->evicts; k++)
        sched->pending.memos[lane_id][k].failed /= 2;
    book_start(sched, slot, source);
}

static void allocate_inference(struct sched *sched)
{
    for (uint32_t lane = pending_next_of_class(&sched->pending, JOB_INFERENCE); lane != LANE_NONE;
         lane = pending_next_of_class(&sched->pending, JOB_INFERENCE))
        sched_try_head(sched, lane);
}

/* Forecasts for the first heads in the contest that do not go now. */
static void reserve(struct sched *sched)
{
    reserve_begin(sched);
    for (uint32_t lane = reserve_next(sched); lane != LANE_NONE; lane = reserve_next(sched)) {
        if (!pending_is_closed(&sched->pending, lane))
            sched_try_head(sched, lane);
        if (sched->pending.lanes[lane].count > 0 && pending_is_closed(&sched->pending, lane))
            reserve_for(sched, lane);
    }
}

/* Close the lanes whose head goes next in its line and does not fit as things stand. */
static void close_unfit(struct sched *sched)
{
    for (queue_id line = 0; line < sched->pending.line_count; line++) {
        const uint32_t lane = pending_next(&sched->pending, line);
        if (lane == LANE_NONE)
            continue;
        const uint32_t slot = pending_head(&sched->pending, lane);
        if (is_forbidden(sched, lane, slot) || sched->policy.preempt.replaces_victims ||
            sched_ask(sched, &sched->jobs.jobs[slot])->closed != 0)
            continue;
        const size_t mark = ledger_mark(sched->ledger);
        const bool fits = sched_place(sched, slot, &sched->pieces);
        ledger_rollback(sched->ledger, mark);
        if (!fits)
            close_for(sched, lane, slot, SHAPE_BLOCKED);
    }
}

/* A lane that must evict goes before this one: it was its turn. */
static bool plan_in_turn(struct sched *sched, uint32_t lane)
{
    uint32_t whose;
    const enum turn turn = nominees_turn(sched, lane, &whose);
    if (turn == TURN_TO_BOOK) {
        nominees_book(sched, whose);
    } else if (turn == TURN_TO_SEEK) {
        close_unfit(sched);
        nominees_seek(sched);
    }
    return turn != TURN_NONE;
}

/* As soon as somebody does not go, who is in front is found out. */
static void contest(struct sched *sched)
{
    if (sched->plans_in_turn)
        nominees_begin(sched);
    for (;;) {
        const uint32_t lane = contest_next(&sched->tree, &sched->pending);
        if (sched->plans_in_turn && plan_in_turn(sched, lane))
            continue;
        if (lane == LANE_NONE)
            return;
        sched_try_head(sched, lane);
        if (sched->reserves && reserve_is_due(sched))
            reserve(sched);
    }
}

static void contest_beside_forecasts(struct sched *sched)
{
    reserve_review(sched);
    if (reserve_is_due(sched))
        reserve(sched);
    do
        contest(sched);
    while (reserve_review(sched));
    reserve_end_contest(sched);
}

static void allocate(struct sched *sched)
{
    if (sched->policy.inference_first)
        allocate_inference(sched);
    headroom_close(sched);
    if (sched->policy.backfill->keeps) { /* even the head may be in the way of a promise */
        overtake(sched);
        return;
    }
    if (sched->reserves) {
        contest_beside_forecasts(sched);
        return;
    }
    contest(sched);
    overtake(sched);
}

/* All that the job holds in place goes. */
static void evict_rest(struct sched *sched, uint32_t slot, enum reason reason)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    decision_id id = decision->id;
    decision->reason = reason;
    decision->grace = sched_grace(sched, slot);
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase == HOLDING_RUNNING) {
            sched_tell_piece(sched, &sched_job_holding(job, i)->piece);
            sched_let_leave(sched, slot, i, id);
        }
    sched_settle(sched, slot);
}

enum { STALE_COUNT_MAX = 12 };

/* When what the gang holds goes if it has not reached its minimum by then; TIME_NEVER.  Members come one after another:
 * they have some time to, twice as much each time they were too few, and at last no end: gangs that hold each other up
 * would else come and go for ever. */
static time_ns stale_at(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    time_ns after = sched_stale_after(sched, slot);
    if (after < SCHED_PATIENCE_MIN)
        after = SCHED_PATIENCE_MIN;
    if (facts->stale_count == STALE_COUNT_MAX || after > TIME_NEVER >> facts->stale_count)
        return TIME_NEVER;
    return time_after(facts->below_since, after << facts->stale_count);
}

static bool is_stale(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state != SJOB_RUNNING || stale_at(sched, slot) > sched->now)
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++) /* what is on its way must arrive first */
        if (sched_job_holding(job, i)->phase != HOLDING_RUNNING)
            return false;
    return true;
}

static void evict_stale(struct sched *sched)
{
    for (uint32_t i = sched->below_count; i-- > 0;)
        if (is_stale(sched, sched->below[i])) {
            sched->jobs.facts[sched->below[i]].stale_count++;
            evict_rest(sched, sched->below[i], REASON_STALE_GANG);
        }
}

static void act(struct sched *sched)
{
    const bool evicts = sched->policy.preemption->evicts;
    bool is_planned = false;
    if (sched->policy.preempt.victims_of_this_cycle)
        sched->recalls_after = sched->decision_sequence;
    for (uint32_t a = 0; a < sched->act_count; a++) {
        enum action action = (enum action)sched->acts[a];
        if (action == ACTION_ALLOCATE)
            allocate(sched);
        else if (action == ACTION_STALE_GANG)
            evict_stale(sched);
        else if (sched->pending.job_count > 0)
            is_planned |= plan_cycle(sched, action == ACTION_CONSOLIDATION ? PLAN_CONSOLIDATE
                                            : action == ACTION_RECLAIM     ? PLAN_RECLAIM
                                                                           : PLAN_PREEMPT);
    }
    sched->recalls_after = UINT64_MAX; /* `allocate` below has the last word */
    if (evicts && headroom_is_kept(sched))
        for (int64_t i = 0; i < sched->policy.preempt.attempts_per_cycle; i++)
            if (!headroom_refill(sched))
                break;
    if (is_planned)
        allocate(sched);
    if (sched->policy.geometry->score != NULL && sched->pending.job_count > 0)
        recuts_seek(sched);
    if (sched->policy.defrag->drains)
        drain_seek(sched);
}

/* Its space may be there already, where a victim had to go for the sake of a limit only. */
static time_ns claim_wake(const struct sched *sched, uint32_t slot)
{
    if (sched->jobs.facts[slot].claimed_at == sched->now && has_all_its_space(sched, slot))
        return sched->now;
    return claim_expiry(sched, slot);
}

/* When what moves with time is to be looked at again: ranks, shares, forecasts, drains.  Where nothing runs and nothing is told it
 * moves more and more slowly, or not at all: then after as long again as that has lasted, and in the end not any more. */
static time_ns find_turn(struct sched *sched)
{
    time_ns turn = sched->quota_at;
    if (sched->ranks_move || sched->needs_accounts)
        turn = earlier(turn, sched->ranked_at + sched->policy.order_config.period);
    if (sched->policy.backfill->overtakes)
        turn = earlier(turn, sched->reserves ? reserve_wake(sched) : overtake_wake(sched));
    if (sched->policy.defrag->drains)
        turn = earlier(turn, drain_wake(sched));
    if (sched->rest_change != sched->changes || sched->booked_running > sched->below_count ||
        sched->leaving_count > 0 || sched->claim_count > 0) {
        sched->rest_change = sched->changes;
        sched->rest_since = sched->now;
    }
    const time_ns rested = sched->now - sched->rest_since;
    if (rested > REST_LONGEST)
        return TIME_NEVER;
    return turn < sched->now + rested ? sched->now + rested : turn;
}

/* When a cycle is wanted though nothing is told. */
static time_ns find_wake(struct sched *sched)
{
    time_ns wake = TIME_NEVER;
    if (sched->pending.job_count > 0) {
        wake = find_turn(sched);
        if (sched->policy.preemption->evicts)
            wake = earlier(wake, plan_wake(sched));
        if (sched->policy.geometry->score != NULL)
            wake = earlier(wake, recuts_wake(sched));
    }
    for (uint32_t i = 0; i < sched->below_count; i++) {
        time_ns due = stale_at(sched, sched->below[i]);
        if (due > sched->now) /* else it waits for what is on its way, which will be told */
            wake = earlier(wake, due);
    }
    for (uint32_t c = 0; c < sched->claim_count; c++)
        wake = earlier(wake, claim_wake(sched, sched->claims[c]));
    return wake <= sched->now ? sched->now + 1 : wake;
}

/* Nothing waits, nothing is promised and nobody is to be told: there is nothing to decide. */
static bool is_idle(const struct sched *sched)
{
    return sched->pending.job_count + sched->claim_count + sched->below_count +
                   sched->reject_count + sched->release_count + sched->shapes.closed_count ==
               0 &&
           sched->ranks_fixed && !headroom_is_kept(sched) && sched->drain.count == 0;
}

/* When to ask again if nothing is told.  Apart, so that an idle cycle costs next to nothing. */
static __attribute__((noinline)) time_ns decide(struct sched *sched)
{
    refresh_ranks(sched);
    if (sched->policy.reservation_expiry != TIME_NEVER || sched->ledger->tags != NULL)
        sched_expire_claims(sched, true);
    tell_rejects(sched);
    tell_releases(sched);
    if (sched->policy.defrag->drains)
        drain_review(sched);
    if (sched->pending.job_count > 0 || sched->shapes.closed_count > 0)
        reopen_shapes(sched);
    start_claims(sched);
    if (sched->keeps_quota)
        kept_reopen(sched);
    act(sched);
    const struct piece *piece = sched->told.pieces;
    for (uint32_t i = 0; i < sched->decision_count; i++) {
        sched->decisions[i].pieces = piece;
        if (sched->decisions[i].piece_count > 0)
            piece += sched->decisions[i].piece_count;
    }
    waits_look(sched);
    return find_wake(sched);
}

size_t sched_cycle(struct sched *sched, time_ns now, const struct decision **out, time_ns *wake_at)
{
    sched_pass_time(sched, now);
    sched->cycle++;
    sched->decision_count = 0;
    sched->told.count = 0;
    sched->evicted_in_cycle = sched->plan.turn_attempts = 0;
    sched->recalls_after = UINT64_MAX;
    *wake_at = is_idle(sched) ? TIME_NEVER : decide(sched);
    *out = sched->decisions;
    return sched->decision_count;
}
