/* Searches victims node by node.  For each further member of the preemptor it finds the node where the victims hold the
 * fewest GPUs (then lose the least work), and takes just these victims, until all members fit.
 *
 * Works for allocation steps of one group that asks for whole GPUs or shares.  Rules about which jobs may share a GPU
 * or a node (policies/ledger/ledger_share.c) are applied as they would be with the victims gone.  GPUs that a core
 * holds on other nodes count as its cost too, so that a large gang is not evicted for a small share while a smaller
 * victim suffices.  A node whose victims together lose more than the preemptor's wait is worth makes no offer.
 * Cost: O(units + nodes) for the first member, then O(nodes) each. */
#include <assert.h>
#include <string.h>

#include "policies/eviction/node_search.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/trial.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/sched_state.h"

struct unit_link { /* a unit has a piece on a node */
    uint32_t unit, holding;
    uint32_t next; /* index + 1; 0: last */
};

static void link_piece(struct sched *sched, uint32_t unit, uint32_t holding, const struct piece *piece)
{
    struct node_search_scratch *scratch = &sched->plan->node_search;
    struct node_victims *node = &scratch->nodes[piece->node];
    if (scratch->link_count == scratch->link_capacity)
        MEM_GROW(scratch->links, scratch->link_capacity, (size_t)scratch->link_count + 1);
    scratch->links[scratch->link_count] = (struct unit_link){unit, holding, node->first};
    node->first = ++scratch->link_count;
    node->milli += piece_milli(piece);
    node->cost.milli = COST_STALE;
}

static void list_node(struct node_search_scratch *scratch, node_id node)
{
    uint32_t place = scratch->listed_count++;
    scratch->nodes[node].place = place;
    scratch->listed[place] = node;
    scratch->least_milli[place] = COST_STALE;
}

static void link_units(struct sched *sched)
{
    struct node_search_scratch *scratch = &sched->plan->node_search;
    for (uint32_t u = 0; u < sched->plan->unit_count; u++) {
        const struct unit *unit = &sched->plan->units[u];
        const struct sched_job *job = &sched->jobs.jobs[unit->slot];
        for (uint32_t h = 0; h < job->holding_count; h++)
            if (unit_has(sched, unit, h))
                link_piece(sched, u, h, &sched_job_holding(job, h)->piece);
    }
    for (uint32_t p = 0; p < sched->cluster->pool_count; p++) {
        const struct node_pool *pool = &sched->cluster->pools[p];
        for (node_id node = pool->first; node < pool->first + pool->node_count; node++)
            if (scratch->nodes[node].first != 0)
                list_node(scratch, node);
    }
}

static void unlink_units(struct sched *sched)
{
    struct node_search_scratch *scratch = &sched->plan->node_search;
    for (uint32_t n = 0; n < scratch->listed_count; n++)
        scratch->nodes[scratch->listed[n]] = (struct node_victims){0};
    scratch->link_count = scratch->listed_count = 0;
}

/* How many clients of a GPU or a node would be gone: those of now, and those of next (struct share_cell). */
struct gone {
    uint32_t now, next;
};

/* A node as it would be with some victims gone. */
struct node_view {
    uint32_t free[NODE_GPUS_MAX];  /* free milli by GPU; 0 of partitioned ones: offers are not for MIG instances */
    int64_t excess[NODE_GPUS_MAX]; /* struct gpu_excess */
    uint16_t partitioned;
    uint32_t gpu_count, share;
    uint32_t whole; /* count of its GPUs that are all free */
    uint64_t cpu, memory;
    const struct request *request;
    const struct gpu_model *model;
    const struct ledger *ledger;
    node_id node;
    struct gone gone[NODE_GPUS_MAX], node_gone; /* where jobs that share are kept apart */
};

static uint32_t clients_left(const struct node_view *view, uint32_t gpu_index)
{
    const struct ledger *ledger = view->ledger;
    const struct request *request = view->request;
    if (ledger->shares == NULL)
        return UINT32_MAX;
    const struct gone *gone = &view->gone[gpu_index];
    const struct share_cell cell = ledger_share_without(
        &ledger->shares[ledger->cluster->nodes[view->node].first_gpu + gpu_index], gone->now, gone->next);
    return ledger_clients_left(&cell, ledger->clients_max[request->share], request->share, request->domain);
}

static bool keeps_out(const struct node_view *view)
{
    if (view->ledger->node_shares == NULL)
        return false;
    const struct share_cell cell =
        ledger_share_without(&view->ledger->node_shares[view->node], view->node_gone.now, view->node_gone.next);
    return ledger_clients_left(&cell, 0, SHARE_PLAIN, view->request->domain) == 0;
}

