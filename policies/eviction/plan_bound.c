#include "policies/eviction/plan_bound.h"

#include <string.h>

#include "policies/eviction/plan_fit.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/quota/quota.h"
#include "policies/state/request_classes.h"

/* The piece leaves in thought: count the GPUs that nothing holds any more. */
static void lift_piece(struct sched *sched, const struct piece *piece)
{
    struct plan_scratch *plan = sched->plan;
    const uint32_t first = sched->cluster->nodes[piece->node].first_gpu;
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        const uint32_t gpu = first + (uint32_t)__builtin_ctz(mask);
        plan->returned_milli[gpu] = (uint16_t)(plan->returned_milli[gpu] + piece->gpu_milli);
        plan->cleared[piece->node] =
            (uint8_t)(plan->cleared[piece->node] +
                      (sched->ledger->gpus[gpu].free + plan->returned_milli[gpu] == GPU_MILLI));
    }
}

/* Of a job, all that is in place leaves, even if only its surplus is a candidate. */
static void lift_units(struct sched *sched)
{
    const struct plan_scratch *plan = sched->plan;
    memset(plan->returned_milli, 0, sched->cluster->gpu_count * sizeof *plan->returned_milli);
    memset(plan->cleared, 0, sched->cluster->node_count);
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        if (u > 0 && plan->units[u].slot == plan->units[u - 1].slot)
            continue; /* the units of a job are collected together */
        const struct sched_job *job = &sched->jobs.jobs[plan->units[u].slot];
        for (uint32_t i = 0; i < job->holding_count; i++)
            if (holding_is_in_place(sched_job_holding(job, i)))
                lift_piece(sched, &sched_job_holding(job, i)->piece);
    }
}

/* The most whole GPUs that the node could have free.  All of them where MIG instances are cut or no new job may go: the
 * node index does not tell these. */
static uint32_t free_at_most(const struct sched *sched, node_id node)
{
    const struct node_index *index = sched->ledger->index;
    const uint32_t gpus = cluster_node_gpus(sched->cluster, node);
    if (!index->is_listed[node] || ledger_layout_mask(sched->ledger, node) != 0)
        return gpus;
    const uint32_t free = index->free_count[node] + (uint32_t)sched->plan->cleared[node];
    return free < gpus ? free : gpus;
}

static bool cluster_suffices(const struct sched *sched, const struct job_group *group)
{
    const uint32_t gpus = group->request.gpus;
    uint64_t members = 0;
    for (node_id node = 0; node < sched->cluster->node_count && members < group->count; node++) {
        const uint32_t free = free_at_most(sched, node);
        members += free < gpus ? 0 : free < 2 * gpus ? 1 : free / gpus; /* most often without a division */
    }
    return members >= group->count;
}

/* The most members that the row could hold: of whole GPUs, or of shares of `share` milli. */
static uint32_t row_members(const struct sched *sched, const struct home_row *row, uint32_t gpus, uint32_t share)
{
    const uint32_t first = sched->cluster->nodes[row->node].first_gpu;
    const uint16_t partitioned = ledger_layout_mask(sched->ledger, row->node);
    uint32_t whole = 0, shares = 0;
    for (uint32_t mask = row->gpus; mask != 0; mask &= mask - 1) {
        const uint32_t g = (uint32_t)__builtin_ctz(mask);
        uint32_t milli = sched->ledger->gpus[first + g].free + sched->plan->returned_milli[first + g];
        if ((partitioned >> g & 1) != 0)
            milli = GPU_MILLI;
        whole += milli >= GPU_MILLI;
        shares += gpus == 0 ? milli / share : 0;
    }
    return gpus == 0 ? shares : whole / gpus;
}

/* The milli of a GPU that a member takes; 0: it takes whole GPUs, an instance, or as many as its GPU memory needs. */
static uint32_t share_of(const struct request *request)
{
    return request->gpus != 0 || request->gpu_memory_mib != 0 || request->mig != 0 ? 0 : request->gpu_milli;
}

static bool home_suffices(struct sched *sched, const struct job_group *group, queue_id keeper)
{
    const struct home_rows home = sched->policy.quota->homes.rows(&sched->tree, keeper);
    uint64_t members = 0;
    for (uint32_t r = 0; r < home.count && members < group->count; r++)
        members += row_members(sched, &home.rows[r], group->request.gpus, share_of(&group->request));
    return members >= group->count;
}

