/* Eviction plans: make room for a job by evicting others.
 *
 * Who may be evicted: preemptible, running long enough, not evicted too often, not decided in this cycle, and
 * either of the same queue with a lower priority and a later place in the order, or of a queue
 * that borrows while the gainer's is due its share.
 *
 * How: in the ledger, node by node: the node where one more member can be had by evicting the least GPU
 * time asked is emptied of just the victims that takes, until all members fit.  Then every victim is
 * given back that can be (trim).  Then the after-state is checked: with all victims and the gainer waiting, the order must put
 * the gainer before every one of them.  Only then is anything booked; otherwise all is rolled back.
 *
 * Limits: a job of several groups gets a plan only for its first group's shape of need; victims_max caps a plan.
 * Cost: O(running jobs + nodes x members) a plan.
 */
#include <assert.h>

#include "policies/sched_state.h"

struct victim_link { /* a victim has a piece on a node; links of a node are in victim order */
    uint32_t victim, piece;
    uint32_t next; /* index + 1; 0: last */
};

enum { BACKOFF_SHIFT_MAX = 12, NODE_VICTIMS_MAX = 256 };
#define COST_STALE INT64_C(-1)

static struct sched_job *job_of(struct sched *sched, const struct victim *victim)
{
    return &sched->jobs.jobs[victim->slot];
}

/* Is the queue of `victim`, seen just below what it has in common with the gainer's, borrowing? */
static bool is_borrowed_from(struct sched *sched, queue_id gainer, queue_id victim)
{
    queue_id below_gainer, below_victim;
    queue_tree_below_common(&sched->tree, gainer, victim, &below_gainer, &below_victim);
    return below_gainer != below_victim && /* one above the other: nobody lends to himself */
           sched->policy.quota->is_borrowing(&sched->tree, below_victim);
}

/* Why jobs of a queue may be victims of the gainer, if at all. */
enum claim { CLAIM_NONE, CLAIM_PRIORITY, CLAIM_BORROWED };

static enum claim claim_on(struct sched *sched, queue_id gainer, queue_id queue, bool is_due)
{
    if (sched->policy.quota->is_flat || queue == gainer)
        return CLAIM_PRIORITY;
    return is_due && is_borrowed_from(sched, gainer, queue) ? CLAIM_BORROWED : CLAIM_NONE;
}

static bool is_candidate(struct sched *sched, uint32_t gainer, uint32_t slot, enum claim claim,
                         time_ns now)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer], *job = &sched->jobs.jobs[slot];
    const struct preemption_config *guard = &sched->policy.preempt;
    if (job->evictions >= guard->evictions_per_job_max)
        return false;
    if (claim == CLAIM_PRIORITY &&
        (job->priority >= own->priority || pending_compare(&sched->pending, gainer, slot) >= 0))
        return false;
    time_ns ripe_at = job->decided + guard->min_runtime;
    if (job->state == SJOB_RUNNING && ripe_at <= now)
        return true;
    if (job->state == SJOB_STARTING && ripe_at <= now)
        sched->eviction.saw_starting = true;
    if ((ripe_at > now || job->decided_cycle == sched->cycle) && ripe_at < sched->eviction.ripe_at)
        sched->eviction.ripe_at = ripe_at;
    return false;
}

static void link_pieces(struct sched *sched)
{
    struct eviction_scratch *scratch = &sched->eviction;
    for (uint32_t v = 0; v < scratch->victim_count; v++) {
        const struct sched_job *job = job_of(sched, &scratch->victims[v]);
        for (uint32_t p = 0; p < job->piece_count; p++) {
            MEM_GROW(scratch->links, scratch->link_capacity, (size_t)scratch->link_count + 1);
            uint32_t *first = &scratch->first_on_node[job->pieces[p].node];
            scratch->links[scratch->link_count] = (struct victim_link){v, p, *first};
            *first = ++scratch->link_count;
            scratch->cost_on_node[job->pieces[p].node] = COST_STALE;
        }
    }
}

static void unlink_pieces(struct sched *sched)
{
    struct eviction_scratch *scratch = &sched->eviction;
    for (uint32_t l = 0; l < scratch->link_count; l++) {
        const struct victim_link *link = &scratch->links[l];
        const struct sched_job *job = job_of(sched, &scratch->victims[link->victim]);
        scratch->first_on_node[job->pieces[link->piece].node] = 0;
    }
    scratch->link_count = 0;
}

