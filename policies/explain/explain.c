/* Counts nodes and shortfalls; see policies/explain.h.  policies/explain/explain_text.c writes the sentences. */
#include "policies/explain.h"
#include "policies/booking/booking.h"

#include <string.h>

#include "policies/booking/sched_tags.h"
#include "policies/explain/explain_nodes.h"
#include "policies/explain/explain_text.h"
#include "policies/quota/amounts.h"
#include "policies/reservation/reservation.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/waits.h"

const char *const explain_node_names[] = {
    [EXPLAIN_NOT_UP] = "not_up",         [EXPLAIN_TAINT] = "taint",         [EXPLAIN_NODE_AFFINITY] = "node_affinity",
    [EXPLAIN_MISMATCH] = "mismatch",     [EXPLAIN_TOO_SMALL] = "too_small", [EXPLAIN_GPUS_BUSY] = "gpus_busy",
    [EXPLAIN_FRAGMENTED] = "fragmented", [EXPLAIN_CPUS] = "cpus",           [EXPLAIN_MEMORY] = "memory",
    [EXPLAIN_TASKS] = "tasks",           [EXPLAIN_KEPT] = "kept",           [EXPLAIN_CELLS] = "cells",
    [EXPLAIN_AFFINITY] = "affinity",     [EXPLAIN_DOMAIN] = "domain",       [EXPLAIN_FITS] = "fits",
    [EXPLAIN_NODE_COUNT] = NULL,
};

const char *const explain_node_words[] = {
    [EXPLAIN_NOT_UP] = "not up",
    [EXPLAIN_TAINT] = "with an untolerated taint",
    [EXPLAIN_NODE_AFFINITY] = "outside its node affinity/selector",
    [EXPLAIN_MISMATCH] = "of another kind",
    [EXPLAIN_TOO_SMALL] = "too small",
    [EXPLAIN_GPUS_BUSY] = "with GPUs busy",
    [EXPLAIN_FRAGMENTED] = "fragmented",
    [EXPLAIN_CPUS] = "short of CPUs",
    [EXPLAIN_MEMORY] = "short of memory",
    [EXPLAIN_TASKS] = "at their task limit",
    [EXPLAIN_KEPT] = "kept for others",
    [EXPLAIN_CELLS] = "in other queues' cells",
    [EXPLAIN_AFFINITY] = "shut by rules of tags",
    [EXPLAIN_DOMAIN] = "in too full a domain",
    [EXPLAIN_FITS] = "with room",
};

/* State of the explanation of one job. */
struct inquiry {
    struct sched *sched;
    const struct sched_job *job;
    uint32_t slot;
    const struct request_class *ask;
    bool minds_tags;              /* ledger_tags_met tells of nodes */
    struct allowed_space allowed; /* .gpus: see quota_policy.confines */
    uint16_t *promised;           /* by node: GPUs that reservations hold and that are there */
    uint8_t *why;                 /* by node: enum explain_node */
    uint8_t *now;                 /* the same of the group being looked at */
    uint32_t *room;               /* by node: members of that group that fit */
    uint32_t *members;            /* by domain: likewise */
    uint8_t *told;                /* by node: a copy of `why` for the caller; NULL: not wanted */
    struct explanation *out;
};

/* ---- One member on one node ---- */

/* The fewest GPUs that a member takes on the node's model, in milli. */
static uint32_t asked_milli(const struct inquiry *inquiry, const struct request *request, node_id node)
{
    const struct cluster *cluster = inquiry->sched->cluster;
    const struct gpu_model *model = &cluster->models[cluster_node_type(cluster, node)->model];
    if (request->mig != 0)
        return (uint32_t)request_gpu_milli(request, model);
    return request->gpus != 0 ? (uint32_t)request->gpus * GPU_MILLI : request_class_share_milli(request, model);
}

/* The cause that keeps members off all nodes of the type; EXPLAIN_FITS: none.  Taints come first, as in Kubernetes. */
static enum explain_node judge_type(const struct request *request, const struct node_type *type)
{
    if (!node_ask_tolerates(request->nodes, type))
        return EXPLAIN_TAINT;
    if (request->nodes != NULL && !node_ask_matches(request->nodes, type))
        return EXPLAIN_NODE_AFFINITY;
    if (request_asks_gpus(request) && type->gpu_count > 0 && !request_takes_model(request, type))
        return EXPLAIN_MISMATCH;
    return EXPLAIN_FITS;
}

