/* The allocate action: the queue selection names a class queue, its head is placed or the class queue is closed. */
#include "policies/allocate/allocate.h"
#include "policies/booking/booking.h"
#include "policies/booking/start.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/nominees.h"
#include "policies/reservation/reservation.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

static void close_lane(struct sched *sched, uint32_t lane_id, queue_id forbids)
{
    pending_block(&sched->pending, lane_id, forbids);
    sched->tree.closing_count += !sched->tree.queues[forbids].has_closed_lanes;
    sched->tree.queues[forbids].has_closed_lanes = true;
    queue_tree_touch(&sched->tree, sched->pending.lanes[lane_id].line);
    nominees_turn_moved(sched);
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
    nominees_turn_moved(sched);
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

void allocate(struct sched *sched)
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