static void add_victim(struct sched *sched, uint32_t slot, bool is_borrower, time_ns now)
{
    struct eviction_scratch *scratch = &sched->eviction;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct victim victim = {.slot = slot,
                            .id = job->id,
                            .gpu_milli = sched_shape(sched, job)->charge[QUEUE_SUM_GPU],
                            .priority = job->priority,
                            .running = now - job->decided,
                            .is_borrower = is_borrower};
    MEM_GROW(scratch->victims, scratch->victim_capacity, (size_t)scratch->victim_count + 1);
    scratch->victims[scratch->victim_count++] = victim;
    if (victim.gpu_milli < scratch->smallest_milli)
        scratch->smallest_milli = victim.gpu_milli;
}

static void collect_victims(struct sched *sched, uint32_t gainer, bool is_due, time_ns now)
{
    sched->eviction.victim_count = 0;
    sched->eviction.smallest_milli = INT64_MAX;
    for (queue_id q = 0; q < sched->tree.count; q++) {
        const struct slot_list *running = &sched->running[q];
        if (running->count == 0)
            continue;
        enum claim claim = claim_on(sched, sched->jobs.jobs[gainer].queue, q, is_due);
        for (uint32_t i = 0; i < running->count && claim != CLAIM_NONE; i++)
            if (is_candidate(sched, gainer, running->slots[i], claim, now))
                add_victim(sched, running->slots[i], claim == CLAIM_BORROWED, now);
    }
}

/* A node as it would be with some victims gone. */
struct node_view {
    uint32_t free[NODE_GPUS_MAX];
    uint32_t gpu_count, share;
    uint64_t cpu, memory;
    const struct request *request;
};

static uint64_t view_members(const struct node_view *view)
{
    const struct request *request = view->request;
    uint64_t members = UINT64_MAX;
    if (request->gpus != 0 || view->share != 0)
        members = 0;
    for (uint32_t g = 0; g < view->gpu_count; g++)
        members += request->gpus != 0 ? view->free[g] == GPU_MILLI
                   : view->share != 0 ? view->free[g] / view->share
                                      : 0;
    if (request->gpus != 0)
        members /= request->gpus;
    if (request->cpu_milli != 0 && view->cpu / request->cpu_milli < members)
        members = view->cpu / request->cpu_milli;
    if (request->memory_mib != 0 && view->memory / request->memory_mib < members)
        members = view->memory / request->memory_mib;
    return members;
}

static void view_change(struct node_view *view, const struct space *space, int sign)
{
    for (uint32_t mask = space->gpu_mask; mask != 0; mask &= mask - 1)
        view->free[__builtin_ctz(mask)] += (uint32_t)(sign * space->gpu_milli);
    view->cpu += (uint64_t)(int64_t)(sign * (int64_t)space->cpu_milli);
    view->memory += (uint64_t)(int64_t)(sign * (int64_t)space->memory_mib);
}

static bool view_open(struct node_view *view, const struct ledger *ledger, node_id node,
                      const struct request *request)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct node_cell *cell = &ledger->nodes[node];
    *view = (struct node_view){
        .gpu_count = type->gpu_count,
        .cpu = cell->cpu_free,
        .memory = cell->memory_free,
        .request = request,
        .share = shape_share_milli(request, &ledger->cluster->models[type->model])};
    if (ledger->node_state[node] != NODE_UP || view->share > GPU_MILLI || request->mig != 0)
        return false;
    if (request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
        return false;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        view->free[g] = ledger->gpus[ledger->cluster->nodes[node].first_gpu + g].free;
    return true;
}

struct node_offer { /* who must leave a node so that it holds one more member */
    int64_t cost_milli;
    uint32_t count;
    uint32_t victims[NODE_VICTIMS_MAX];
};

static struct space link_space(struct sched *sched, const struct victim_link *link)
{
    const struct victim *victim = &sched->eviction.victims[link->victim];
    const struct sched_job *job = job_of(sched, victim);
    return placement_space(sched_shape(sched, job), &job->pieces[link->piece], victim->slot);
}

