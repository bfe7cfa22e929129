/* Drains: nodes that take no new jobs until they are empty, for a gang that waits for whole nodes.
 *
 *   seek     of the class queues that may have a drain, choose the one that the queue selection puts first; choose as
 *            many nodes as its head needs, and take them out of the node index (ledger_keep_node)
 *   review   in each cycle: exchange a kept node in use for one that came free elsewhere.  After a state change, open
 *            the nodes for the gang; if it does not fit, close them again
 *   end      the gang has started, here or elsewhere, or waits no more.  Or the drain has expired: then the class
 *            queue rests for as long before it may have another
 *
 * A gang may have a drain if it is one group that asks whole GPUs without a required level.  Where the quota policy
 * confines jobs to cells there are no drains.  There is one drain at a time.  A node that is not up is no longer kept.
 * Cost: seek O(busy class queues), and O(nodes log nodes + holdings) when it chooses; review O(kept nodes * GPUs), and
 * a placement after a state change. */
#include <stdlib.h>

#include "policies/allocate/allocate.h"
#include "policies/drain/drain.h"
#include "policies/drain/drain_state.h"
#include "policies/eviction/eviction.h"
#include "policies/reservation/reservation.h"
#include "policies/state/planned_end.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

enum { DRAIN_BACKOFF = 16, PPM = 1000000 };

/* ---- Kept nodes ---- */

/* How long a drain may last.  Not shorter than SCHED_PATIENCE_MIN, so that drains do not come and go. */
static time_ns expiry(const struct sched *sched)
{
    const time_ns told = sched->policy.defrag_config.drain_expiry;
    return told > SCHED_PATIENCE_MIN ? told : SCHED_PATIENCE_MIN;
}

static void keep(struct sched *sched, node_id node, bool is_kept)
{
    ledger_keep_node(sched->ledger, node, is_kept);
    if (sched->overtakes)
        planned_start_node_changed(sched, node);
}

static uint32_t free_gpus(const struct sched *sched, node_id node)
{
    return sched->ledger->index->free_count[node];
}

static uint32_t used_gpus(const struct sched *sched, node_id node)
{
    return cluster_node_gpus(sched->cluster, node) - free_gpus(sched, node);
}

/* Open all kept nodes to all jobs. */
static void end_drain(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        keep(sched, sched->kept_nodes.nodes[i], false);
    sched->kept_nodes.count = 0;
}

/* The drain expired: end it, and let its class queue rest so that others may have a drain. */
static void give_up(struct sched *sched)
{
    struct drain *drain = sched->drain;
    drain->resting_class_queue = sched->kept_nodes.class_queue;
    drain->rests_until = time_after(sched->now, expiry(sched));
    end_drain(sched);
}

void drain_node_changed(struct sched *sched, node_id node, enum node_state state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        if (sched->kept_nodes.nodes[i] != node || state == NODE_UP)
            sched->kept_nodes.nodes[kept++] = sched->kept_nodes.nodes[i];
        else
            sched->ledger->is_kept[node] = 0; /* it is not in the index, and the ledger learns next that it is not up */
    sched->kept_nodes.count = kept;
}

/* ---- Which gang ---- */

/* The first group that is asked for; suits() tells whether it is the only one. */
static const struct job_group *group_of(const struct request_class *ask)
{
    uint32_t g = 0;
    while (ask->groups[g].count == 0)
        g++;
    return &ask->groups[g];
}

static bool suits(const struct sched *sched, const struct request_class *ask)
{
    uint32_t groups = 0;
    for (uint32_t g = 0; g < ask->group_count; g++)
        groups += ask->groups[g].count > 0;
    return groups == 1 && group_of(ask)->request.gpus > 0 && group_of(ask)->request.mig == 0 &&
           request_class_goes_anywhere(ask, sched->cluster) &&
           ask->charge[QUEUE_SUM_GPU] >= sched->policy.defrag_config.gang_milli_min;
}

static time_ns patient_at(const struct sched *sched, uint32_t class_queue_id)
{
    const uint32_t head = pending_head(&sched->pending, class_queue_id);
    return time_after(sched->jobs.facts[head].waiting_since, sched->policy.defrag_config.wait);
}

/* May the class queue have a drain once its head has waited long enough?  Its head must wait for space only. */
static bool may_have_one(const struct sched *sched, uint32_t class_queue_id)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const struct request_class *ask = &sched->request_classes.at[class_queue->request_class];
    return class_queue->count > 0 && (ask->closed & REQUEST_CLASS_BLOCKED) && class_queue->quota_block == QUEUE_NONE &&
           suits(sched, ask) &&
           (!sched->pending.is_strict || pending_first(&sched->pending, class_queue->leaf_queue) == class_queue_id);
}

static time_ns due_at(const struct sched *sched, uint32_t class_queue_id)
{
    const struct drain *drain = sched->drain;
    const time_ns patient = patient_at(sched, class_queue_id);
    return class_queue_id == drain->resting_class_queue && drain->rests_until > patient ? drain->rests_until : patient;
}

