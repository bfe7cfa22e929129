/* Plans: make room for a job by letting others go, in the ledger first.
 *
 *   collect   who may go, in the order of the keys (victims.c)
 *   look      does it fit what is free and what is being released already?  Then it only waits for that
 *   grow      take units until the gainer fits and the after-state is valid
 *   trim      give back, dearest first, every unit without which the gainer still fits; validate again
 *   book      or roll back; a booked gainer claims its space, so that nobody else gets it
 *
 * The after-state is valid when the quota policy says so, the limits hold, and the order puts the gainer before
 * every victim, so that none can take its place back.  A consolidation is valid when every victim fits elsewhere.
 * Limits: victims_max jobs per plan, attempts_per_cycle plans per cycle and kind, evictions_per_cycle.
 * Cost: O(running jobs) to collect, a placement per unit taken. */
#include <assert.h>
#include <string.h>

#include "policies/sched_state.h"

enum { BACKOFF_SHIFT_MAX = 12, BACKOFF_EAGER = 6 };

static struct sched_job *job_of(struct sched *sched, const struct unit *unit)
{
    return &sched->jobs.jobs[unit->slot];
}

/* Is the holding part of a surplus unit that is taken (or, all: of any surplus unit)? */
bool plan_is_surplus(const struct sched *sched, const struct unit *core, uint32_t holding)
{
    if (core->surplus_count == 0)
        return false;
    for (uint32_t u = 0; u < sched->plan.unit_count; u++) {
        const struct unit *unit = &sched->plan.units[u];
        if (unit->slot == core->slot && unit->holding == holding)
            return true;
    }
    return false;
}

/* Do this to every piece of the unit. */
static void move_unit(struct sched *sched, const struct unit *unit, ledger_move_fn *move)
{
    const struct sched_job *job = job_of(sched, unit);
    if (unit->holding != UNIT_CORE) {
        sched_move(sched, unit->slot, unit->holding, move);
        return;
    }
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (!plan_is_surplus(sched, unit, i))
            sched_move(sched, unit->slot, i, move);
}

static void charge_unit(struct sched *sched, const struct unit *unit, int sign)
{
    int64_t amounts[QUEUE_SUM_COUNT];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        amounts[r] = sign * unit->charge[r];
    ledger_charge(sched->ledger, unit->queue, amounts);
}

void plan_take(struct sched *sched, struct unit *unit)
{
    struct plan_scratch *plan = &sched->plan;
    if (unit->holding == UNIT_CORE && unit->surplus_count > 0) /* its surplus goes before it */
        for (uint32_t u = 0; u < plan->unit_count; u++)
            if (plan->units[u].slot == unit->slot && !plan->units[u].is_taken &&
                &plan->units[u] != unit)
                plan_take(sched, &plan->units[u]);
    unit->is_taken = true;
    MEM_GROW(plan->taken, plan->taken_capacity, (size_t)plan->taken_count + 1);
    plan->taken[plan->taken_count++] = (uint32_t)(unit - plan->units);
    move_unit(sched, unit, ledger_give);
    charge_unit(sched, unit, -1);
}

static void give_back(struct sched *sched, struct unit *unit)
{
    unit->is_taken = false;
    move_unit(sched, unit, ledger_take);
    charge_unit(sched, unit, 1);
}

static void take_again(struct sched *sched, struct unit *unit)
{
    unit->is_taken = true;
    move_unit(sched, unit, ledger_give);
    charge_unit(sched, unit, -1);
}

/* A surplus member cannot stay when the job's core goes. */
static bool is_core_taken(const struct sched *sched, const struct unit *unit)
{
    if (unit->holding == UNIT_CORE)
        return false;
    for (uint32_t u = 0; u < sched->plan.unit_count; u++) {
        const struct unit *other = &sched->plan.units[u];
        if (other->slot == unit->slot && other->holding == UNIT_CORE)
            return other->is_taken;
    }
    return false;
}