static uint64_t count_shares(const struct node_view *view)
{
    uint64_t members = 0;
    for (uint32_t g = 0; g < view->gpu_count; g++) {
        const uint32_t here = ledger_shares_in(view->model, view->request, view->free[g], view->excess[g]);
        const uint32_t most = here == 0 ? 0 : clients_left(view, g);
        members += here < most ? here : most;
    }
    return members;
}

static uint64_t view_members(const struct node_view *view)
{
    const struct request *request = view->request;
    uint64_t members = keeps_out(view)      ? 0
                       : request->gpus != 0 ? view->whole / request->gpus
                       : view->share != 0   ? count_shares(view)
                                            : UINT64_MAX;
    if (request->cpu_milli != 0 && view->cpu / request->cpu_milli < members)
        members = view->cpu / request->cpu_milli;
    if (request->memory_mib != 0 && view->memory / request->memory_mib < members)
        members = view->memory / request->memory_mib;
    return members;
}

/* Do `members` fit?  As view_members() >= members, without a division. */
static bool view_holds(const struct node_view *view, uint64_t members)
{
    const struct request *request = view->request;
    if (view->cpu < members * request->cpu_milli || view->memory < members * request->memory_mib || keeps_out(view))
        return false;
    return request->gpus != 0 ? view->whole >= members * request->gpus
                              : view->share == 0 || count_shares(view) >= members;
}

static void change_gone(struct gone *gone, const struct share_cell *cell, const struct space *space, bool by_node,
                        int sign)
{
    uint32_t *count = ledger_share_is_now(cell, space, by_node) ? &gone->now : &gone->next;
    *count += (uint32_t)(sign * (int)space->member_count);
}

static void change_clients(struct node_view *view, const struct space *space, int sign)
{
    const struct ledger *ledger = view->ledger;
    if (space->member_count == 0)
        return;
    if (ledger_is_share(space)) {
        const uint32_t g = (uint32_t)__builtin_ctz(space->gpu_mask);
        change_gone(&view->gone[g], &ledger->shares[ledger->cluster->nodes[space->node].first_gpu + g], space, false,
                    sign);
    }
    if (ledger->node_shares != NULL)
        change_gone(&view->node_gone, &ledger->node_shares[space->node], space, true, sign);
}

static void view_change(struct node_view *view, const struct space *space, int sign)
{
    for (uint32_t mask = space->gpu_mask & ~(uint32_t)view->partitioned; mask != 0; mask &= mask - 1) {
        uint32_t *free = &view->free[__builtin_ctz(mask)];
        view->whole -= *free == GPU_MILLI;
        *free += (uint32_t)(sign * space->gpu_milli);
        view->whole += *free == GPU_MILLI;
    }
    if (space->gpu_memory_mib != 0 && space->gpu_mask != 0)
        view->excess[__builtin_ctz(space->gpu_mask)] -= sign * ledger_excess_of(view->ledger, space);
    view->cpu += (uint64_t)(int64_t)(sign * (int64_t)space->cpu_milli);
    view->memory += (uint64_t)(int64_t)(sign * (int64_t)space->memory_mib);
    if (view->ledger->shares != NULL)
        change_clients(view, space, sign);
}

static bool view_open(struct node_view *view, const struct ledger *ledger, node_id node, const struct request *request)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct node_cell *cell = &ledger->nodes[node];
    *view = (struct node_view){.gpu_count = type->gpu_count,
                               .cpu = cell->cpu_free,
                               .memory = cell->memory_free,
                               .request = request,
                               .model = &ledger->cluster->models[type->model],
                               .ledger = ledger,
                               .node = node,
                               .partitioned = ledger_layout_mask(ledger, node),
                               .share = request_class_share_milli(request, &ledger->cluster->models[type->model])};
    if (!ledger_is_open(ledger, node) || view->share > GPU_MILLI)
        return false;
    if (!request_takes_nodes(request, ledger->cluster, ledger->cluster->nodes[node].type) ||
        !request_takes_model(request, type))
        return false;
    for (uint32_t g = 0; g < type->gpu_count; g++) {
        if (view->partitioned >> g & 1)
            continue;
        view->free[g] = ledger->gpus[ledger->cluster->nodes[node].first_gpu + g].free;
        view->excess[g] = ledger_gpu_excess(ledger, ledger->cluster->nodes[node].first_gpu + g);
        view->whole += view->free[g] == GPU_MILLI;
    }
    return true;
}

enum { OFFER_UNITS_MAX = 256 };

struct eviction_offer { /* the units that must leave a node so that it can hold one more member */
    struct offer_cost cost;
    uint32_t count;
    uint32_t units[OFFER_UNITS_MAX];
};

