/* What jobs hold and what they wait for; see policies/booking/booking.h. */
#include <assert.h>

#include "policies/booking/booking.h"
#include "policies/booking/decide.h"
#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/quota/quota.h"
#include "policies/state/ranks.h"
#include "policies/state/request_classes.h"
#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

static bool is_some_less(const int64_t amounts[QUEUE_SUM_COUNT])
{
    int64_t signs = 0;
    for (uint32_t r = 0; r < RESOURCE_COUNT; r++) /* the FIRM sums equal these, or are 0 */
        signs |= amounts[r];
    return signs < 0;
}

void sched_charge(struct sched *sched, uint32_t slot, const int64_t amounts[QUEUE_SUM_COUNT])
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    ledger_charge(sched->ledger, job->queue, amounts);
    if (sched->ledger->mark_depth > 0)
        return; /* a trial changes no state but the ledger */
    OBSERVERS_TELL(sched, charged, slot, amounts);
    const bool keeps_some = sched->tree.closing_count > 0 || sched->headroom.owners_milli > 0;
    if (keeps_some && is_some_less(amounts))
        sched_reopen_below(sched, job->queue);
}

void sched_advance_quota(struct sched *sched, time_ns now)
{
    const bool has_news = sched->quota_advance.change != sched->changes || sched->quota_advance.at <= now;
    sched->quota_advance.at = TIME_NEVER;
    sched->quota_advance.change = sched->changes;
    const bool may_limits_differ = sched->policy.quota->advance(&sched->tree, now, &sched->quota_advance.at);
    const bool may_places_differ = sched->policy.quota->homes.confines != NULL;
    if ((may_limits_differ || may_places_differ) && has_news) /* else a plan that failed would fail again each time */
        sched_void_memos(sched);
    if (may_limits_differ) {
        queue_tree_all_stale(&sched->tree);
        sched_reopen_quotas(sched);
    } else if (may_places_differ) {
        sched_reopen_brief(sched);
    }
    sched->tree.now = now;
}

/* May the policy ever evict a job of this request class? */
static bool is_evictable(const struct sched *sched, const struct request_class *request_class)
{
    if (!sched->policy.preemption->evicts)
        return false;
    return request_class->is_preemptible;
}

/* A piece was added to the job (sign 1) or removed (-1). */
static void note_piece(struct sched *sched, const struct sched_job *job, const struct piece *piece, int sign)
{
    if (sched_request_class(sched, job)->is_preemptible)
        return;
    if (sched->policy.quota->homes.firm_changes != NULL)
        sched->policy.quota->homes.firm_changes(&sched->tree);
    ledger_note_non_preemptible(sched->ledger, piece, job->queue, sign);
    OBSERVERS_TELL(sched, held, piece, sign);
}

static void hold_one(struct sched *sched, uint32_t slot, const struct piece *piece, enum holding_phase phase,
                     decision_id decision)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    sched_job_hold(job, piece, phase, decision);
    sched_job_held(job)[piece->group] += piece->member_count;
    if (phase == HOLDING_CLAIMED)
        sched->claims.piece_milli += piece_milli(piece);
    note_piece(sched, job, piece, 1);
}

/* Split the piece into single members; each gets the lowest GPUs that are left. */
static void hold_members(struct sched *sched, uint32_t slot, const struct piece *piece, enum holding_phase phase,
                         decision_id decision)
{
    /* Not request.gpus: a request by GPU memory may take whole GPUs too. */
    uint16_t gpus = (uint16_t)(bits_count16(piece->gpu_mask) / piece->member_count);
    uint16_t left = piece->gpu_mask;
    struct piece member = *piece;
    member.member_count = 1;
    for (uint16_t m = 0; m < piece->member_count; m++) {
        member.gpu_mask = 0;
        for (uint16_t g = 0; g < gpus; g++, left &= (uint16_t)(left - 1))
            member.gpu_mask |= (uint16_t)(left & -left);
        hold_one(sched, slot, &member, phase, decision);
    }
}