/* Where the gainer would go now; the ledger is as before. */
static bool fits(struct sched *sched, uint32_t gainer)
{
    size_t mark = ledger_mark(sched->ledger);
    bool is_placed =
        placement_may_fit(sched->ledger, sched_ask(sched, &sched->jobs.jobs[gainer])) &&
        sched_place(sched, gainer, &sched->plan.pieces);
    if (is_placed && !headroom_is_for(sched, gainer))
        is_placed = !headroom_is_used(sched, gainer, sched->plan.free_before);
    ledger_rollback(sched->ledger, mark);
    return is_placed;
}

/* Does the gainer fit, within the limits of its queue and those above? */
static bool suffices(struct sched *sched, uint32_t gainer)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer];
    const struct quota_policy *quota = sched->policy.quota;
    bool is_allowed =
        quota->forbids == NULL ||
        quota->forbids(&sched->tree, own->queue, sched_ask(sched, own)->charge) == QUEUE_NONE;
    return is_allowed && fits(sched, gainer);
}

static uint32_t taken_jobs(const struct sched *sched)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < sched->plan.taken_count; t++) {
        const struct unit *unit = &sched->plan.units[sched->plan.taken[t]];
        count += unit->is_taken && (unit->holding == UNIT_CORE || !is_core_taken(sched, unit));
    }
    return count;
}

/* Give back at once whatever touches no node that the gainer is to have. */
static void drop_bystanders(struct sched *sched)
{
    struct plan_scratch *plan = &sched->plan;
    for (uint32_t p = 0; p < plan->pieces.count; p++)
        plan->node_mark[plan->pieces.pieces[p].node] = 1;
    for (uint32_t t = plan->taken_count; t-- > 0;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = job_of(sched, unit);
        bool touches = !unit->is_taken || is_core_taken(sched, unit);
        for (uint32_t i = 0; i < job->holding_count && !touches; i++)
            if (unit->holding == i ||
                (unit->holding == UNIT_CORE && !plan_is_surplus(sched, unit, i)))
                touches = plan->node_mark[sched_job_holding(job, i)->piece.node] != 0;
        if (!touches)
            give_back(sched, unit);
    }
    for (uint32_t p = 0; p < plan->pieces.count; p++)
        plan->node_mark[plan->pieces.pieces[p].node] = 0;
}

/* Give back, dearest first, every unit that is not needed. */
static void trim(struct sched *sched, uint32_t gainer)
{
    struct plan_scratch *plan = &sched->plan;
    for (uint32_t t = plan->taken_count; t-- > 0;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken || is_core_taken(sched, unit))
            continue;
        give_back(sched, unit);
        if (!suffices(sched, gainer))
            take_again(sched, unit);
    }
}

/* The victims' own chunk, as a shape: of a core the job's minimum, of surplus one member. */
static uint32_t shape_of_unit(struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = job_of(sched, unit);
    uint32_t chunk[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (unit->holding == i || (unit->holding == UNIT_CORE && !plan_is_surplus(sched, unit, i)))
            chunk[sched_job_holding(job, i)->piece.group] +=
                sched_job_holding(job, i)->piece.member_count;
    return shape_of_chunk(&sched->shapes, sched->cluster, job->shape, chunk);
}

/* With the gainer in place, put victims elsewhere where they fit; the best first, as they would be admitted.  The
 * moved are charged again.  Returns how many have no place.  Lasts until the caller rolls back. */
static uint32_t replace_victims(struct sched *sched)
{
    struct plan_scratch *plan = &sched->plan;
    uint32_t homeless = 0;
    for (uint32_t t = plan->taken_count; t-- > 0;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        unit->is_moved = false;
        if (!unit->is_taken)
            continue;
        uint32_t kind = shape_of_unit(sched, unit);
        const struct shape *shape = &sched->shapes.shapes[kind]; /* the table may have moved */
        size_t mark = ledger_mark(sched->ledger);
        if (placement_place(sched->policy.placement, sched->ledger, shape, unit->slot,
                            &plan->moved)) {
            ledger_commit(sched->ledger, mark);
            charge_unit(sched, unit, 1);
            unit->is_moved = true;
        } else {
            ledger_rollback(sched->ledger, mark);
            homeless++;
        }
    }
    return homeless;
}

/* With the victims gone and everybody waiting, does the gainer go before each of them? */
static bool goes_first(struct sched *sched, uint32_t gainer)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer];
    struct plan_scratch *plan = &sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        struct contender a, b;
        if (!unit->is_taken || unit->is_moved)
            continue;
        queue_tree_below_common(&sched->tree, own->queue, unit->queue, &a.queue, &b.queue);
        a.ask = sched_ask(sched, own)->charge;
        b.ask = unit->charge;
        if (sched->policy.quota->compare(&sched->tree, a, b) > 0)
            return false;
    }
    return true;
}