/* The victims of a node, by the policy's order; few enough for insertion. */
static uint32_t gather_node(struct sched *sched, node_id node, uint32_t links[NODE_VICTIMS_MAX])
{
    const struct eviction_scratch *scratch = &sched->eviction;
    uint32_t count = 0;
    for (uint32_t l = scratch->first_on_node[node]; l != 0; l = scratch->links[l - 1].next) {
        const struct victim *victim = &scratch->victims[scratch->links[l - 1].victim];
        if (victim->is_taken || victim->is_excluded)
            continue;
        uint32_t at = count < NODE_VICTIMS_MAX ? count++ : NODE_VICTIMS_MAX;
        for (; at > 0; at--) { /* of more than fit, the last in order fall off the end */
            const struct victim *before = &scratch->victims[scratch->links[links[at - 1]].victim];
            if (sched->policy.preemption->compare(before, victim) <= 0)
                break;
            if (at < NODE_VICTIMS_MAX)
                links[at] = links[at - 1];
        }
        if (at < NODE_VICTIMS_MAX)
            links[at] = l - 1;
    }
    return count;
}

/* A victim with several pieces on the node is offered, and paid for, once. */
static void offer_victim(const struct eviction_scratch *scratch, struct node_offer *offer,
                         uint32_t victim)
{
    for (uint32_t i = 0; i < offer->count; i++)
        if (offer->victims[i] == victim)
            return;
    offer->victims[offer->count++] = victim;
    offer->cost_milli += scratch->victims[victim].gpu_milli;
}

/* Take victims of the node in order until one more member fits, then give back, last first, who was not
 * needed.  False if it never fits. */
static bool make_offer(struct sched *sched, node_id node, const struct request *request,
                       struct node_offer *offer)
{
    struct node_view view;
    const struct eviction_scratch *scratch = &sched->eviction;
    uint32_t links[NODE_VICTIMS_MAX], count = 0;
    if (!view_open(&view, sched->ledger, node, request))
        return false;
    uint64_t wanted = view_members(&view) + 1;
    uint32_t candidates = gather_node(sched, node, links);
    while (count < candidates && view_members(&view) < wanted) {
        struct space space = link_space(sched, &scratch->links[links[count++]]);
        view_change(&view, &space, 1);
    }
    if (view_members(&view) < wanted)
        return false;
    offer->count = 0;
    offer->cost_milli = 0;
    for (uint32_t i = count; i-- > 0;) {
        struct space space = link_space(sched, &scratch->links[links[i]]);
        view_change(&view, &space, -1);
        if (view_members(&view) >= wanted)
            continue;
        view_change(&view, &space, 1);
        offer_victim(scratch, offer, scratch->links[links[i]].victim);
    }
    return true;
}

/* No offer of this node can cost less. */
static int64_t least_cost(const struct sched *sched, node_id node, const struct request *request)
{
    int64_t least = sched->eviction.smallest_milli;
    int64_t lacking = request->gpus - sched->ledger->index->free_count[node];
    if (least < GPU_MILLI)
        return least; /* a small share may be all that keeps a GPU from being whole */
    return lacking * GPU_MILLI > least ? lacking * GPU_MILLI : least;
}

static void take_victim(struct sched *sched, struct victim *victim)
{
    victim->is_taken = true;
    sched_move_pieces(sched, victim->slot, ledger_give);
    sched_charge(sched, victim->slot, -1);
}

static void give_back_victim(struct sched *sched, struct victim *victim)
{
    victim->is_taken = false;
    sched_move_pieces(sched, victim->slot, ledger_take);
    sched_charge(sched, victim->slot, 1);
}

/* What the cheapest offer of a node costs; kept while nobody leaves the node. */
static int64_t offer_cost(struct sched *sched, node_id node, const struct request *request)
{
    int64_t *cost = &sched->eviction.cost_on_node[node];
    struct node_offer offer;
    if (*cost == COST_STALE)
        *cost = make_offer(sched, node, request, &offer) ? offer.cost_milli : INT64_MAX;
    return *cost;
}