/* Would the GPUs suffice without the claims of other jobs? */
static bool is_promised(const struct inquiry *inquiry, const struct request *request, node_id node)
{
    const struct ledger *ledger = inquiry->sched->ledger;
    uint16_t promised = inquiry->promised[node];
    if (promised == 0 || request->mig != 0)
        return false;
    return request->gpus == 0 ||
           (uint32_t)__builtin_popcount(ledger->index->free_mask[node] | promised) >= request->gpus;
}

static enum explain_node judge_gpus(const struct inquiry *inquiry, const struct request *request, node_id node)
{
    const struct ledger *ledger = inquiry->sched->ledger;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    uint32_t free = 0;
    if (is_promised(inquiry, request, node))
        return EXPLAIN_KEPT;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        free += ledger->gpus[ledger->cluster->nodes[node].first_gpu + g].free;
    return free < asked_milli(inquiry, request, node) ? EXPLAIN_GPUS_BUSY : EXPLAIN_FRAGMENTED;
}

/* Members that the node holds on what is allowed, whatever is kept. */
static uint32_t room_of(const struct inquiry *inquiry, const struct request *request, node_id node,
                        const struct allowed_space *allowed)
{
    return request_class_room(request, inquiry->sched->ledger, node, allowed);
}

static enum explain_node judge(const struct inquiry *inquiry, const struct request *request, node_id node)
{
    const struct ledger *ledger = inquiry->sched->ledger;
    const struct node_cell *cell = &ledger->nodes[node];
    const uint32_t type = ledger->cluster->nodes[node].type;
    const struct request gpus_alone = {.gpus = request->gpus,
                                       .gpu_milli = request->gpu_milli,
                                       .gpu_memory_mib = request->gpu_memory_mib,
                                       .mig = request->mig,
                                       .share = request->share,
                                       .domain = request->domain,
                                       .one_island = request->one_island,
                                       .gpu_models = request->gpu_models,
                                       .nodes = request->nodes};
    if (ledger->node_state[node] != NODE_UP)
        return EXPLAIN_NOT_UP;
    if (ledger->is_kept[node])
        return EXPLAIN_KEPT;
    const enum explain_node mismatch = judge_type(request, &ledger->cluster->types[type]);
    if (mismatch != EXPLAIN_FITS)
        return mismatch;
    if (request_class_members_of_node(request, ledger, node) == 0)
        return EXPLAIN_TOO_SMALL;
    if (cell->tasks_free > 0 && room_of(inquiry, &gpus_alone, node, NULL) == 0)
        return judge_gpus(inquiry, request, node);
    if (cell->cpu_free < request->cpu_milli)
        return EXPLAIN_CPUS;
    if (cell->memory_free < request->memory_mib)
        return EXPLAIN_MEMORY;
    return cell->tasks_free == 0 ? EXPLAIN_TASKS : EXPLAIN_FITS;
}

/* ---- All nodes ---- */

static void note_promises(struct inquiry *inquiry)
{
    const struct sched *sched = inquiry->sched;
    for (uint32_t c = 0; c < sched->claims.count; c++) {
        const struct sched_job *job = &sched->jobs.jobs[sched->claims.slots[c]];
        for (uint32_t i = 0; i < job->holding_count && sched->claims.slots[c] != inquiry->slot; i++) {
            const struct holding *holding = sched_job_holding(job, i);
            if (holding->phase != HOLDING_CLAIMED || holding->piece.gpu_milli != GPU_MILLI)
                continue;
            const gpu_id first = sched->cluster->nodes[holding->piece.node].first_gpu;
            for (uint32_t left = holding->piece.gpu_mask; left != 0; left &= left - 1) {
                uint32_t g = (uint32_t)__builtin_ctz(left);
                if (sched->ledger->gpus[first + g].claimed == 0) /* its holder has left */
                    inquiry->promised[holding->piece.node] |= (uint16_t)(1u << g);
            }
        }
    }
}