static uint32_t list_touched(struct sched *sched)
{
    struct plan_scratch *plan = &sched->plan;
    uint32_t count = 0;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        bool is_new = unit->is_taken && !unit->is_moved;
        for (uint32_t i = 0; i < count && is_new; i++)
            is_new = plan->touched[i] != unit->queue;
        if (!is_new)
            continue;
        MEM_GROW(plan->touched, plan->touched_capacity, (size_t)count + 1);
        plan->touched[count++] = unit->queue;
    }
    return count;
}

/* What the quota policy says of the after-state of a reclaim, and the order. */
static bool is_quota_good(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer];
    const struct quota_policy *quota = sched->policy.quota;
    const int64_t *ask = sched_ask(sched, own)->charge;
    if (kind != PLAN_RECLAIM)
        return true;
    if (!goes_first(sched, gainer))
        return false;
    if (quota->is_valid == NULL)
        return true;
    uint32_t touched = list_touched(sched);
    int64_t back[QUEUE_SUM_COUNT];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        back[r] = -ask[r];
    ledger_charge(sched->ledger, own->queue, ask);
    bool is_valid = quota->is_valid(&sched->tree, own->queue, ask, sched->plan.touched, touched);
    ledger_charge(sched->ledger, own->queue, back);
    return is_valid;
}

/* Is what would be thrown away worth the time the gainer has waited?  If not yet, when?  What a queue deserves is not
 * weighed. */
static bool is_worth_it(struct sched *sched, uint32_t gainer)
{
    int64_t ratio = sched->policy.preempt.loss_ratio_milli, loss = 0;
    if (ratio == 0 || sched_is_entitled(sched, gainer))
        return true;
    const struct plan_scratch *plan = &sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++)
        if (plan->units[plan->taken[t]].is_taken)
            loss += plan->units[plan->taken[t]].loss_gpu_ns;
    int64_t gpu_milli = sched_ask(sched, &sched->jobs.jobs[gainer])->charge[QUEUE_SUM_GPU];
    if (gpu_milli == 0)
        return loss == 0;
    time_ns needed = (time_ns)((__int128)loss * 1000 * GPU_MILLI / ((__int128)gpu_milli * ratio));
    time_ns since = sched->jobs.facts[gainer].waiting_since;
    if (since + needed <= sched->now)
        return true;
    plan_note_ripe(&sched->plan, since + needed);
    return false;
}

/* The after-state of the units taken: everything but whether each is needed. */
static bool is_good(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    bool replaces = kind == PLAN_CONSOLIDATE || sched->policy.preempt.replaces_victims;
    if (!replaces)
        return is_quota_good(sched, gainer, kind);
    size_t mark = ledger_mark(sched->ledger);
    bool is_placed = sched_place(sched, gainer, &sched->plan.pieces);
    uint32_t homeless = is_placed ? replace_victims(sched) : 0;
    bool is_valid = is_placed && (kind != PLAN_CONSOLIDATE || homeless == 0) &&
                    is_quota_good(sched, gainer, kind);
    ledger_rollback(sched->ledger, mark);
    return is_valid;
}

static uint32_t job_bound(const struct sched *sched, enum plan_kind kind)
{
    const struct preemption_config *config = &sched->policy.preempt;
    int64_t bound = config->victims_max;
    if (kind == PLAN_CONSOLIDATE && config->consolidation_max >= 0)
        bound = config->consolidation_max;
    if (config->evictions_per_cycle > 0 &&
        config->evictions_per_cycle - sched->evicted_in_cycle < bound)
        bound = config->evictions_per_cycle - sched->evicted_in_cycle;
    return bound > UINT32_MAX ? UINT32_MAX : bound < 0 ? 0 : (uint32_t)bound;
}