static node_id cheapest_node(struct sched *sched, const struct request *request)
{
    node_id best = NODE_NONE;
    int64_t best_cost = INT64_MAX;
    for (node_id node = 0; node < sched->cluster->node_count; node++) {
        if (sched->eviction.first_on_node[node] == 0 ||
            least_cost(sched, node, request) >= best_cost)
            continue;
        int64_t cost = offer_cost(sched, node, request);
        if (cost < best_cost) {
            best = node;
            best_cost = cost;
        }
    }
    return best;
}

/* The victim's nodes look different now. */
static void forget_costs(struct sched *sched, const struct victim *victim)
{
    const struct sched_job *job = job_of(sched, victim);
    for (uint32_t p = 0; p < job->piece_count; p++)
        sched->eviction.cost_on_node[job->pieces[p].node] = COST_STALE;
}

/* Evict for one more member, where it is cheapest.  False if nowhere. */
static bool evict_for_one(struct sched *sched, uint32_t gainer, const struct request *request,
                          uint32_t *taken)
{
    struct eviction_scratch *scratch = &sched->eviction;
    struct node_offer offer;
    node_id node = cheapest_node(sched, request);
    if (node == NODE_NONE || !make_offer(sched, node, request, &offer) ||
        *taken + offer.count > sched->policy.preempt.victims_max)
        return false;
    for (uint32_t i = 0; i < offer.count; i++) {
        struct victim *victim = &scratch->victims[offer.victims[i]];
        forget_costs(sched, victim);
        /* A borrower that gave enough in this plan borrows no more. */
        if (victim->is_borrower && !is_borrowed_from(sched, sched->jobs.jobs[gainer].queue,
                                                     job_of(sched, victim)->queue)) {
            victim->is_excluded = true;
            return true; /* look again without it */
        }
        take_victim(sched, victim);
        ++*taken;
    }
    return true;
}

static bool gainer_fits(struct sched *sched, uint32_t gainer)
{
    const struct shape *shape = sched_shape(sched, &sched->jobs.jobs[gainer]);
    size_t mark = ledger_mark(sched->ledger);
    bool fits =
        placement_place(sched->policy.placement, sched->ledger, shape, gainer, &sched->pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

/* All the victims and all that is free together: less than asked means no plan.  What memory asks differs by
 * model: of that nothing is said. */
static bool could_suffice(struct sched *sched, const struct shape *shape)
{
    const struct ledger *ledger = sched->ledger;
    int64_t room = (int64_t)sched->cluster->gpu_count * GPU_MILLI - ledger->used_milli -
                   ledger->coming_milli - ledger->claimed_milli;
    for (uint32_t v = 0; v < sched->eviction.victim_count; v++)
        room += sched_held_milli(job_of(sched, &sched->eviction.victims[v]));
    return shape->groups[0].request.gpu_memory_mib != 0 || room >= shape->charge[QUEUE_SUM_GPU];
}

static bool grow_plan(struct sched *sched, uint32_t gainer)
{
    const struct shape *shape = sched_shape(sched, &sched->jobs.jobs[gainer]);
    uint32_t taken = 0;
    if (!could_suffice(sched, shape))
        return false;
    while (!gainer_fits(sched, gainer))
        if (!evict_for_one(sched, gainer, &shape->groups[0].request, &taken))
            return false;
    return taken > 0;
}

/* The taken victim that the policy would take last and that was not yet considered. */
static struct victim *dearest_left(struct sched *sched)
{
    struct eviction_scratch *scratch = &sched->eviction;
    struct victim *dearest = NULL;
    for (uint32_t v = 0; v < scratch->victim_count; v++) {
        struct victim *victim = &scratch->victims[v];
        if (victim->is_taken && !victim->is_kept &&
            (dearest == NULL || sched->policy.preemption->compare(victim, dearest) > 0))
            dearest = victim;
    }
    return dearest;
}

/* Give back, dearest first, every victim the gainer does not need. */
static void trim_plan(struct sched *sched, uint32_t gainer)
{
    for (struct victim *victim = dearest_left(sched); victim != NULL;
         victim = dearest_left(sched)) {
        give_back_victim(sched, victim);
        if (gainer_fits(sched, gainer))
            continue;
        take_victim(sched, victim);
        victim->is_kept = true;
    }
}

/* With the victims gone and everybody waiting, does the gainer go before each of them? */
static bool is_stable(struct sched *sched, uint32_t gainer)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer];
    const struct eviction_scratch *scratch = &sched->eviction;
    for (uint32_t v = 0; v < scratch->victim_count; v++) {
        const struct victim *victim = &scratch->victims[v];
        const struct sched_job *job = &sched->jobs.jobs[victim->slot];
        if (!victim->is_taken || !victim->is_borrower)
            continue; /* of the same line: the order was asked when it became a candidate */
        struct contender a, b;
        queue_tree_below_common(&sched->tree, own->queue, job->queue, &a.queue, &b.queue);
        a.ask_milli = sched_shape(sched, own)->charge[QUEUE_SUM_GPU];
        b.ask_milli = victim->gpu_milli;
        if (sched->policy.quota->compare(&sched->tree, a, b) > 0)
            return false;
    }
    return true;
}