/* The first, by queue selection, of the class queues that may have a drain now; CLASS_QUEUE_NONE. */
static uint32_t choose_class_queue(struct sched *sched)
{
    struct drain *drain = sched->drain;
    uint32_t count = 0;
    for (uint32_t b = 0; b < sched->pending.busy_count; b++) {
        const uint32_t class_queue = sched->pending.busy[b];
        if (!may_have_one(sched, class_queue) || due_at(sched, class_queue) > sched->now)
            continue;
        MEM_GROW(drain->class_queues, drain->class_queue_capacity, (size_t)count + 1);
        drain->class_queues[count++] = class_queue;
    }
    return queue_selection_best(&sched->tree, &sched->pending, drain->class_queues, count, &sched->queue_selection);
}

/* ---- Which nodes ---- */

/* Fill drain->ends, by node: the latest planned end of a job there. */
static void plan_ends(struct sched *sched)
{
    struct drain *drain = sched->drain;
    if (drain->ends == NULL)
        drain->ends = mem_alloc(sched->cluster->node_count * sizeof *drain->ends);
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        drain->ends[n] = 0;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->holding_count == 0)
            continue;
        const time_ns end = planned_end(sched, slot);
        for (uint32_t i = 0; i < job->holding_count; i++) {
            time_ns *last = &drain->ends[sched_job_holding(job, i)->piece.node];
            *last = end > *last ? end : *last;
        }
    }
}

/* The node to choose first is smaller.  The policy says whether fewer used GPUs or an earlier end decides first. */
static int compare_nodes(const void *a, const void *b, void *config)
{
    const struct drain_node *x = a, *y = b;
    const bool is_by_use = ((const struct defrag_config *)config)->drain_choice == DRAIN_EMPTIEST;
    if (is_by_use && x->used != y->used)
        return x->used < y->used ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* List every node that takes new work and could hold members when it is empty, the first to choose first. */
static uint32_t list_choices(struct sched *sched, const struct request *request)
{
    struct drain *drain = sched->drain;
    uint32_t count = 0;
    plan_ends(sched);
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        const uint32_t members =
            request_class_members_per_node(request, sched->cluster, sched->cluster->nodes[n].type, false);
        if (members == 0 || !sched->ledger->index->is_listed[n])
            continue;
        MEM_GROW(drain->choices, drain->choice_capacity, (size_t)count + 1);
        drain->choices[count++] = (struct drain_node){drain->ends[n], n, used_gpus(sched, n), members};
    }
    if (count > 1)
        qsort_r(drain->choices, count, sizeof *drain->choices, compare_nodes, &sched->policy.defrag_config);
    return count;
}

/* How many members the kept nodes can hold when they are empty. */
static uint64_t kept_members(const struct sched *sched, const struct request *request)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        members += request_class_members_per_node(request, sched->cluster,
                                                  sched->cluster->nodes[sched->kept_nodes.nodes[i]].type, false);
    return members;
}

/* Keep more nodes until the gang fits on them when they are empty.  False: too many would be needed, and none is kept.
 */
static bool choose_nodes(struct sched *sched, const struct request_class *ask)
{
    struct drain *drain = sched->drain;
    const struct job_group *group = group_of(ask);
    const int64_t bound = (int64_t)sched->cluster->node_count * sched->policy.defrag_config.drain_nodes_ppm / PPM;
    uint64_t members = kept_members(sched, &group->request);
    const uint32_t count = members < group->count ? list_choices(sched, &group->request) : 0;
    for (uint32_t c = 0; c < count && members < group->count && sched->kept_nodes.count < bound; c++) {
        MEM_GROW(sched->kept_nodes.nodes, sched->kept_nodes.capacity, (size_t)sched->kept_nodes.count + 1);
        sched->kept_nodes.nodes[sched->kept_nodes.count++] = drain->choices[c].node;
        members += drain->choices[c].members;
        keep(sched, drain->choices[c].node, true);
    }
    if (members >= group->count)
        return true;
    end_drain(sched);
    return false;
}

/* The index of the kept node with the most used GPUs, the last one among equals; UINT32_MAX: all are empty. */
static uint32_t find_fullest(const struct sched *sched)
{
    uint32_t fullest = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        if (used_gpus(sched, sched->kept_nodes.nodes[i]) >= most && used_gpus(sched, sched->kept_nodes.nodes[i]) > 0) {
            fullest = i;
            most = used_gpus(sched, sched->kept_nodes.nodes[i]);
        }
    return fullest;
}

/* Exchange kept nodes in use for nodes of the same type that are wholly free. */
static void exchange(struct sched *sched)
{
    for (;;) {
        const uint32_t at = find_fullest(sched);
        if (at == UINT32_MAX)
            return;
        const node_id old = sched->kept_nodes.nodes[at];
        const uint32_t type = sched->cluster->nodes[old].type;
        const struct bits *whole = &sched->ledger->index->types[type].whole[sched->cluster->types[type].gpu_count];
        const node_id free = bits_next(whole, 0);
        if (free == BITS_NONE)
            return;
        keep(sched, free, true);
        keep(sched, old, false);
        sched->kept_nodes.nodes[at] = free;
    }
}