void sched_hold(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum holding_phase phase,
                decision_id decision)
{
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    bool is_rigid =
        sched_request_class(sched, &sched->jobs.jobs[slot])->is_rigid && sched->policy.gang->is_all_or_nothing;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->pieces[i];
        sched_add_charge(sched, slot, piece, 1, amounts);
        if (is_rigid || piece->member_count == 1)
            hold_one(sched, slot, piece, phase, decision);
        else
            hold_members(sched, slot, piece, phase, decision);
    }
    sched_charge(sched, slot, amounts);
}

static void count_leaving(struct sched *sched, const struct sched_job *job, int sign)
{
    sched->lists.leaving_count += (uint32_t)sign;
    if (!sched_request_class(sched, job)->is_preemptible)
        sched->lists.leaving_firm_count += (uint32_t)sign;
}

void sched_unhold(struct sched *sched, uint32_t slot, uint32_t index)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct holding holding = *sched_job_holding(job, index);
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    OBSERVERS_TELL(sched, releases, slot, holding.piece.node);
    sched_move(sched, slot, index,
               holding.phase == HOLDING_LEAVING   ? ledger_arrive
               : holding.phase == HOLDING_CLAIMED ? ledger_unclaim
                                                  : ledger_give);
    sched_job_unhold(job, index);
    note_piece(sched, job, &holding.piece, -1);
    if (holding.phase == HOLDING_CLAIMED)
        sched->claims.piece_milli -= piece_milli(&holding.piece);
    if (holding.phase == HOLDING_LEAVING) {
        count_leaving(sched, job, -1);
        return; /* its charge was taken off when its EVICT was decided */
    }
    sched_job_held(job)[holding.piece.group] -= holding.piece.member_count;
    sched_add_charge(sched, slot, &holding.piece, -1, amounts);
    sched_charge(sched, slot, amounts);
}

bool claims_has(const struct sched *sched, uint32_t slot)
{
    for (uint32_t c = 0; c < sched->claims.count; c++)
        if (sched->claims.slots[c] == slot)
            return true;
    return false;
}

void sched_unclaim(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    uint32_t at = 0;
    while (sched->claims.slots[at] != slot)
        at++;
    for (sched->claims.count--; at < sched->claims.count; at++)
        sched->claims.slots[at] = sched->claims.slots[at + 1];
    for (uint32_t i = job->holding_count; i-- > 0;)
        if (sched_job_holding(job, i)->phase == HOLDING_CLAIMED)
            sched_unhold(sched, slot, i);
}

/* Append the job's pieces in these phases (as bits), from that holding on, to `held`.  Returns how many. */
static uint32_t list_held(const struct sched_job *job, uint32_t first, uint32_t phases, struct piece_list *held)
{
    const uint32_t before = held->count;
    for (uint32_t i = first; i < job->holding_count; i++)
        if (phases >> sched_job_holding(job, i)->phase & 1) {
            MEM_GROW(held->pieces, held->capacity, (size_t)held->count + 1);
            held->pieces[held->count++] = sched_job_holding(job, i)->piece;
        }
    return held->count - before;
}

/* What the job holds: kept, then claimed, then on its way out.  A job that grows step by step is listed once. */
static void list_holdings(struct sched *sched, const struct sched_job *job, struct placement_request *asked)
{
    struct grown_list *grown = &sched->grown;
    struct piece_list *held = &grown->pieces;
    const bool keeps_all = job->phase_counts[HOLDING_CLAIMED] + job->phase_counts[HOLDING_LEAVING] == 0;
    if (!keeps_all || !grown->keeps_all || grown->job != job->id || grown->unheld != job->unheld) {
        held->count = 0;
        grown->number++;
    }
    grown->job = job->id;
    grown->unheld = job->unheld;
    grown->keeps_all = keeps_all;
    const uint32_t others = keeps_all ? job->holding_count : 0; /* the first that may be claimed or leaving */
    list_held(job, held->count, ~(1u << HOLDING_CLAIMED | 1u << HOLDING_LEAVING), held);
    asked->passing.claimed = list_held(job, others, 1u << HOLDING_CLAIMED, held);
    asked->held.count = held->count;
    asked->held_list = keeps_all ? grown->number : 0;
    asked->passing.leaving = list_held(job, others, 1u << HOLDING_LEAVING, held);
    asked->held.pieces = held->pieces;
}

