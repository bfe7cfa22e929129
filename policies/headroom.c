/* Free space that floats over the cluster for latency-critical inference: who may use it, and how it comes back.
 *
 * Other jobs may not take the last GPUs and the last whole nodes; jobs whose queue goes beyond what it deserves must
 * leave some more, so that owners find room and nobody is evicted for them.  What inference took is given back by
 * jobs that end, or, when that lags, by evictions where they cost least.
 * Known limits: a refill that finds nobody waits for HEADROOM_BACKOFF state changes; under a flat quota an owner's job
 * stands behind a borrower's of the same shape that may not use what is kept.
 * Cost: O(1) per placement; a refill O(running jobs + nodes). */
#include "policies/sched_state.h"

enum { HEADROOM_BACKOFF = 16, PPM = 1000000 };

void headroom_init(struct sched *sched)
{
    const struct headroom_config *config = &sched->policy.headroom;
    const struct cluster *cluster = sched->cluster;
    int64_t node_gpus = 1;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        if (cluster->types[t].gpu_count > node_gpus)
            node_gpus = cluster->types[t].gpu_count;
    int64_t gpus = cluster->gpu_count * config->gpus_ppm / PPM;
    int64_t owners = cluster->gpu_count * config->owners_ppm / PPM;
    sched->headroom = (struct headroom){
        .gpu_milli = config->gpu_milli + gpus / node_gpus * node_gpus * GPU_MILLI,
        .whole_nodes = config->whole_nodes + cluster->node_count * config->nodes_ppm / PPM,
        .owners_milli = config->owners_milli + owners / node_gpus * node_gpus * GPU_MILLI,
    };
}

bool headroom_is_kept(const struct sched *sched)
{
    const struct headroom *headroom = &sched->headroom;
    return headroom->gpu_milli + headroom->whole_nodes + headroom->owners_milli > 0;
}

struct free_space headroom_free(const struct sched *sched)
{
    const struct ledger *ledger = sched->ledger;
    struct free_space free = {0, 0};
    if (!headroom_is_kept(sched))
        return free;
    free.gpu_milli = sched->tree.capacity[RESOURCE_GPU] - ledger->used_milli -
                     ledger->coming_milli - ledger->claimed_milli;
    for (uint32_t t = 0; t < sched->cluster->type_count; t++)
        if (sched->cluster->types[t].gpu_count > 0)
            free.whole_nodes +=
                ledger->index->types[t].whole[sched->cluster->types[t].gpu_count].member_count;
    return free;
}

bool headroom_is_for(const struct sched *sched, uint32_t slot)
{
    return sched->shapes.shapes[sched->jobs.jobs[slot].ask].class == JOB_INFERENCE;
}

/* What the job must leave free of GPUs. */
static int64_t kept_from(const struct sched *sched, uint32_t slot)
{
    const struct headroom *headroom = &sched->headroom;
    bool is_borrower = headroom->owners_milli > 0 && !headroom_is_for(sched, slot) &&
                       !sched_is_entitled(sched, slot);
    return headroom->gpu_milli + (is_borrower ? headroom->owners_milli : 0);
}

bool headroom_is_used(const struct sched *sched, uint32_t slot, struct free_space before)
{
    const struct headroom *headroom = &sched->headroom;
    const struct shape *ask = &sched->shapes.shapes[sched->jobs.jobs[slot].ask];
    if (!headroom_is_kept(sched) || ask->charge[QUEUE_SUM_GPU] == 0)
        return false;
    struct free_space now = headroom_free(sched);
    return (now.gpu_milli < before.gpu_milli && now.gpu_milli < kept_from(sched, slot)) ||
           (now.whole_nodes < headroom->whole_nodes && now.whole_nodes < before.whole_nodes);
}

bool headroom_has_room(const struct sched *sched, uint32_t slot, struct free_space free)
{
    int64_t ask = sched->shapes.shapes[sched->jobs.jobs[slot].ask].charge[QUEUE_SUM_GPU];
    return free.gpu_milli - ask >= sched->headroom.gpu_milli &&
           free.gpu_milli - ask >= kept_from(sched, slot);
}

/* All its GPUs are free, or will be for whoever comes. */
static bool will_be_whole(const struct sched *sched, node_id node)
{
    const struct ledger *ledger = sched->ledger;
    gpu_id first = sched->cluster->nodes[node].first_gpu;
    for (uint32_t g = 0; g < cluster_node_gpus(sched->cluster, node); g++)
        if (ledger->gpus[first + g].free + ledger->gpus[first + g].coming != GPU_MILLI)
            return false;
    return ledger->node_state[node] == NODE_UP && cluster_node_gpus(sched->cluster, node) > 0;
}

/* Will the headroom lack a whole node, or GPUs, when all that leaves has left?  request: what. */
static bool is_short(const struct sched *sched, struct request *request)
{
    const struct headroom *headroom = &sched->headroom;
    int64_t free = headroom_free(sched).gpu_milli + sched->ledger->coming_milli, nodes = 0;
    uint16_t gpus = 0;
    for (node_id n = 0; n < sched->cluster->node_count && nodes < headroom->whole_nodes; n++) {
        nodes += will_be_whole(sched, n);
        if (cluster_node_gpus(sched->cluster, n) > gpus)
            gpus = cluster_node_gpus(sched->cluster, n);
    }
    *request = (struct request){.gpus = nodes < headroom->whole_nodes ? gpus : 1};
    return nodes < headroom->whole_nodes || free < headroom->gpu_milli;
}

bool headroom_refill(struct sched *sched)
{
    struct request request;
    bool needs_grace = false;
    if (sched->changes < sched->headroom_retry || !is_short(sched, &request))
        return false;
    size_t mark = ledger_mark(sched->ledger);
    sched->plan.taken_count = 0;
    sched->plan.ripe_at = sched->plan.ripe_last_at = sched->plan.worth_at = TIME_NEVER;
    victims_collect(sched, SLOT_NONE, PLAN_HEADROOM, false);
    ledger_foresee(sched->ledger);
    bool is_found =
        sched->plan.unit_count > 0 && offers_take(sched, SLOT_NONE, &request, PLAN_HEADROOM);
    offers_end(sched);
    ledger_rollback(sched->ledger, mark);
    if (is_found)
        plan_book(sched, JOB_NONE, PLAN_HEADROOM, &needs_grace);
    else
        sched->headroom_retry = sched->changes + HEADROOM_BACKOFF;
    return is_found;
}