/* The level of the narrowest domain that members of the group must stay within, from 1; 0: none. */
static uint8_t narrowest(const struct request_class *request_class, uint32_t group)
{
    uint8_t level = request_class->topology.required;
    for (uint16_t s = request_class->set_count == 0 ? SET_NONE : request_class->groups[group].set; s != SET_NONE;
         s = request_class->sets[s].parent)
        if (request_class->sets[s].topology.required > level)
            level = request_class->sets[s].topology.required;
    return level;
}

/* The domain of the members that the job has and keeps; DOMAIN_NONE: it has none. */
static uint32_t held_domain(const struct inquiry *inquiry, const struct cluster_level *level)
{
    for (uint32_t i = 0; i < inquiry->job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(inquiry->job, i);
        if (holding->phase != HOLDING_LEAVING)
            return level->domain[holding->piece.node];
    }
    return DOMAIN_NONE;
}

/* Clear inquiry->room outside of domains that hold the whole group.  Returns how many members fit in the best. */
static uint32_t confine_to_domains(struct inquiry *inquiry, uint32_t group, uint8_t required)
{
    const struct cluster *cluster = inquiry->sched->cluster;
    const struct cluster_level *level = &cluster->levels[required - 1];
    const uint32_t wanted = inquiry->ask->groups[group].count, held = held_domain(inquiry, level);
    uint32_t best = 0;
    memset(inquiry->members, 0, level->domain_count * sizeof *inquiry->members);
    for (node_id n = 0; n < cluster->node_count; n++)
        if (level->domain[n] != DOMAIN_NONE && (held == DOMAIN_NONE || held == level->domain[n]))
            inquiry->members[level->domain[n]] += inquiry->room[n];
    for (node_id n = 0; n < cluster->node_count; n++) {
        uint32_t domain = level->domain[n];
        uint32_t there = domain != DOMAIN_NONE ? inquiry->members[domain] : 0;
        if (inquiry->room[n] > 0 && there < wanted)
            inquiry->room[n] = 0; /* a member fits, but not all that must be together */
        best = there > best ? there : best;
    }
    return best < wanted ? best : wanted;
}