static inline struct placement_request request_for(struct sched *sched, uint32_t slot, struct allowed_space *allowed)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const bool is_preemptible = sched_request_class(sched, job)->is_preemptible;
    const bool has_own = !is_preemptible && sched->policy.placement_firm != NULL;
    const struct quota_policy *quota = sched->policy.quota;
    struct placement_request asked = {.policy = has_own ? sched->policy.placement_firm : sched->policy.placement,
                                      .request_class = &sched->request_classes.at[job->ask],
                                      .owner = slot,
                                      .stop = sched->stop};
    queue_id keeper = QUEUE_NONE;
    *allowed = (struct allowed_space){0};
    if (job->holding_count > 0)
        list_holdings(sched, job, &asked);
    if (quota->homes.confines != NULL)
        allowed->gpus = quota->homes.confines(&sched->tree, job->queue, sched_ask(sched, job), &keeper);
    if (allowed->gpus != NULL)
        asked.allowed = allowed;
    return asked;
}

struct placement_request sched_placement_request(struct sched *sched, uint32_t slot, struct allowed_space *allowed)
{
    return request_for(sched, slot, allowed);
}

bool sched_place(struct sched *sched, uint32_t slot, struct piece_list *pieces)
{
    struct allowed_space allowed;
    const struct placement_request asked = request_for(sched, slot, &allowed);
    return placement_place(sched->ledger, &asked, pieces);
}

/* Will the job never ask for more than it holds? */
static inline bool is_full(struct sched *sched, const struct sched_job *job)
{
    return job->fill != FILL_BELOW && sched_request_class(sched, job)->is_rigid;
}

/* The request class of the job's next allocation step; REQUEST_CLASS_NONE: there is none. */
static inline uint32_t next_ask(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const bool is_rigid = sched_request_class(sched, job)->is_rigid;
    if (is_rigid && job->holding_count == 0 && sched->policy.gang->is_all_or_nothing && !sched->headroom.is_by_queue)
        return job->request_class;
    if (job->fill != FILL_BELOW && is_rigid)
        return REQUEST_CLASS_NONE;
    return sched_next_step(sched, slot);
}

static void enter_class_queue(struct sched *sched, uint32_t slot, uint32_t ask)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const bool is_flat = sched->policy.quota->is_flat;
    const queue_id leaf_queue = is_flat ? QUEUE_ROOT : job->queue;
    const queue_id limited_by = is_flat ? queue_tree_limited_by(&sched->tree, job->queue) : QUEUE_ROOT;
    job->ask = ask;
    job->class_queue = pending_class_queue(&sched->pending, leaf_queue, ask, limited_by);
    bool is_head = pending_add(&sched->pending, job->class_queue, slot);
    if (!sched->policy.quota->is_flat)
        queue_selection_waiting(&sched->tree, leaf_queue, 1);
    OBSERVERS_TELL(sched, queued, job->class_queue);
    if (is_head)
        OBSERVERS_TELL(sched, new_head, job->class_queue);
    if (job->holding_count == 0)
        waits_enter(sched, slot);
}

void sched_wait(struct sched *sched, uint32_t slot)
{
    if (!sched->ranks.are_fixed)
        sched_rank(sched, slot);
    OBSERVERS_TELL(sched, waiting, slot);
    const uint32_t ask = next_ask(sched, slot);
    if (ask != REQUEST_CLASS_NONE)
        enter_class_queue(sched, slot, ask);
}

void sched_enter_lines_again(struct sched *sched)
{
    for (uint32_t slot = 0; slot < sched->jobs.used && sched->policy.quota->is_flat; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->class_queue == CLASS_QUEUE_NONE ||
            sched->pending.class_queues[job->class_queue].limited_by == queue_tree_limited_by(&sched->tree, job->queue))
            continue;
        sched_unwait(sched, slot);
        sched_wait(sched, slot);
    }
}

void sched_unwait(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    queue_id leaf_queue = sched->pending.class_queues[job->class_queue].leaf_queue;
    waits_leave(sched, slot);
    if (pending_head(&sched->pending, job->class_queue) == slot) {
        pending_remove_head(&sched->pending, job->class_queue);
        OBSERVERS_TELL(sched, new_head, job->class_queue);
    } else {
        pending_remove(&sched->pending, job->class_queue, slot);
    }
    if (!sched->policy.quota->is_flat)
        queue_selection_waiting(&sched->tree, leaf_queue, -1);
    job->class_queue = CLASS_QUEUE_NONE;
    OBSERVERS_TELL(sched, unwaits, slot);
}

