/* Places: where a plan places the preemptor and the victims that move, and which victims stay where they run.
 *
 * Victims that stay.  In a plan whose victims move, the new place of a victim may be on the nodes where it runs.  To
 * evict it would then throw its work away for nothing, so it is given back and keeps what it holds.
 *
 * Trimming (plan.c) does not find these victims, because placement does not try every arrangement.  With the victim
 * where it is, the members of a gang, or the other victims, may be placed so that not all of them fit.  With the
 * victim away they are placed in another way, and its nodes keep space for it.  Here all others keep the places that
 * the plan found, and only the victim goes back.  The queues are charged for it either way, so the after-state stays
 * valid.
 *
 * A unit stays or goes as a whole; plan_members.c has parted some before.  It goes if another place needs a GPU that it
 * holds.  It also goes if another victim would find no place beside it: victims whose places are not held
 * (holds_places) are placed again after they have left.
 *
 * Source: KAI-Scheduler, `framework/statement.go`: a pod placed on its own node is not evicted.  There it is not
 * checked whether the others find their places again.
 * Cost: O(members^2) to compare the nodes of a victim.  For each victim that may stay: a placement of all victims, and
 * one of the victims that move. */
#include "policies/booking/booking.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/trial.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/headroom.h"
#include "policies/state/sched_state.h"

/* The request class of the members in the unit: a core's minimum, one surplus member, or a surplus set. */
static uint32_t request_class_of_unit(struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    uint32_t step[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (unit_has(sched, unit, i))
            step[sched_job_holding(job, i)->piece.group] += sched_job_holding(job, i)->piece.member_count;
    return request_class_of_step(&sched->request_classes, sched->cluster, job->request_class, step, 0);
}

/* Store plan.moved as the unit's new place. */
static void note_place(struct plan_scratch *plan, struct unit *unit)
{
    unit->is_moved = true;
    unit_terms(plan, unit)->first_place = plan->place_count;
    unit_terms(plan, unit)->place_count = plan->moved.count;
    MEM_GROW(plan->places, plan->place_capacity, (size_t)plan->place_count + plan->moved.count);
    for (uint32_t p = 0; p < plan->moved.count; p++)
        plan->places[plan->place_count++] = plan->moved.pieces[p];
}

/* In the trial, place the taken unit elsewhere (plan.moved) and charge it again.  False: there is no place for it. */
static bool plan_seek_place(struct sched *sched, const struct unit *unit)
{
    uint32_t kind = request_class_of_unit(sched, unit);
    const struct request_class *request_class = &sched->request_classes.at[kind]; /* the table may have moved */
    const struct held_pieces staying = plan_staying(sched, unit);
    /* With members that stay, the whole unit is charged again. */
    const int64_t *charge = staying.count > 0 ? unit_terms(sched->plan, unit)->charge : request_class->charge;
    /* Tags: the members of its own job that stay behind would count as another job's. */
    bool is_allowed_back =
        request_class->tags == NULL && queue_tree_forbids(&sched->tree, unit->queue, charge) == QUEUE_NONE;
    const struct placement_request asked = {.policy = sched->policy.placement,
                                            .request_class = request_class,
                                            .owner = unit->slot,
                                            .held = staying,
                                            .stop = sched->stop};
    const struct free_space before = headroom_free(sched);
    size_t mark = ledger_mark(sched->ledger);
    if (is_allowed_back && placement_place(sched->ledger, &asked, &sched->plan->moved) &&
        headroom_lets_stay(sched, unit->slot, before)) {
        ledger_commit(sched->ledger, mark);
        plan_charge(sched, unit, 1);
        return true;
    }
    ledger_rollback(sched->ledger, mark);
    return false;
}

/* As above, and store the place as the unit's (plan.places). */
static bool plan_replace(struct sched *sched, struct unit *unit)
{
    if (!plan_seek_place(sched, unit))
        return false;
    note_place(sched->plan, unit);
    return true;
}

/* With the preemptor placed and charged, place the victims elsewhere where they fit: the last taken first, the order in
 * which they would be admitted, so a core before its surplus.  The moved victims are charged again.  Returns how many
 * have no place; the search ends with the first beyond `most`.  The caller rolls back. */
static uint32_t replace_victims(struct sched *sched, uint32_t most)
{
    struct plan_scratch *plan = sched->plan;
    uint32_t unplaced = 0;
    plan->place_count = 0;
    for (uint32_t t = plan->taken_count; t-- > 0 && unplaced <= most;) {
        struct unit *unit = &plan->units[plan->taken[t]];
        unit->is_moved = false;
        if (unit->is_taken)
            unplaced += plan_stands_on_lost(sched, unit) || !plan_replace(sched, unit);
    }
    return unplaced;
}

bool plan_put_all(struct sched *sched, uint32_t preemptor, uint32_t most, uint32_t *unplaced)
{
    *unplaced = 0;
    if (!sched_place(sched, preemptor, &sched->plan->pieces))
        return false;
    /* A victim that moves is charged to its queue again.  The limits must hold for it and the preemptor together. */
    plan_charge_preemptor(sched, preemptor, 1);
    *unplaced = replace_victims(sched, most);
    plan_charge_preemptor(sched, preemptor, -1);
    return true;
}

/* ---- A place for all ---- */

struct demand { /* members by the number of their whole GPUs */
    uint64_t members[NODE_GPUS_MAX + 1];
};

static void count_piece(struct demand *demand, const struct piece *piece, int32_t mig)
{
    if (piece->gpu_milli == GPU_MILLI && piece->member_count > 0 && mig == 0)
        demand->members[(uint32_t)__builtin_popcount(piece->gpu_mask) / piece->member_count] += piece->member_count;
}

static void count_taken(const struct sched *sched, struct demand *demand)
{
    const struct plan_scratch *plan = sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        const struct sched_job *job = &sched->jobs.jobs[unit->slot];
        const struct request_class *request_class = &sched->request_classes.at[job->request_class];
        for (uint32_t i = 0; unit->is_taken && i < job->holding_count; i++) {
            const struct piece *piece = &sched_job_holding(job, i)->piece;
            if (sched->ledger->index->is_listed[piece->node] && unit_has(sched, unit, i))
                count_piece(demand, piece, request_class->groups[piece->group].request.mig);
        }
    }
}