/* Clear inquiry->room outside of domains with room for a slice.  Returns how many members fit in whole slices. */
static uint64_t confine_to_slices(struct inquiry *inquiry, const struct job_group *group)
{
    const struct cluster *cluster = inquiry->sched->cluster;
    const struct cluster_level *level = &cluster->levels[group->slice_level - 1];
    uint64_t fitting = 0;
    memset(inquiry->members, 0, level->domain_count * sizeof *inquiry->members);
    for (node_id n = 0; n < cluster->node_count; n++)
        if (level->domain[n] != DOMAIN_NONE)
            inquiry->members[level->domain[n]] += inquiry->room[n];
    for (node_id n = 0; n < cluster->node_count; n++)
        if (level->domain[n] == DOMAIN_NONE || inquiry->members[level->domain[n]] < group->slice_members)
            inquiry->room[n] = 0;
    for (uint32_t d = 0; d < level->domain_count; d++)
        fitting += inquiry->members[d] - inquiry->members[d] % group->slice_members;
    return fitting;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void note_least(int64_t *least, int64_t amount)
{
    if (*least == 0 || amount < *least)
        *least = amount;
}

/* Add the shortfall of the group, of which `fitting` members fit. */
static void add_short(struct inquiry *inquiry, uint32_t group, uint32_t fitting)
{
    const struct job_group *asked = &inquiry->ask->groups[group];
    const struct cluster *cluster = inquiry->sched->cluster;
    uint32_t lacking = asked->count - fitting;
    const uint32_t most = request_class_most_of_node(&asked->request, inquiry->sched->ledger);
    const uint32_t each = most == 0 ? 1 : lesser(most, asked->count);
    inquiry->out->members += asked->count;
    inquiry->out->members_fitting += fitting;
    inquiry->out->nodes_short += (lacking + each - 1) / each;
    inquiry->out->gpu_milli_short += lacking * request_class_most_milli(&asked->request, cluster);
}

/* What keeps a member off the node; inquiry->room: how many fit there. */
static enum explain_node judge_node(struct inquiry *inquiry, const struct request *request, node_id node)
{
    const enum explain_node why = judge(inquiry, request, node);
    inquiry->room[node] = 0;
    if (why != EXPLAIN_FITS)
        return why;
    const uint32_t room = room_of(inquiry, request, node, &inquiry->allowed);
    if (room == 0 && inquiry->allowed.gpus != NULL)
        return EXPLAIN_CELLS;
    if (inquiry->minds_tags && !ledger_tags_met(inquiry->sched->ledger, node))
        return EXPLAIN_AFFINITY;
    inquiry->room[node] = room;
    return EXPLAIN_FITS;
}

/* Note the shortfall of CPU or memory on the node, if that keeps members off it. */
static void note_lack(struct inquiry *inquiry, const struct request *request, node_id node, enum explain_node why)
{
    const struct node_cell *cell = &inquiry->sched->ledger->nodes[node];
    if (why == EXPLAIN_CPUS)
        note_least(&inquiry->out->cpu_milli_short, (int64_t)request->cpu_milli - cell->cpu_free);
    if (why == EXPLAIN_MEMORY)
        note_least(&inquiry->out->memory_mib_short, (int64_t)request->memory_mib - cell->memory_free);
}

/* The number of members of the group that fit within its slices and domains.  Clears inquiry->room of all others. */
static uint32_t count_fitting(struct inquiry *inquiry, uint32_t group)
{
    const struct job_group *asked = &inquiry->ask->groups[group];
    const uint8_t required = narrowest(inquiry->ask, group);
    uint64_t fitting = 0;
    for (node_id n = 0; n < inquiry->sched->cluster->node_count; n++)
        fitting += inquiry->room[n];
    if (asked->slice_members != 0)
        fitting = confine_to_slices(inquiry, asked);
    if (required > 0 && required <= inquiry->sched->cluster->level_count)
        return confine_to_domains(inquiry, group, required);
    return fitting < asked->count ? (uint32_t)fitting : asked->count;
}

/* Find the cause that keeps the group off each node, and how many of its members fit. */
static void explain_group(struct inquiry *inquiry, uint32_t group)
{
    const struct request *request = &inquiry->ask->groups[group].request;
    const uint32_t node_count = inquiry->sched->cluster->node_count;
    for (node_id n = 0; n < node_count; n++) {
        const enum explain_node why = judge_node(inquiry, request, n);
        note_lack(inquiry, request, n, why);
        inquiry->now[n] = (uint8_t)why;
    }
    const uint32_t fitting = count_fitting(inquiry, group);
    for (node_id n = 0; n < node_count; n++) {
        if (inquiry->now[n] == EXPLAIN_FITS && inquiry->room[n] == 0)
            inquiry->now[n] = EXPLAIN_DOMAIN;
        inquiry->why[n] = inquiry->now[n] > inquiry->why[n] ? inquiry->now[n] : inquiry->why[n];
    }
    add_short(inquiry, group, fitting);
}

/* ---- Kept space ---- */

/* Nodes with room only if planned starts are ignored are EXPLAIN_KEPT. */
static void note_planned_starts(struct inquiry *inquiry)
{
    struct sched *sched = inquiry->sched;
    if (inquiry->slot == SLOT_NONE || !planned_start_is_fresh(sched))
        return;
    size_t mark = ledger_mark(sched->ledger);
    planned_start_keep(sched, inquiry->slot);
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        if (inquiry->why[n] != EXPLAIN_FITS)
            continue;
        bool fits = false;
        for (uint32_t g = 0; g < inquiry->ask->group_count; g++)
            fits |=
                inquiry->ask->groups[g].count > 0 && room_of(inquiry, &inquiry->ask->groups[g].request, n, NULL) > 0;
        inquiry->why[n] = fits ? EXPLAIN_FITS : EXPLAIN_KEPT;
    }
    ledger_rollback(sched->ledger, mark);
}

static void note_headroom(struct inquiry *inquiry)
{
    if (inquiry->job->class_queue == CLASS_QUEUE_NONE ||
        pending_hand(&inquiry->sched->pending, inquiry->job->class_queue) != HAND_HEADROOM)
        return;
    for (node_id n = 0; n < inquiry->sched->cluster->node_count; n++)
        if (inquiry->why[n] == EXPLAIN_FITS)
            inquiry->why[n] = EXPLAIN_KEPT;
}