static void turn_victim(struct sched *sched, uint32_t slot, bool is_listed)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    job->is_listed = is_listed;
    if (is_listed)
        slot_list_add(&sched->lists.running[job->queue], &sched->jobs, slot);
    else
        slot_list_remove(&sched->lists.running[job->queue], &sched->jobs, slot);
    OBSERVERS_TELL(sched, listed, slot, is_listed);
}

static inline void list_victim(struct sched *sched, uint32_t slot, bool is_listed)
{
    if (sched->jobs.jobs[slot].is_listed != is_listed)
        turn_victim(sched, slot, is_listed);
}

static void turn_below(struct sched *sched, uint32_t slot, bool is_below)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    job->is_below = is_below;
    if (is_below) {
        sched->jobs.facts[slot].below_since = sched->now;
        MEM_GROW(sched->lists.below, sched->lists.below_capacity, (size_t)sched->lists.below_count + 1);
        sched->lists.below[sched->lists.below_count++] = slot;
        return;
    }
    if (job->fill != FILL_BELOW)
        sched->jobs.facts[slot].stale_count = 0;
    sched->jobs.facts[slot].is_left_partial = false;
    for (uint32_t i = 0; i < sched->lists.below_count; i++)
        if (sched->lists.below[i] == slot) {
            sched->lists.below[i] = sched->lists.below[--sched->lists.below_count];
            return;
        }
}

static inline void list_below(struct sched *sched, uint32_t slot, bool is_below)
{
    if (sched->jobs.jobs[slot].is_below != is_below)
        turn_below(sched, slot, is_below);
}

/* Integrate run time and GPU time up to now at the old rate, then set the new rate. */
static void note_service(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct job_facts *facts = &sched->jobs.facts[slot];
    if (facts->is_serving)
        facts->ran += sched->now - facts->attained_at;
    facts->attained_gpu_ns = attained_gpu_ns(facts, sched->now);
    facts->attained_at = sched->now;
    facts->rate_milli = job->running_milli;
    facts->is_serving = job->state == SJOB_RUNNING;
}

enum { /* phases as bits */
       HAS_CLAIMED = 1 << HOLDING_CLAIMED,
       HAS_STARTING = 1 << HOLDING_STARTING,
       HAS_RUNNING = 1 << HOLDING_RUNNING,
       HAS_LEAVING = 1 << HOLDING_LEAVING
};

static enum sched_job_state state_of(uint32_t phases)
{
    return phases & HAS_RUNNING    ? SJOB_RUNNING
           : phases & HAS_STARTING ? SJOB_STARTING
           : phases & HAS_CLAIMED  ? SJOB_CLAIMING
           : phases & HAS_LEAVING  ? SJOB_EVICTING
                                   : SJOB_PENDING;
}

static uint8_t fill_of(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = sched_request_class(sched, job);
    if (request_class->group_count == 1 && request_class->is_rigid)
        return job->held_one < request_class->member_count ? FILL_BELOW : FILL_MINIMUM;
    struct gang_view view;
    sched_gang_view(sched, slot, &view);
    return gang_fill(&view);
}

/* May the job be in a class queue? */
static bool may_wait(const struct sched_job *job, uint32_t phases)
{
    return (phases & HAS_CLAIMED) == 0 && job->state != SJOB_EVICTING;
}

/* Set the state and the fill of the job from the phases of its holdings. */
static void settle_state(struct sched *sched, uint32_t slot, uint32_t phases)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const bool is_booked = (phases & (HAS_RUNNING | HAS_STARTING)) != 0;
    sched->lists.booked_count += (uint32_t)is_booked - (uint32_t)job->is_booked;
    job->state = (uint8_t)state_of(phases);
    job->is_booked = is_booked;
    job->fill = fill_of(sched, slot);
}

/* Was the space claimed for surplus members, and is the job now below its minimum?  Surplus must not start alone.  A
 * claim that is being made is not listed yet. */
static bool is_claim_useless(const struct sched *sched, uint32_t slot, uint32_t phases)
{
    return sched->jobs.jobs[slot].fill == FILL_BELOW && phases & HAS_CLAIMED && sched->policy.gang->is_all_or_nothing &&
           claims_has(sched, slot);
}