/* How many members of `gpus` whole GPUs each find room on the nodes. */
static uint64_t room_for(const struct sched *sched, uint32_t gpus)
{
    const struct node_index *index = sched->ledger->index;
    uint64_t room = 0;
    for (uint32_t t = 0; t < sched->cluster->type_count; t++)
        for (uint32_t free = gpus; free <= sched->cluster->types[t].gpu_count; free++)
            room += (uint64_t)index->types[t].whole[free].member_count * (free / gpus);
    return room;
}

bool plan_may_hold_all(struct sched *sched, uint32_t preemptor)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[preemptor]);
    struct demand demand = {{0}};
    if (sched->cluster->model_count > 1)
        return true;
    count_taken(sched, &demand);
    for (uint32_t g = 0; g < ask->group_count; g++)
        demand.members[ask->groups[g].request.gpus] += ask->groups[g].count;
    for (uint32_t gpus = 1; gpus <= NODE_GPUS_MAX; gpus++) {
        uint64_t needed = 0;
        if (demand.members[gpus] == 0)
            continue;
        for (uint32_t more = gpus; more <= NODE_GPUS_MAX; more++)
            needed += demand.members[more] * (more / gpus);
        if (needed > room_for(sched, gpus))
            return false;
    }
    return true;
}

/* ---- Victims that stay ---- */

static const struct piece *piece_of(const struct sched *sched, const struct unit *unit, uint32_t holding)
{
    return &sched_job_holding(&sched->jobs.jobs[unit->slot], holding)->piece;
}

/* How many members of the piece's group the unit holds on the piece's node, minus the members that the plan places
 * there.  Exact only if the plan places some of them there; else 1. */
static int64_t members_less(const struct sched *sched, const struct unit *unit, const struct piece *at)
{
    const struct plan_scratch *plan = sched->plan;
    const struct unit_terms *terms = unit_terms(plan, unit);
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    int64_t count = 0;
    for (uint32_t p = terms->first_place; p < terms->first_place + terms->place_count; p++)
        if (plan->places[p].node == at->node && plan->places[p].group == at->group)
            count -= plan->places[p].member_count;
    if (count == 0)
        return 1; /* true of most units at their first piece */
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct piece *piece = &sched_job_holding(job, i)->piece;
        if (piece->node == at->node && piece->group == at->group && unit_has(sched, unit, i))
            count += piece->member_count;
    }
    return count;
}

/* Does the plan place the unit on the nodes where it runs, with as many members of each group on each node? */
static bool is_at_home(const struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    if (!unit->is_taken || !unit->is_moved || plan_is_core_taken(sched, unit))
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (unit_has(sched, unit, i) && members_less(sched, unit, piece_of(sched, unit, i)) != 0)
            return false;
    return true;
}

/* Are the GPUs of the space free?  CPUs, memory and tasks need no check: the same amount was just given back on the
 * node. */