static bool fits_together(struct inquiry *inquiry)
{
    struct sched *sched = inquiry->sched;
    struct piece_list pieces = {0};
    size_t mark = ledger_mark(sched->ledger);
    bool fits = sched_place(sched, inquiry->slot, &pieces);
    ledger_rollback(sched->ledger, mark);
    piece_list_release(&pieces);
    return fits;
}

/* ---- Queues ---- */

/* True if the queue goes beyond the bound with the request; then *out has the amounts. */
static bool note_over(struct explanation *out, enum resource resource, int64_t held, int64_t asked, int64_t bound)
{
    if (asked <= 0 || bound == QUOTA_UNLIMITED || bound == AMOUNT_ANY || held + asked <= bound)
        return false;
    out->over_resource = resource;
    out->over_held = held;
    out->over_asked = asked;
    out->over_bound = bound;
    return true;
}

static void note_queue(struct inquiry *inquiry, queue_id queue)
{
    const struct queue_tree *tree = &inquiry->sched->tree;
    const int64_t *ask = inquiry->ask->charge;
    struct explanation *out = inquiry->out;
    out->over_queue = queue;
    out->over_bound = QUOTA_UNLIMITED;
    out->over_resource = RESOURCE_GPU;
    out->over_held = queue_tree_charged(tree, queue, RESOURCE_GPU);
    out->over_asked = ask[RESOURCE_GPU];
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (note_over(out, r, queue_tree_charged(tree, queue, r), ask[r], queue_tree_spec(tree, queue)->limit[r]))
            return;
    const bool is_non_preemptible = tree->config->firm_needs_quota; /* only the non-preemptible part needs quota */
    out->over_is_quota = true;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (note_over(out, r,
                      is_non_preemptible ? queue_tree_non_preemptible(tree, queue, r)
                                         : queue_tree_charged(tree, queue, r),
                      ask[is_non_preemptible ? RESOURCE_COUNT + r : r], amount_deserved(tree, queue, r)))
            return;
}

/* Find the queue and the cells that forbid it now; in a trial, so that the policy does not change its state. */
static void explain_queues(struct inquiry *inquiry)
{
    struct sched *sched = inquiry->sched;
    const struct quota_policy *quota = sched->policy.quota;
    size_t mark = ledger_mark(sched->ledger);
    const queue_id queue = queue_tree_forbids(&sched->tree, inquiry->job->queue, inquiry->ask->charge);
    queue_id keeper = QUEUE_NONE;
    inquiry->allowed.gpus = quota->homes.confines != NULL
                                ? quota->homes.confines(&sched->tree, inquiry->job->queue, inquiry->ask, &keeper)
                                : NULL;
    ledger_rollback(sched->ledger, mark);
    inquiry->out->over_queue = QUEUE_NONE;
    inquiry->out->is_quota_kept =
        queue == QUEUE_NONE && inquiry->slot != SLOT_NONE && kept_forbids(sched, inquiry->slot) != QUEUE_NONE;
    if (queue != QUEUE_NONE)
        note_queue(inquiry, queue);
}

/* Count the jobs of its leaf queue that go before it, and find the first. */
static void explain_line(struct inquiry *inquiry)
{
    const struct pending *pending = &inquiry->sched->pending;
    inquiry->out->first = JOB_NONE;
    if (inquiry->job->class_queue == CLASS_QUEUE_NONE)
        return;
    const struct leaf_queue *leaf_queue =
        &pending->leaf_queues[pending->class_queues[inquiry->job->class_queue].leaf_queue];
    uint32_t first = inquiry->slot;
    for (uint32_t l = 0; l < leaf_queue->class_queue_count; l++) {
        const struct class_queue *class_queue = &pending->class_queues[leaf_queue->class_queues[l].class_queue];
        for (uint32_t i = 0; i < class_queue->count; i++) {
            uint32_t other = class_queue->heap[i].slot;
            inquiry->out->ahead += pending_compare(pending, other, inquiry->slot) < 0;
            if (pending_compare(pending, other, first) < 0)
                first = other;
        }
    }
    if (first != inquiry->slot)
        inquiry->out->first = inquiry->sched->jobs.jobs[first].id;
}