/* ---- A cycle ---- */

/* Open the nodes and try the head.  If it does not start, close them again. */
static void try_gang(struct sched *sched)
{
    struct drain *drain = sched->drain;
    const uint32_t class_queue = sched->kept_nodes.class_queue, head = pending_head(&sched->pending, class_queue);
    const uint32_t ask = sched->jobs.jobs[head].ask;
    const uint8_t closed = sched->request_classes.at[ask].closed;
    const uint64_t changes = sched->changes;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        keep(sched, sched->kept_nodes.nodes[i], false);
    if (placement_may_fit(sched->ledger, &sched->request_classes.at[ask])) {
        request_class_close(&sched->request_classes, ask,
                            closed & (uint8_t) ~(REQUEST_CLASS_BLOCKED | REQUEST_CLASS_PROMISED));
        sched_try_head(sched, class_queue);
    }
    if (sched->changes != changes) { /* it starts, or claims leaving space */
        sched->kept_nodes.count = 0;
        drain->filled++;
        return;
    }
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        keep(sched, sched->kept_nodes.nodes[i], true);
    drain->tried_change = sched->changes;
}

void drain_review(struct sched *sched)
{
    struct drain *drain = sched->drain;
    if (sched->kept_nodes.count == 0)
        return;
    const struct class_queue *class_queue = &sched->pending.class_queues[sched->kept_nodes.class_queue];
    if (class_queue->count == 0 || patient_at(sched, sched->kept_nodes.class_queue) > sched->now) {
        end_drain(sched);
        return;
    }
    if (time_after(drain->since, expiry(sched)) <= sched->now) {
        give_up(sched);
        return;
    }
    if (!choose_nodes(sched, &sched->request_classes.at[class_queue->request_class])) {
        drain->retry_change = sched->changes + DRAIN_BACKOFF; /* nodes were lost, and no others can be kept */
        return;
    }
    exchange(sched);
    if (drain->tried_change != sched->changes)
        try_gang(sched);
}

static void move_off(struct sched *sched)
{
    struct drain *drain = sched->drain;
    const uint32_t head = pending_head(&sched->pending, sched->kept_nodes.class_queue);
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[head]);
    if (!sched->retry_queues[PLAN_CONSOLIDATE].is_used || !moves_for(sched, ask) ||
        sched->changes < drain->move_change || moves_bound(sched) <= 0)
        return;
    moves_vacate(sched, head);
    drain->move_change = sched->changes + DRAIN_BACKOFF;
}

void drain_seek(struct sched *sched)
{
    struct drain *drain = sched->drain;
    if (sched->kept_nodes.count > 0 && sched->pending.class_queues[sched->kept_nodes.class_queue].count == 0)
        end_drain(sched); /* it found other nodes in this cycle */
    if (sched->kept_nodes.count > 0) {
        move_off(sched);
        return;
    }
    if (sched->pending.job_count == 0 || sched->request_classes.closed_count == 0 ||
        sched->changes < drain->retry_change || sched->policy.quota->confines != NULL)
        return;
    const uint32_t class_queue = choose_class_queue(sched);
    if (class_queue == CLASS_QUEUE_NONE)
        return;
    if (!choose_nodes(sched, &sched->request_classes.at[sched->pending.class_queues[class_queue].request_class])) {
        drain->retry_change = sched->changes + DRAIN_BACKOFF;
        return;
    }
    sched->kept_nodes.class_queue = class_queue;
    drain->since = sched->now;
    drain->tried_change = sched->changes;
    drain->move_change = 0;
    drain->begun++;
    move_off(sched);
}

time_ns drain_wake(const struct sched *sched)
{
    const struct drain *drain = sched->drain;
    time_ns wake = TIME_NEVER;
    if (sched->kept_nodes.count > 0)
        return time_after(drain->since, expiry(sched));
    for (uint32_t b = 0; b < sched->pending.busy_count; b++) {
        const uint32_t class_queue = sched->pending.busy[b];
        if (!may_have_one(sched, class_queue))
            continue;
        const time_ns due = due_at(sched, class_queue);
        if (due > sched->now && due < wake) /* a class queue that is due waits for a state change */
            wake = due;
    }
    return wake;
}

/* ---- Books ---- */

void drain_init(struct sched *sched)
{
    sched->drain = mem_zalloc(1, sizeof *sched->drain);
}

void drain_release(struct sched *sched)
{
    mem_free(sched->kept_nodes.nodes);
    mem_free(sched->drain->class_queues);
    mem_free(sched->drain->choices);
    mem_free(sched->drain->ends);
    mem_free(sched->drain);
}

void drain_count(const struct sched *sched, uint64_t *begun, uint64_t *filled)
{
    *begun = sched->drain->begun;
    *filled = sched->drain->filled;
}