/* With the victims gone, does the gainer keep all limits of its queue?  Its lane may be closed for want of space
 * only, and never have been asked. */
static bool is_within_limits(struct sched *sched, uint32_t gainer)
{
    const struct sched_job *own = &sched->jobs.jobs[gainer];
    const struct quota_policy *quota = sched->policy.quota;
    return quota->forbids == NULL ||
           quota->forbids(&sched->tree, own->queue, sched_shape(sched, own)->charge) == QUEUE_NONE;
}

static void book_victim(struct sched *sched, const struct victim *victim, job_id gainer)
{
    struct sched_job *job = job_of(sched, victim);
    sched_unlist_running(sched, victim->slot);
    sched_move_pieces(sched, victim->slot, ledger_vacate);
    sched_charge(sched, victim->slot, -1);
    job->state = SJOB_EVICTING;
    sched->booked_running--;
    struct decision *decision = sched_decide(sched, DECISION_EVICT, victim->slot);
    decision->for_job = gainer;
    decision->grace = sched->policy.preempt.grace;
    decision->reason = victim->is_borrower ? REASON_RECLAIMED : REASON_PREEMPTED;
}

static void book_gainer(struct sched *sched, uint32_t gainer)
{
    struct sched_job *job = &sched->jobs.jobs[gainer];
    sched_unwait(sched, gainer);
    sched_job_set_pieces(job, sched->pieces.pieces, sched->pieces.count);
    sched_move_pieces(sched, gainer, ledger_claim);
    sched_charge(sched, gainer, 1);
    job->state = SJOB_CLAIMING;
    MEM_GROW(sched->claims, sched->claim_capacity, (size_t)sched->claim_count + 1);
    sched->claims[sched->claim_count++] = gainer;
    sched->claimed_piece_milli += sched_held_milli(job);
    struct decision *decision = sched_decide(sched, DECISION_RESERVE, gainer);
    decision->pieces = job->pieces;
    decision->piece_count = job->piece_count;
}

static void book_plan(struct sched *sched, uint32_t gainer)
{
    for (uint32_t v = 0; v < sched->eviction.victim_count; v++)
        if (sched->eviction.victims[v].is_taken)
            book_victim(sched, &sched->eviction.victims[v], sched->jobs.jobs[gainer].id);
    book_gainer(sched, gainer);
    sched->plans++;
}

bool eviction_plan(struct sched *sched, uint32_t lane, time_ns now)
{
    uint32_t gainer = pending_head(&sched->pending, lane);
    const struct sched_job *job = &sched->jobs.jobs[gainer];
    const struct quota_policy *quota = sched->policy.quota;
    bool is_due =
        !quota->is_flat && quota->is_due(&sched->tree, job->queue, sched_shape(sched, job)->charge);
    collect_victims(sched, gainer, is_due, now);
    if (sched->eviction.victim_count == 0)
        return false;
    link_pieces(sched);
    size_t mark = ledger_mark(sched->ledger);
    bool is_good = grow_plan(sched, gainer);
    if (is_good) {
        trim_plan(sched, gainer);
        /* gainer_fits leaves the placement of the last trial; the one to book is that of the final set. */
        is_good = is_stable(sched, gainer) && is_within_limits(sched, gainer) &&
                  gainer_fits(sched, gainer);
    }
    ledger_rollback(sched->ledger, mark);
    unlink_pieces(sched);
    if (is_good)
        book_plan(sched, gainer);
    return is_good;
}