static struct space link_space(struct sched *sched, const struct unit_link *link)
{
    const struct unit *unit = &sched->plan->units[link->unit];
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    return request_class_space(sched_request_class(sched, job), &sched_job_holding(job, link->holding)->piece,
                               unit->slot);
}

/* A unit with several pieces on the node is offered once, and its cost counts once. */
static void offer_unit(const struct sched *sched, struct eviction_offer *offer, uint32_t unit)
{
    for (uint32_t i = 0; i < offer->count; i++)
        if (offer->units[i] == unit)
            return;
    offer->units[offer->count++] = unit;
    offer->cost.milli += sched->plan->units[unit].held_milli;
    offer->cost.loss_gpu_ns += unit_terms(sched->plan, &sched->plan->units[unit])->preemption_cost.loss_gpu_ns;
}

/* List the links of a node whose units may still be taken, in the order of their keys.  There are few, so insertion
 * sort is enough. */
static uint32_t gather_node(struct sched *sched, const struct plan_request *plan, node_id node,
                            uint32_t links[OFFER_UNITS_MAX])
{
    const struct node_search_scratch *scratch = &sched->plan->node_search;
    uint32_t count = 0;
    for (uint32_t l = scratch->nodes[node].first; l != 0; l = scratch->links[l - 1].next) {
        struct unit *unit = &sched->plan->units[scratch->links[l - 1].unit];
        if (unit->is_taken || unit->is_refused)
            continue;
        victims_rank(sched, plan, unit);
        uint32_t at = count < OFFER_UNITS_MAX ? count++ : OFFER_UNITS_MAX;
        for (; at > 0; at--) { /* if there are too many, the last in order are dropped */
            if (victims_compare(sched->plan, &sched->plan->units[scratch->links[links[at - 1]].unit], unit) <= 0)
                break;
            if (at < OFFER_UNITS_MAX)
                links[at] = links[at - 1];
        }
        if (at < OFFER_UNITS_MAX)
            links[at] = l - 1;
    }
    return count;
}

/* Take units of the node in order until one more member fits.  Then give back, last first, each unit that is not
 * needed.  False: no more members ever fit. */
static bool make_offer(struct sched *sched, const struct plan_request *plan, node_id node,
                       const struct request *request, struct eviction_offer *offer)
{
    struct node_view view;
    const struct node_search_scratch *scratch = &sched->plan->node_search;
    struct space spaces[OFFER_UNITS_MAX];
    uint32_t links[OFFER_UNITS_MAX], count = 0;
    if (!view_open(&view, sched->ledger, node, request))
        return false;
    uint64_t wanted = view_members(&view) + 1;
    uint32_t candidates = gather_node(sched, plan, node, links);
    while (count < candidates && !view_holds(&view, wanted)) {
        spaces[count] = link_space(sched, &scratch->links[links[count]]);
        view_change(&view, &spaces[count++], 1);
    }
    if (!view_holds(&view, wanted))
        return false;
    offer->count = 0;
    offer->cost = (struct offer_cost){0, 0};
    for (uint32_t i = count; i-- > 0;) {
        view_change(&view, &spaces[i], -1);
        if (view_holds(&view, wanted))
            continue;
        view_change(&view, &spaces[i], 1);
        offer_unit(sched, offer, scratch->links[links[i]].unit);
    }
    return true;
}

static bool is_cheaper(struct offer_cost a, struct offer_cost b)
{
    return a.milli != b.milli ? a.milli < b.milli : a.loss_gpu_ns < b.loss_gpu_ns;
}

/* The cost of a node's cheapest offer.  It is kept until a unit with a piece on the node is taken. */
static struct offer_cost offer_cost(struct sched *sched, const struct plan_request *plan, node_id node,
                                    const struct request *request)
{
    struct offer_cost *cost = &sched->plan->node_search.nodes[node].cost;
    struct eviction_offer offer;
    if (cost->milli == COST_STALE) {
        *cost = (struct offer_cost){INT64_MAX, INT64_MAX};
        if (make_offer(sched, plan, node, request, &offer))
            *cost = offer.cost;
    }
    return *cost;
}

/* A lower bound of the milli that an offer of this node takes.  One more member lacks some whole GPUs; the bound sums
 * the used milli of the GPUs with the least use.  INT64_MAX: the node cannot make an offer. */
