/* The allocate action.  The queue selection names a class queue; its head starts, or it is closed. */
#include <assert.h>

#include "policies/allocate/allocate.h"
#include "policies/booking/booking.h"
#include "policies/booking/start.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/nominees.h"
#include "policies/quota/quota.h"
#include "policies/reservation/reservation.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

/* by_limit: the head may not have more, wherever it would be placed.
 * Where jobs are confined, each fact may move their places, so each head is tried again.  Only a guaranteed job that a
 * limit closed waits for the limit: it goes before all jobs that are not guaranteed, so the others keep their order
 * without it. */
static void close_class_queue(struct sched *sched, uint32_t class_queue_id, queue_id forbids, bool by_limit)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const int64_t *charge = sched->request_classes.at[class_queue->request_class].charge;
    if (by_limit && charge[QUEUE_SUM_FIRM_GPU] > 0)
        pending_block(&sched->pending, class_queue_id, forbids);
    else
        pending_block_briefly(&sched->pending, class_queue_id, forbids);
    queue_tree_close(&sched->tree, forbids);
    queue_tree_touch(&sched->tree, class_queue->leaf_queue);
    nominees_turn_moved(sched);
}

/* Place the job's allocation step.  Returns 0 if it may start there; then its space stays taken in the ledger.  Else
 * returns how its request class is to be closed. */
static uint8_t try_place(struct sched *sched, uint32_t slot, enum source *source)
{
    sched->attempts++;
    struct free_space before = headroom_free(sched);
    size_t mark = ledger_mark(sched->ledger);
    bool fits = !sched_is_stopped(sched) && sched_place(sched, slot, &sched->pieces), is_filler = false;
    if (fits && sched->reserves && !reserve_is_clear(sched, slot, &sched->pieces)) {
        ledger_rollback(sched->ledger, mark);
        mark = ledger_mark(sched->ledger);
        if (!reserve_place(sched, slot)) {
            ledger_rollback(sched->ledger, mark);
            is_filler = fillers_place(sched, slot);
            if (!is_filler)
                return REQUEST_CLASS_PROMISED;
            mark = ledger_mark(sched->ledger);
            sched_take(sched, slot);
        }
    }
    uint8_t spares = fits ? headroom_spares(sched, slot, before) : REQUEST_CLASS_BLOCKED;
    *source = spares != 0 ? SOURCE_HEADROOM : is_filler ? SOURCE_GAP : SOURCE_FREE;
    if (is_filler && spares != 0) {
        ledger_rollback(sched->ledger, mark);
        return REQUEST_CLASS_PROMISED;
    }
    if (!fits || (spares != 0 && !headroom_is_for(sched, slot))) {
        ledger_rollback(sched->ledger, mark);
        return spares;
    }
    ledger_commit(sched->ledger, mark);
    return 0;
}

/* The head does not start: close its request class.  A head confined to its queue's GPUs closes only its class queue,
 * since jobs of other queues may fit elsewhere. */
static void close_for(struct sched *sched, uint32_t class_queue_id, uint32_t slot, uint8_t closed)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct request_class *request_class = &sched->request_classes.at[job->ask];
    if (closed == REQUEST_CLASS_BLOCKED && sched->policy.quota->homes.confines != NULL &&
        !request_class->is_preemptible) {
        close_class_queue(sched, class_queue_id, job->queue, false);
        return;
    }
    if (closed & REQUEST_CLASS_SPARES_NODES)
        headroom_note_spared(sched, request_class);
    if (closed & REQUEST_CLASS_SPARES_OWNERS)
        over_quota_find(sched, class_queue_id);
    waits_close_request_class(sched, job->ask, closed);
    nominees_turn_moved(sched);
}

/* If a limit, or quota that is kept for other jobs, forbids the head to start, close its class queue. */
static bool close_if_forbidden(struct sched *sched, uint32_t class_queue_id, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    queue_id forbids = queue_tree_forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge);
    if (forbids == QUEUE_NONE && sched->keeps_quota) {
        forbids = kept_forbids(sched, slot);
        kept_note(sched, class_queue_id, forbids != QUEUE_NONE);
    }
    if (forbids != QUEUE_NONE)
        close_class_queue(sched, class_queue_id, forbids, true);
    return forbids != QUEUE_NONE;
}

/* If it is known without a try that the head finds no place, close its class queue, as after a try. */
static bool close_if_without_room(struct sched *sched, uint32_t class_queue_id, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct quota_homes *homes = &sched->policy.quota->homes;
    if (homes->has_room == NULL || sched->policy.preempt.replaces_victims || /* it may await space that comes */
        homes->has_room(&sched->tree, job->queue, sched_ask(sched, job), true))
        return false;
#ifdef WINDTUNNEL_DEBUG
    enum source source;
    assert(try_place(sched, slot, &source) == REQUEST_CLASS_BLOCKED);
#else
    sched->attempts++;
#endif
    close_for(sched, class_queue_id, slot, REQUEST_CLASS_BLOCKED);
    return true;
}

/* Try to place the head of the class queue.  If it cannot start, its class queue or its request class is closed, unless
 * it claims leaving space (plan_await). */