/* ---- The explanation ---- */

/* Count what is free of the GPUs that the job may use: on nodes that could hold a member, and in its queue's cells. */
static void count_free(struct inquiry *inquiry)
{
    const struct ledger *ledger = inquiry->sched->ledger;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        if (inquiry->why[n] <= EXPLAIN_TOO_SMALL || inquiry->why[n] == EXPLAIN_AFFINITY || ledger->is_kept[n])
            continue;
        const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[n].first_gpu];
        for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, n); g++)
            if (allowed_gpus(&inquiry->allowed, n) >> g & 1)
                inquiry->out->gpu_milli_free += gpus[g].free;
    }
}

static void explain_all_nodes(struct inquiry *inquiry)
{
    struct sched *sched = inquiry->sched;
    struct arena arena = {0};
    const size_t count = sched->cluster->node_count;
    uint32_t domains = 1;
    for (uint32_t l = 0; l < sched->cluster->level_count; l++)
        if (sched->cluster->levels[l].domain_count > domains)
            domains = sched->cluster->levels[l].domain_count;
    inquiry->promised = arena_alloc_array(&arena, count, uint16_t);
    inquiry->why = arena_alloc_array(&arena, count, uint8_t);
    inquiry->now = arena_alloc_array(&arena, count, uint8_t);
    inquiry->room = arena_alloc_array(&arena, count, uint32_t);
    inquiry->members = arena_alloc_array(&arena, domains, uint32_t);
    note_promises(inquiry);
    inquiry->minds_tags = inquiry->slot != SLOT_NONE && tags_match(sched, inquiry->slot);
    for (uint32_t g = 0; g < inquiry->ask->group_count; g++)
        if (inquiry->ask->groups[g].count > 0)
            explain_group(inquiry, g);
    note_planned_starts(inquiry);
    note_headroom(inquiry);
    for (node_id n = 0; n < count; n++)
        inquiry->out->nodes[inquiry->why[n]]++;
    count_free(inquiry);
    if (inquiry->told != NULL)
        memcpy(inquiry->told, inquiry->why, count);
    arena_release(&arena);
}

static void explain(struct inquiry *inquiry)
{
    explain_queues(inquiry);
    explain_line(inquiry);
    explain_all_nodes(inquiry);
    bool holds_its_place = inquiry->job->state == SJOB_CLAIMING || inquiry->job->state == SJOB_STARTING;
    inquiry->out->fits_now = !holds_its_place && inquiry->slot != SLOT_NONE && fits_together(inquiry);
    explain_write(inquiry->sched, inquiry->job, inquiry->out);
}

/* A refused job whose REJECT is not issued yet: only its request is known. */
static bool explain_rejected(struct sched *sched, job_id id, struct explanation *out)
{
    const struct refusal_note *note = waits_rejection(sched, id);
    if (note == NULL)
        return false;
    const struct sched_job job = {.id = id,
                                  .request_class = note->request_class,
                                  .ask = note->request_class,
                                  .queue = note->queue,
                                  .class_queue = CLASS_QUEUE_NONE};
    struct inquiry inquiry = {.sched = sched,
                              .job = &job,
                              .slot = SLOT_NONE,
                              .ask = &sched->request_classes.at[note->request_class],
                              .out = out};
    *out = (struct explanation){.code = note->reason, .is_never = note->reason == REASON_NEVER_FITS};
    explain(&inquiry);
    return true;
}

bool explain_nodes(struct sched *sched, job_id id, struct explanation *out, uint8_t *told)
{
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE)
        return explain_rejected(sched, id, out);
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->wait.kind == WAIT_NOT)
        return false;
    struct inquiry inquiry = {.sched = sched,
                              .job = job,
                              .slot = slot,
                              .ask = &sched->request_classes.at[job->ask],
                              .told = told,
                              .out = out};
    *out = (struct explanation){.code = sched_why(sched, id)};
    explain(&inquiry);
    return true;
}

bool sched_explain(struct sched *sched, job_id id, struct explanation *out)
{
    return explain_nodes(sched, id, out, NULL);
}