/* Would the limits allow the preemptor if all preemptible jobs of its queue, and of those above, left? */
static bool limit_suffices(struct sched *sched, uint32_t preemptor)
{
    const struct queue_tree *tree = &sched->tree;
    const struct sched_job *own = &sched->jobs.jobs[preemptor];
    const int64_t *ask = sched_ask(sched, own)->charge;
    for (queue_id q = own->queue; tree->has_limits && q != QUEUE_ROOT; q = tree->queues[q].parent)
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            const int64_t limit = queue_tree_spec(tree, q)->limit[r];
            if (ask[r] > 0 && limit != QUOTA_UNLIMITED && queue_tree_non_preemptible(tree, q, r) + ask[r] > limit)
                return false;
        }
    return true;
}

/* A preemption takes preemptible jobs of the preemptor's own queue.  Would the quota policy allow the preemptor if
 * all of them left?  If not, no plan exists, and the nodes are not searched. */
static bool quota_suffices(struct sched *sched, uint32_t preemptor)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor];
    if (sched->policy.quota->is_flat) /* then every preemptible job may be taken */
        return limit_suffices(sched, preemptor);
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    for (int r = 0; r < RESOURCE_COUNT; r++)
        amounts[r] = queue_tree_non_preemptible(&sched->tree, own->queue, (enum resource)r) -
                     queue_tree_charged(&sched->tree, own->queue, (enum resource)r);
    const size_t mark = ledger_mark(sched->ledger);
    ledger_charge(sched->ledger, own->queue, amounts);
    const bool is_allowed = queue_tree_forbids(&sched->tree, own->queue, sched_ask(sched, own)->charge) == QUEUE_NONE;
    ledger_rollback(sched->ledger, mark);
    return is_allowed;
}

/* Can moves of jobs make the number of wholly free GPUs as large as `gpus`?  A job that holds a whole GPU takes another
 * whole GPU when it moves, so only a GPU that movable jobs hold in shares or instances becomes free by moves. */
static bool moves_open(const struct sched *sched, int64_t gpus)
{
    const struct node_index *index = sched->ledger->index;
    const struct preemption_bound *bound = &sched->preemption_bound;
    int64_t open = 0;
    for (node_id node = 0; node < sched->cluster->node_count && open < gpus; node++) {
        const gpu_id first = sched->cluster->nodes[node].first_gpu;
        if (!index->is_listed[node])
            continue;
        open += index->free_count[node];
        for (gpu_id g = first; g < first + cluster_node_gpus(sched->cluster, node); g++)
            open += sched->ledger->owner[g] == OWNER_NONE && sched->ledger->gpus[g].free < GPU_MILLI &&
                    bound->unmovable[g] == 0;
    }
    return open >= gpus;
}

/* In a consolidation all victims find other places, so what is free now must hold the preemptor, and the moves must
 * open its GPUs.  A job holds as much anywhere only where all GPUs are alike. */
bool plan_room_suffices(struct sched *sched, uint32_t preemptor)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[preemptor]);
    const struct ledger *ledger = sched->ledger;
    const int64_t room = (int64_t)sched->cluster->gpu_count * GPU_MILLI - ledger->used_milli - ledger->coming_milli -
                         ledger->claimed_milli;
    int64_t gpus = 0;
    for (uint32_t g = 0; g < ask->group_count; g++)
        gpus += (int64_t)ask->groups[g].count * ask->groups[g].request.gpus;
    return sched->cluster->model_count > 1 || (room >= gpus * GPU_MILLI && moves_open(sched, gpus));
}

/* Does each group find its whole GPUs, or in a home its shares, by itself, with all units gone? */
static bool space_suffices(struct sched *sched, uint32_t preemptor)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[preemptor]);
    queue_id keeper = QUEUE_NONE;
    const struct job_group *only = plan_home_of(sched, preemptor, &keeper);
    bool suffices = true, is_returned = false;
    for (uint32_t g = 0; g < ask->group_count && suffices; g++) {
        const struct job_group *group = &ask->groups[g];
        const bool has_home = keeper != QUEUE_NONE && group == only;
        if (group->count == 0 || (group->request.gpus == 0 && !(has_home && share_of(&group->request) != 0)))
            continue;
        if (!is_returned)
            lift_units(sched);
        is_returned = true;
        suffices = has_home ? home_suffices(sched, group, keeper) : cluster_suffices(sched, group);
    }
    return suffices;
}

bool plan_bound_suffices(struct sched *sched, const struct plan_request *request)
{
    if (request->kind == PLAN_CONSOLIDATE)
        return true; /* plan_room_suffices is the bound of a consolidation: a count by node refuses next to none */
    if (request->kind == PLAN_PREEMPT && !quota_suffices(sched, request->preemptor))
        return false;
    return space_suffices(sched, request->preemptor);
}