static void sched_try_head(struct sched *sched, uint32_t class_queue_id)
{
    uint32_t slot = pending_head(&sched->pending, class_queue_id);
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    enum source source;
    if (close_if_forbidden(sched, class_queue_id, slot))
        return;
    if (ask->closed != 0 && over_quota_find(sched, class_queue_id))
        return; /* free space is kept for owners */
    if (close_if_without_room(sched, class_queue_id, slot))
        return;
    if (plan_await_shared(sched, slot))
        return;
    uint8_t closed = try_place(sched, slot, &source);
    const uint32_t shorter = closed == REQUEST_CLASS_PROMISED ? reserve_shorter(sched, class_queue_id) : SLOT_NONE;
    if (shorter != SLOT_NONE)
        closed = try_place(sched, slot = shorter, &source);
    if (closed != 0) {
        if (closed == REQUEST_CLASS_PROMISED || !plan_await(sched, slot))
            close_for(sched, class_queue_id, slot, closed);
        return;
    }
    if (sched->policy.preemption->evicts)
        retry_queue_head_started(sched, class_queue_id);
    if (source == SOURCE_GAP)
        fillers_add(sched, slot);
    book_start(sched, slot, source);
}

static void allocate_inference(struct sched *sched)
{
    for (uint32_t class_queue = pending_next_of_class(&sched->pending, JOB_INFERENCE); class_queue != CLASS_QUEUE_NONE;
         class_queue = pending_next_of_class(&sched->pending, JOB_INFERENCE))
        sched_try_head(sched, class_queue);
}

/* Plan starts for the first heads of the queue selection that do not start now. */
static void reserve(struct sched *sched)
{
    reserve_begin(sched);
    for (uint32_t class_queue = reserve_next(sched); class_queue != CLASS_QUEUE_NONE;
         class_queue = reserve_next(sched)) {
        if (!pending_is_closed(&sched->pending, class_queue))
            sched_try_head(sched, class_queue);
        if (sched->pending.class_queues[class_queue].count > 0 && pending_is_closed(&sched->pending, class_queue))
            reserve_for(sched, class_queue);
    }
}

/* Close each class queue that is next in its leaf queue and whose head does not fit now. */
static void close_unfit(struct sched *sched)
{
    for (queue_id leaf_queue = 0; leaf_queue < sched->pending.leaf_queue_count; leaf_queue++) {
        const uint32_t class_queue = pending_next(&sched->pending, leaf_queue);
        if (class_queue == CLASS_QUEUE_NONE)
            continue;
        const uint32_t slot = pending_head(&sched->pending, class_queue);
        if (close_if_forbidden(sched, class_queue, slot) || sched->policy.preempt.replaces_victims ||
            sched_ask(sched, &sched->jobs.jobs[slot])->closed != 0)
            continue;
        const size_t mark = ledger_mark(sched->ledger);
        const bool fits = sched_place(sched, slot, &sched->pieces);
        ledger_rollback(sched->ledger, mark);
        if (!fits)
            close_for(sched, class_queue, slot, REQUEST_CLASS_BLOCKED);
    }
}

/* Does a class queue that needs a plan go before this one?  Then its plan is booked or its victims are searched. */
static bool plan_in_turn(struct sched *sched, uint32_t class_queue)
{
    uint32_t whose;
    const enum turn turn = nominees_turn(sched, class_queue, &whose);
    if (turn == TURN_TO_BOOK) {
        nominees_book(sched, whose);
    } else if (turn == TURN_TO_SEEK) {
        close_unfit(sched);
        nominees_seek(sched);
    }
    return turn != TURN_NONE;
}

/* In one line that blocks, the first job may be beyond a limit since its class queue was closed for want of space.
 * Close it by the limit, so that jobs behind it pass. */
static void pass_limited(struct sched *sched)
{
    if (!sched->tree.has_limits || !policy_has_one_line(&sched->policy))
        return;
    for (uint32_t first = pending_first(&sched->pending, QUEUE_ROOT);
         first != CLASS_QUEUE_NONE && pending_is_closed(&sched->pending, first);
         first = pending_first(&sched->pending, QUEUE_ROOT)) {
        const struct sched_job *job = &sched->jobs.jobs[pending_head(&sched->pending, first)];
        const queue_id limit = queue_tree_limit_forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge);
        if (limit == QUEUE_NONE)
            return;
        close_class_queue(sched, first, limit, true);
    }
}

/* Try class queues in the order of the queue selection.  As soon as a head does not start, planned starts are made for
 * the first heads. */
static void allocate_selected(struct sched *sched)
{
    if (sched->plans_in_turn)
        nominees_begin(sched);
    for (;;) {
        pass_limited(sched);
        const uint32_t class_queue = queue_selection_next(&sched->tree, &sched->pending);
        if (sched->plans_in_turn && plan_in_turn(sched, class_queue))
            continue;
        if (class_queue == CLASS_QUEUE_NONE)
            return;
        sched_try_head(sched, class_queue);
        if (sched->reserves && reservation_is_due(sched))
            reserve(sched);
    }
}

static void allocate_beside_planned_starts(struct sched *sched)
{
    reserve_review(sched);
    if (reservation_is_due(sched))
        reserve(sched);
    do
        allocate_selected(sched);
    while (reserve_review(sched));
}

static void allocate_once(struct sched *sched)
{
    if (sched->policy.inference_first)
        allocate_inference(sched);
    headroom_close(sched);
    if (sched->reserves)
        allocate_beside_planned_starts(sched);
    else if (!sched->policy.backfill_config.keeps) /* else even the head may delay a planned start */
        allocate_selected(sched);
    overtake(sched);
}

void allocate(struct sched *sched)
{
    do
        allocate_once(sched);
    while (fillers_land(sched)); /* their jobs block those behind them no more */
}