/* Note whether the job is below its minimum.  A claim that would complete it may be dropped, so the job counts as below
 * until the claim starts. */
static void settle_below(struct sched *sched, uint32_t slot, uint32_t phases, bool was_booked)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const bool is_below = job->is_booked && (job->fill == FILL_BELOW || (job->is_below && phases & HAS_CLAIMED));
    if (is_below && was_booked && !job->is_below)
        sched->jobs.facts[slot].stale_count = 0; /* it held its minimum until now */
    list_below(sched, slot, is_below);
}

/* Put the job into the class queue of what it waits for now.  Its service comes first, since ranks depend on it. */
static void settle_waiting(struct sched *sched, uint32_t slot, uint32_t phases)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->class_queue != CLASS_QUEUE_NONE)
        sched_unwait(sched, slot);
    if (sched->ranks.need_service)
        note_service(sched, slot);
    if (may_wait(job, phases) && !is_full(sched, job))
        sched_wait(sched, slot);
    else if (!sched->ranks.are_fixed)
        sched_rank(sched, slot);
    waits_settle(sched, slot);
}

void sched_settle(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const uint32_t phases = sched_job_phases(job);
    const bool was_booked = job->is_booked;
    settle_state(sched, slot, phases);
    if (is_claim_useless(sched, slot, phases)) {
        sched_unclaim(sched, slot);
        decided_release(sched, job->id);
        sched_settle(sched, slot);
        return;
    }
    list_victim(sched, slot, job->is_booked && is_evictable(sched, sched_request_class(sched, job)));
    settle_below(sched, slot, phases, was_booked);
    settle_waiting(sched, slot, phases);
    queue_tree_touch_standing(&sched->tree, job->queue);
    OBSERVERS_TELL(sched, settled, slot);
}

void sched_forget(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    sched->lists.booked_count -= job->is_booked;
    if (queue_tree_is_asked(&sched->tree))
        queue_tree_demand(&sched->tree, job->queue, sched_request_class(sched, job)->charge, -1);
    queue_tree_touch_standing(&sched->tree, job->queue);
    list_victim(sched, slot, false);
    list_below(sched, slot, false);
    OBSERVERS_TELL(sched, forgotten, slot);
    waits_forget(sched, job);
    job_table_drop(&sched->jobs, slot);
}

void sched_let_leave(struct sched *sched, uint32_t slot, uint32_t index, decision_id decision)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct holding *holding = &sched_job_holdings(job)[index];
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    sched_move(sched, slot, index, ledger_vacate);
    sched_job_turn(job, holding, HOLDING_LEAVING);
    count_leaving(sched, job, 1);
    holding->decision = decision;
    sched_job_held(job)[holding->piece.group] -= holding->piece.member_count;
    sched_add_charge(sched, slot, &holding->piece, -1, amounts);
    sched_charge(sched, slot, amounts);
}

void sched_let_stay(struct sched *sched, uint32_t slot, uint32_t index, int64_t amounts[QUEUE_SUM_COUNT])
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct holding *holding = &sched_job_holdings(job)[index];
    sched_move(sched, slot, index, ledger_restore);
    sched_job_turn(job, holding, HOLDING_RUNNING);
    count_leaving(sched, job, -1);
    holding->decision = 0;
    sched_job_held(job)[holding->piece.group] += holding->piece.member_count;
    sched_add_charge(sched, slot, &holding->piece, 1, amounts);
}

/* ---- The state of this room ---- */

void booking_init(struct sched *sched)
{
    sched->quota_advance.at = TIME_NEVER;
}

void booking_release(struct sched *sched)
{
    struct job_lists *lists = &sched->lists;
    for (size_t q = 0; q < lists->running_capacity; q++)
        mem_free(lists->running[q].slots);
    mem_free(lists->running);
    mem_free(lists->below);
    mem_free(sched->claims.slots);
    piece_list_release(&sched->held_pieces);
    piece_list_release(&sched->grown.pieces);
    decided_release_all(sched);
}

void booking_queues_changed(struct sched *sched, uint32_t queue_count)
{
    MEM_GROW(sched->lists.running, sched->lists.running_capacity, queue_count);
}