static int64_t least_milli(const struct sched *sched, node_id node, const struct request *request)
{
    const struct ledger *ledger = sched->ledger;
    const uint32_t type = sched->cluster->nodes[node].type;
    const uint32_t gpus = sched->cluster->types[type].gpu_count;
    uint32_t used[NODE_GPUS_MAX], count = 0;
    int64_t least = 0;
    int lacking = request->gpus - ledger->index->free_count[node];
    if (lacking <= 0)
        return 0; /* it lacks a share, CPUs or memory */
    if (request->gpus > gpus)
        return INT64_MAX;
    if (node_index_is_whole(ledger->index, type)) {
        least = lacking * GPU_MILLI;
        return least > sched->plan->node_search.nodes[node].milli ? INT64_MAX : least;
    }
    const struct gpu_cell *cells = &ledger->gpus[sched->cluster->nodes[node].first_gpu];
    for (uint32_t g = 0; g < gpus; g++) {
        if (cells[g].free == GPU_MILLI)
            continue;
        uint32_t milli = (uint32_t)(GPU_MILLI - cells[g].free), at = count++;
        for (; at > 0 && used[at - 1] > milli; at--)
            used[at] = used[at - 1];
        used[at] = milli;
    }
    for (uint32_t i = 0; i < count && lacking > 0; i++, lacking--)
        least += used[i];
    return lacking > 0 || least > sched->plan->node_search.nodes[node].milli ? INT64_MAX : least;
}

struct cheapest {
    node_id node; /* NODE_NONE: none yet */
    struct offer_cost cost;
};

static void look_at(struct sched *sched, const struct plan_request *plan, uint32_t place, const struct request *request,
                    struct cheapest *best)
{
    node_id node = sched->plan->node_search.listed[place];
    struct offer_cost cost = offer_cost(sched, plan, node, request);
    sched->plan->node_search.least_milli[place] = cost.milli;
    if (cost.milli == INT64_MAX || !is_cheaper(cost, best->cost))
        return;
    if (cost.loss_gpu_ns > plan->loss_bound)
        sched->plan->result.saw_too_costly = true;
    else
        *best = (struct cheapest){node, cost};
}

/* The node with the cheapest offer.  It reads all lower bounds in one array, and computes an offer only if its bound is
 * no higher than the best cost so far. */
static node_id cheapest_node(struct sched *sched, const struct plan_request *plan, const struct request *request)
{
    const struct node_search_scratch *scratch = &sched->plan->node_search;
    struct cheapest best = {NODE_NONE, {INT64_MAX - 1, INT64_MAX}};
    for (uint32_t n = 0; n < scratch->listed_count; n++) {
        int64_t *least = &scratch->least_milli[n];
        if (*least == COST_STALE)
            *least = least_milli(sched, scratch->listed[n], request);
        if (*least <= best.cost.milli)
            look_at(sched, plan, n, request, &best);
    }
    return best.node;
}

/* The unit leaves: the costs of its nodes are no longer valid. */
static void forget_costs(struct sched *sched, const struct unit *unit)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    for (uint32_t h = 0; h < job->holding_count; h++) {
        struct node_victims *victims = &sched->plan->node_search.nodes[sched_job_holding(job, h)->piece.node];
        if (victims->first != 0)
            sched->plan->node_search.least_milli[victims->place] = victims->cost.milli = COST_STALE;
    }
}

bool node_search_suit(const struct sched *sched, const struct request_class *ask)
{
    uint32_t groups = 0;
    for (uint32_t g = 0; g < ask->group_count; g++)
        groups += ask->groups[g].count > 0;
    return groups == 1 && ask->groups[ask->order[0]].request.mig == 0 &&
           request_class_goes_anywhere(ask, sched->cluster);
}

bool node_search_take(struct sched *sched, const struct plan_request *plan, const struct request *request)
{
    struct eviction_offer offer;
    if (sched->plan->node_search.link_count == 0)
        link_units(sched);
    node_id node = cheapest_node(sched, plan, request);
    if (node == NODE_NONE || !make_offer(sched, plan, node, request, &offer))
        return false;
    for (uint32_t i = 0; i < offer.count; i++) {
        struct unit *unit = &sched->plan->units[offer.units[i]];
        forget_costs(sched, unit);
        if (!victims_admit(sched, plan, unit))
            return true; /* its queue may lose no more: search again without it */
        plan_take(sched, unit);
    }
    return true;
}

void node_search_end(struct sched *sched)
{
    unlink_units(sched);
}

void node_search_init(struct sched *sched)
{
    struct node_search_scratch *scratch = &sched->plan->node_search;
    scratch->nodes = mem_zalloc(sched->cluster->node_count, sizeof *scratch->nodes);
    scratch->listed = mem_zalloc(sched->cluster->node_count, sizeof *scratch->listed);
    scratch->least_milli = mem_zalloc(sched->cluster->node_count, sizeof *scratch->least_milli);
}