/* Its head did not fit for want of space alone, and a plan can be made for its kind. */
static bool may_ask(const struct sched *sched, const struct lane *lane)
{
    const struct shape *shape = &sched->shapes.shapes[lane->shape];
    return lane->count > 0 && lane->quota_block == QUEUE_NONE && shape->is_blocked &&
           shape->group_count == 1;
}

/* When a plan for the lane may be tried; TIME_NEVER: not before something changes. */
static time_ns due_at(const struct sched *sched, const struct lane *lane)
{
    if (lane->count == 0 || !may_ask(sched, lane))
        return TIME_NEVER;
    bool has_news = lane->awaits_start && lane->starts_seen != sched->starts;
    return has_news || lane->retry_change <= sched->changes ? 0 : lane->ripe_at;
}

/* In a strict line only its first lane may go. */
static bool is_in_turn(const struct sched *sched, uint32_t lane)
{
    return !sched->pending.is_strict ||
           pending_first(&sched->pending, sched->pending.lanes[lane].line) == lane;
}

/* The lanes that may ask now and did not in this cycle. */
static void gather_lanes(struct sched *sched, time_ns now)
{
    struct eviction_scratch *scratch = &sched->eviction;
    scratch->lane_count = 0;
    for (uint32_t l = 0; l < sched->pending.lane_count; l++) {
        const struct lane *lane = &sched->pending.lanes[l];
        if (due_at(sched, lane) > now || lane->tried_cycle == sched->cycle || !is_in_turn(sched, l))
            continue;
        MEM_GROW(scratch->lanes, scratch->lane_capacity, (size_t)scratch->lane_count + 1);
        scratch->lanes[scratch->lane_count++] = l;
    }
}

time_ns eviction_wake(const struct sched *sched, time_ns now)
{
    time_ns first = TIME_NEVER;
    for (uint32_t l = 0; l < sched->pending.lane_count; l++) {
        time_ns due = due_at(sched, &sched->pending.lanes[l]);
        if (due < first && is_in_turn(sched, l))
            first = due;
    }
    return first <= now ? now + 1 : first; /* those the budget left over go on in the next cycle */
}

/* Take the lane with the best head out of those gathered; LANE_NONE when there are no more. */
static uint32_t take_best_lane(struct sched *sched)
{
    struct eviction_scratch *scratch = &sched->eviction;
    uint32_t best = 0;
    if (scratch->lane_count == 0)
        return LANE_NONE;
    for (uint32_t i = 1; i < scratch->lane_count; i++)
        if (pending_compare(&sched->pending, pending_head(&sched->pending, scratch->lanes[i]),
                            pending_head(&sched->pending, scratch->lanes[best])) < 0)
            best = i;
    uint32_t lane = scratch->lanes[best];
    scratch->lanes[best] = scratch->lanes[--scratch->lane_count];
    return lane;
}

static void back_off(const struct sched *sched, struct lane *lane)
{
    if (lane->failed_plans < BACKOFF_SHIFT_MAX)
        lane->failed_plans++;
    lane->retry_change = sched->changes + (UINT64_C(1) << lane->failed_plans);
    lane->ripe_at = sched->eviction.ripe_at;
    lane->tried_cycle = sched->cycle;
    lane->awaits_start = sched->eviction.saw_starting;
    lane->starts_seen = sched->starts;
}

bool eviction_cycle(struct sched *sched, time_ns now)
{
    bool is_booked = false;
    gather_lanes(sched, now);
    for (int64_t i = 0; i < sched->policy.preempt.attempts_per_cycle; i++) {
        uint32_t id = take_best_lane(sched);
        if (id == LANE_NONE)
            break;
        struct lane *lane = &sched->pending.lanes[id];
        sched->eviction.ripe_at = TIME_NEVER;
        sched->eviction.saw_starting = false;
        lane->ripe_at = TIME_NEVER;
        if (eviction_plan(sched, id, now)) {
            lane->failed_plans = 0;
            is_booked = true;
            gather_lanes(sched, now); /* its next head, and whoever was behind it */
        } else {
            back_off(sched, lane);
        }
    }
    return is_booked;
}