static bool is_acceptable(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    return taken_jobs(sched) <= job_bound(sched, kind) && suffices(sched, gainer) &&
           is_good(sched, gainer, kind);
}

/* What is taken suffices: is the after-state good, best without those who stand where the gainer does not go?  Else
 * all stays taken. */
static bool settle_for(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    size_t mark = ledger_mark(sched->ledger);
    drop_bystanders(sched);
    if (is_acceptable(sched, gainer, kind)) {
        ledger_commit(sched->ledger, mark);
        return true;
    }
    ledger_rollback(sched->ledger, mark);
    for (uint32_t t = 0; t < sched->plan.taken_count; t++)
        sched->plan.units[sched->plan.taken[t]].is_taken = true;
    return is_acceptable(sched, gainer, kind);
}

/* Take units one by one until the gainer fits in a valid after-state; false if that never comes. */
static bool grow_in_order(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    struct unit *unit;
    while ((unit = victims_next(sched, gainer, kind)) != NULL) {
        plan_take(sched, unit);
        if (suffices(sched, gainer) && settle_for(sched, gainer, kind))
            return true;
    }
    return false;
}

static bool grow_by_node(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    const struct shape *ask = sched_ask(sched, &sched->jobs.jobs[gainer]);
    bool is_found = false, may_go_on = sched->plan.unit_count > 0;
    uint32_t group = 0;
    while (ask->groups[group].count == 0)
        group++;
    while (!is_found && may_go_on && taken_jobs(sched) <= job_bound(sched, kind)) {
        may_go_on = offers_take(sched, gainer, &ask->groups[group].request, kind);
        is_found = may_go_on && suffices(sched, gainer) && settle_for(sched, gainer, kind);
    }
    offers_end(sched);
    return is_found;
}

/* All candidates and all that is free together: less than asked means no plan.  What memory asks differs by model:
 * of that nothing is said. */
static bool could_suffice(struct sched *sched, const struct shape *ask)
{
    const struct ledger *ledger = sched->ledger;
    int64_t room = (int64_t)sched->cluster->gpu_count * GPU_MILLI - ledger->used_milli -
                   ledger->coming_milli - ledger->claimed_milli;
    for (uint32_t u = 0; u < sched->plan.unit_count; u++)
        room += sched->plan.units[u].held_milli;
    for (uint32_t g = 0; g < ask->group_count; g++)
        if (ask->groups[g].request.gpu_memory_mib != 0)
            return true;
    return room >= ask->charge[QUEUE_SUM_GPU];
}

static bool find_victims(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    const struct shape *ask = sched_ask(sched, &sched->jobs.jobs[gainer]);
    bool by_node = sched->policy.preempt.search == SEARCH_NODE && offers_suit(ask);
    sched->plan.taken_count = 0;
    victims_collect(sched, gainer, kind, !by_node);
    if (sched->plan.unit_count == 0 || !could_suffice(sched, ask))
        return false;
    if (!(by_node ? grow_by_node(sched, gainer, kind) : grow_in_order(sched, gainer, kind)))
        return false;
    trim(sched, gainer);
    return is_good(sched, gainer, kind) && is_worth_it(sched, gainer) && suffices(sched, gainer);
}

/* One EVICT per victim job. */
static void book_victim(struct sched *sched, uint32_t slot, job_id gainer, enum reason reason,
                        bool *needs_grace)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    const struct checkpoint_plan *plan = &sched->jobs.facts[slot].checkpoint;
    struct decision *decision = sched_decide(sched, DECISION_EVICT, slot);
    bool can_save = plan->interval > 0 || plan->duration > 0;
    decision->for_job = gainer;
    decision->reason = reason;
    if (can_save && !sched->policy.preemption->is_kill)
        decision->grace = sched->policy.preempt.grace;
    *needs_grace |= decision->grace > 0;
    decision_id id = decision->id;
    uint32_t leaving = 0;
    for (uint32_t i = 0; i < job->holding_count; i++)
        leaving += sched_job_holding(job, i)->phase == HOLDING_LEAVING &&
                   sched_job_holding(job, i)->decision == 0;
    decision->is_partial = leaving < job->holding_count;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        struct holding *holding = &sched_job_holdings(job)[i];
        if (holding->phase != HOLDING_LEAVING || holding->decision != 0)
            continue;
        holding->decision = id;
        sched_tell_piece(sched, &holding->piece);
    }
    sched_settle(sched, slot);
    sched->evicted_in_cycle++;
    victims_log(sched, job->queue);
}