static bool is_free(const struct ledger *ledger, const struct space *space)
{
    const gpu_id first = ledger->cluster->nodes[space->node].first_gpu;
    for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctz(mask);
        const bool has_room =
            space->mig != 0
                ? ledger_mig_starts(ledger, space->node, gpu, (enum mig_profile_id)(space->mig - 1)) >>
                          space->mig_start &
                      1
                : !ledger_has_layout(ledger, space->node, gpu) && ledger->gpus[first + gpu].free >= space->gpu_milli;
        if (!has_room)
            return false;
    }
    return ledger_admits(ledger, space);
}

/* In the trial, give back the unit's new places. */
static void leave_places(struct sched *sched, const struct unit *unit)
{
    const struct plan_scratch *plan = sched->plan;
    const struct unit_terms *terms = unit_terms(plan, unit);
    const struct request_class *request_class = sched_request_class(sched, &sched->jobs.jobs[unit->slot]);
    for (uint32_t p = terms->first_place; p < terms->first_place + terms->place_count; p++) {
        const struct space space = request_class_space(request_class, &plan->places[p], unit->slot);
        ledger_give(sched->ledger, &space);
    }
}

/* Would all victims that move find places if all of them were placed again?  Changes nothing. */
static bool find_places_again(struct sched *sched, uint32_t preemptor)
{
    const struct plan_scratch *plan = sched->plan;
    const size_t mark = ledger_mark(sched->ledger);
    bool is_found = true;
    plan_charge_preemptor(sched, preemptor, 1);
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (!unit->is_taken || !unit->is_moved)
            continue;
        leave_places(sched, unit);
        plan_charge(sched, unit, -1);
    }
    for (uint32_t t = plan->taken_count; t-- > 0 && is_found;) {
        const struct unit *unit = &plan->units[plan->taken[t]];
        if (unit->is_taken && unit->is_moved)
            is_found = plan_seek_place(sched, unit);
    }
    ledger_rollback(sched->ledger, mark);
    return is_found;
}

/* In the trial, exchange the unit's new places for what it holds.  False: that is not free, and nothing has changed. */
static bool take_back(struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    const struct request_class *request_class = sched_request_class(sched, job);
    const size_t mark = ledger_mark(sched->ledger);
    bool is_back = true;
    leave_places(sched, unit);
    for (uint32_t i = 0; i < job->holding_count && is_back; i++) {
        if (!unit_has(sched, unit, i))
            continue;
        const struct space space = request_class_space(request_class, piece_of(sched, unit, i), unit->slot);
        is_back = is_free(sched->ledger, &space);
        if (is_back)
            ledger_take(sched->ledger, &space);
    }
    if (is_back)
        ledger_commit(sched->ledger, mark);
    else
        ledger_rollback(sched->ledger, mark);
    return is_back;
}

static bool is_any_at_home(const struct sched *sched)
{
    const struct plan_scratch *plan = sched->plan;
    for (uint32_t t = 0; t < plan->taken_count; t++)
        if (is_at_home(sched, &plan->units[plan->taken[t]]))
            return true;
    return false;
}

/* In the trial, let the unit stay if it can.  True: it stays, with is_taken false and is_moved still true. */
static bool let_stay(struct sched *sched, uint32_t preemptor, struct unit *unit)
{
    if (!is_at_home(sched, unit))
        return false;
    const size_t mark = ledger_mark(sched->ledger);
    unit->is_taken = !take_back(sched, unit);
    if (!unit->is_taken && !sched->policy.defrag_config.holds_places)
        unit->is_taken = !find_places_again(sched, preemptor);
    if (unit->is_taken)
        ledger_rollback(sched->ledger, mark);
    else
        ledger_commit(sched->ledger, mark);
    return !unit->is_taken;
}

/* In the trial where all have their places, let every unit stay that can.  A unit that stays gives up its new place;
 * that may let another unit stay. */
static void let_all_stay(struct sched *sched, uint32_t preemptor)
{
    const struct plan_scratch *plan = sched->plan;
    for (bool is_any = true; is_any;) {
        is_any = false;
        for (uint32_t t = plan->taken_count; t-- > 0;)
            is_any |= let_stay(sched, preemptor, &plan->units[plan->taken[t]]);
    }
}

bool plan_leave_at_home(struct sched *sched, uint32_t preemptor)
{
    struct plan_scratch *plan = sched->plan;
    uint32_t unplaced;
    bool is_any = false;
    if (!is_any_at_home(sched))
        return false;
    const size_t mark = ledger_mark(sched->ledger);
    if (plan_put_all(sched, preemptor, UINT32_MAX, &unplaced))
        let_all_stay(sched, preemptor);
    ledger_rollback(sched->ledger, mark);
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        struct unit *unit = &plan->units[plan->taken[t]];
        if (unit->is_taken || !unit->is_moved)
            continue;
        unit->is_moved = false;
        plan_give_back(sched, unit);
        is_any = true;
    }
    return is_any;
}