void plan_book(struct sched *sched, job_id gainer, enum plan_kind kind, bool *needs_grace)
{
    struct plan_scratch *plan = &sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = job_of(sched, unit);
        if (!unit->is_taken)
            continue;
        for (uint32_t i = 0; i < job->holding_count; i++)
            if (unit->holding == i ||
                (unit->holding == UNIT_CORE && !plan_is_surplus(sched, unit, i)))
                sched_let_leave(sched, unit->slot, i, 0);
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

static void book_gainer(struct sched *sched, uint32_t gainer, enum source source)
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
    sched->jobs.facts[gainer].claim_source = (uint8_t)source;
    struct decision *decision = sched_decide(sched, DECISION_RESERVE, gainer);
    (void)decision;
    for (uint32_t p = 0; p < pieces->count; p++)
        sched_tell_piece(sched, &pieces->pieces[p]);
}

/* In the ledger as it will be when all that leaves has left, does the gainer fit without any victim? */
static bool fits_what_comes(struct sched *sched, uint32_t gainer)
{
    if (!ledger_foresee(sched->ledger))
        return false; /* nothing comes */
    return suffices(sched, gainer);
}

static bool make_plan(struct sched *sched, uint32_t gainer, enum plan_kind kind)
{
    struct sched_job *job = &sched->jobs.jobs[gainer];
    bool may_evict =
        kind != PLAN_RECLAIM ||
        sched->policy.quota->may_reclaim(&sched->tree, job->queue, sched_ask(sched, job)->charge);
    if (!may_evict && sched->ledger->coming_milli == 0)
        return false;
    size_t mark = ledger_mark(sched->ledger);
    sched->plan.taken_count = 0;
    sched->plan.free_before = headroom_free(sched);
    bool is_found = fits_what_comes(sched, gainer) ||
                    (may_evict &&
                     potential_suffices(&sched->potential, sched->cluster, sched_ask(sched, job)) &&
                     find_victims(sched, gainer, kind));
    ledger_rollback(sched->ledger, mark);
    if (!is_found)
        return false;
    bool needs_grace = false, has_victims = sched->plan.taken_count > 0;
    plan_book(sched, job->id, kind, &needs_grace);
    book_gainer(sched, gainer,
                !has_victims  ? SOURCE_FREE
                : needs_grace ? SOURCE_EVICTION
                              : SOURCE_GRACE_0);
    sched->plans++;
    return true;
}

/* A plan of this kind may be asked for by the lane's head: space, or a limit that victims could ease, keeps it
 * waiting. */
static bool may_ask(const struct sched *sched, const struct lane *lane, enum plan_kind kind)
{
    const struct shape *shape = &sched->shapes.shapes[lane->shape];
    bool is_forbidden = lane->quota_block != QUEUE_NONE;
    if (lane->count == 0 || (!is_forbidden && !shape->is_blocked))
        return false;
    if (kind == PLAN_CONSOLIDATE)
        return shape->is_preemptible && !is_forbidden &&
               sched->policy.preempt.consolidation_max != 0;
    return kind != PLAN_RECLAIM || sched->policy.quota->may_reclaim != NULL;
}

/* When a plan for the lane may be tried; TIME_NEVER: not before something changes. */
static time_ns due_at(const struct sched *sched, const struct lane *lane, enum plan_kind kind)
{
    if (!may_ask(sched, lane, kind))
        return TIME_NEVER;
    const struct plan_memo *memo = &lane->memos[kind];
    bool has_news = memo->awaits_start && memo->starts_seen != sched->starts;
    time_ns due = has_news || memo->retry_change <= sched->changes ? 0 : memo->ripe_at;
    time_ns patient =
        sched->jobs.facts[lane->heap[0].slot].waiting_since + sched->policy.preempt.delay;
    return due > patient ? due : patient;
}

/* In a strict line only its first lane may go. */
static bool is_in_turn(const struct sched *sched, uint32_t lane)
{
    return !sched->pending.is_strict ||
           pending_first(&sched->pending, sched->pending.lanes[lane].line) == lane;
}

/* The lanes that may ask now and did not in this cycle. */
static void gather_lanes(struct sched *sched, enum plan_kind kind)
{
    struct plan_scratch *plan = &sched->plan;
    plan->lane_count = 0;
    for (uint32_t b = 0; b < sched->pending.busy_count; b++) {
        uint32_t l = sched->pending.busy[b];
        const struct lane *lane = &sched->pending.lanes[l];
        if (lane->memos[kind].tried_cycle == sched->cycle ||
            due_at(sched, lane, kind) > sched->now || !is_in_turn(sched, l))
            continue;
        MEM_GROW(plan->lanes, plan->lane_capacity, (size_t)plan->lane_count + 1);
        plan->lanes[plan->lane_count++] = l;
    }
}

static bool has_action(const struct sched *sched, enum action action)
{
    for (uint32_t a = 0; a < sched->policy.action_count; a++)
        if (sched->policy.actions[a] == action)
            return true;
    return false;
}

time_ns plan_wake(const struct sched *sched)
{
    static const enum action actions[PLAN_KIND_COUNT] = {ACTION_CONSOLIDATION, ACTION_RECLAIM,
                                                         ACTION_PREEMPT};
    time_ns first = TIME_NEVER;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        if (!has_action(sched, actions[k]))
            continue;
        for (uint32_t b = 0; b < sched->pending.busy_count && first > sched->now; b++) {
            uint32_t l = sched->pending.busy[b];
            time_ns due = due_at(sched, &sched->pending.lanes[l], (enum plan_kind)k);
            if (due < first && is_in_turn(sched, l))
                first = due;
        }
    }
    return first <= sched->now ? sched->now + 1
                               : first; /* those the budget left over go on in the next cycle */
}

/* Take the lane with the best head out of those gathered; LANE_NONE when there are no more. */
static uint32_t take_best_lane(struct sched *sched)
{
    struct plan_scratch *plan = &sched->plan;
    uint32_t best = contest_best(&sched->tree, &sched->pending, plan->lanes, plan->lane_count);
    for (uint32_t i = 0; i < plan->lane_count; i++)
        if (plan->lanes[i] == best) {
            plan->lanes[i] = plan->lanes[--plan->lane_count];
            break;
        }
    return best;
}

static void back_off(const struct sched *sched, struct plan_memo *memo)
{
    if (memo->failed < BACKOFF_SHIFT_MAX)
        memo->failed++;
    memo->retry_change = sched->changes + (UINT64_C(1) << memo->failed);
    if (sched->policy.quota->confines !=
        NULL) /* who owns a place is asked again whenever anything has changed */
        memo->retry_change = sched->changes + 1;
    /* A plan that keeps failing waits until all that are too young now are not: by then whoever it lacked is ripe. */
    memo->ripe_at = memo->failed <= BACKOFF_EAGER ? sched->plan.ripe_at : sched->plan.ripe_last_at;
    memo->tried_cycle = sched->cycle;
    memo->awaits_start = sched->plan.saw_starting;
    memo->starts_seen = sched->starts;
}

bool plan_cycle(struct sched *sched, enum plan_kind kind)
{
    bool is_booked = false;
    gather_lanes(sched, kind);
    for (int64_t i = 0; i < sched->policy.preempt.attempts_per_cycle; i++) {
        uint32_t id = take_best_lane(sched);
        if (id == LANE_NONE)
            break;
        sched->plan.ripe_at = sched->plan.ripe_last_at = TIME_NEVER;
        sched->plan.saw_starting = false;
        sched->pending.lanes[id].memos[kind].ripe_at = TIME_NEVER;
        if (make_plan(sched, pending_head(&sched->pending, id), kind)) {
            sched->pending.lanes[id].memos[kind].failed /= 2;
            is_booked = true;
            gather_lanes(sched, kind); /* its next head, and whoever was behind it */
        } else {
            back_off(sched, &sched->pending.lanes[id].memos[kind]);
        }
    }
    return is_booked;
}
