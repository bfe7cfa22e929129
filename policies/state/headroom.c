/* Free space, anywhere in the cluster, that is kept for latency-critical inference: which jobs may use it, and how it
 * is refilled.
 *
 * Other jobs may not take the last GPUs and the last whole nodes.  Jobs of queues that are over quota must leave some
 * more, so that in-quota jobs find room without evictions.  Space that inference took comes back when jobs end or, if
 * that takes too long, by evictions where they cost least.
 * Inference jobs are no victims of a refill: they could take their place back at once.
 * A node that will be whole when evictions have ended counts as whole, for a refill and for a start alike.  Otherwise a
 * refill would evict from the node, and the victim start there again before the last of the others has left.
 * Under a flat quota the request classes differ by queue (is_by_queue).  Otherwise an in-quota job would stand behind
 * an over-quota job with the same request, which may not use the kept space.
 * Known limit: a refill that finds no victims waits for HEADROOM_BACKOFF state changes.
 * Cost: O(request classes) per placement; a refill O(running jobs + nodes). */
#include "policies/state/headroom.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

enum { PPM = 1000000 };

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
        .node_gpus = (uint16_t)node_gpus,
    };
    struct headroom *headroom = &sched->headroom;
    headroom->is_kept = headroom->gpu_milli + headroom->whole_nodes + headroom->owners_milli > 0;
    headroom->is_by_queue = headroom->owners_milli > 0 && sched->policy.quota->is_flat;
}

int64_t sched_free_milli(const struct sched *sched)
{
    const struct ledger *ledger = sched->ledger;
    return sched->tree.capacity[RESOURCE_GPU] - ledger->used_milli - ledger->coming_milli - ledger->claimed_milli +
           ledger->not_up_milli; /* the capacity is of nodes that are up */
}

/* Is each GPU of the node free, or will it be free for any job once evictions have ended? */
static bool will_be_whole(const struct sched *sched, node_id node)
{
    const struct ledger *ledger = sched->ledger;
    const gpu_id first = sched->cluster->nodes[node].first_gpu;
    for (uint32_t g = 0; g < cluster_node_gpus(sched->cluster, node); g++)
        if (ledger->gpus[first + g].free + ledger->gpus[first + g].coming != GPU_MILLI)
            return false;
    return ledger_is_open(ledger, node) && cluster_node_gpus(sched->cluster, node) > 0 &&
           !cluster_node_type(sched->cluster, node)->is_tainted;
}

/* At most as many as are kept. */
static int64_t count_will_be_whole(const struct sched *sched)
{
    int64_t nodes = 0;
    for (node_id n = 0; n < sched->cluster->node_count && nodes < sched->headroom.whole_nodes; n++)
        nodes += will_be_whole(sched, n);
    return nodes;
}

struct free_space headroom_count_free(const struct sched *sched)
{
    const struct ledger *ledger = sched->ledger;
    struct free_space free = {.gpu_milli = sched_free_milli(sched)};
    for (uint32_t t = 0; t < sched->cluster->type_count; t++)
        if (sched->cluster->types[t].gpu_count > 0 && !sched->cluster->types[t].is_tainted)
            free.whole_nodes += ledger->index->types[t].whole[sched->cluster->types[t].gpu_count].member_count;
    if (free.whole_nodes < sched->headroom.whole_nodes && ledger->coming_milli > 0)
        free.whole_nodes = count_will_be_whole(sched);
    return free;
}

bool headroom_is_for(const struct sched *sched, uint32_t slot)
{
    return sched->request_classes.at[sched->jobs.jobs[slot].ask].class == JOB_INFERENCE;
}

/* Of GPUs only; whole nodes are checked separately. */
static uint8_t spared_gpus(const struct headroom *headroom, int64_t left_milli)
{
    return left_milli < headroom->gpu_milli                            ? REQUEST_CLASS_SPARES_INFERENCE
           : left_milli < headroom->gpu_milli + headroom->owners_milli ? REQUEST_CLASS_SPARES_OWNERS
                                                                       : 0;
}

/* Can it be known before placement that the headroom is kept from the request class?  Not if the amount depends on the
 * node. */
static bool may_be_spared(const struct request_class *request_class)
{
    return request_class->class != JOB_INFERENCE && request_class->charge[QUEUE_SUM_GPU] != 0 &&
           !request_class->is_by_model;
}

static void close_if_spared(struct sched *sched, uint32_t id, int64_t free_milli)
{
    const struct request_class *request_class = &sched->request_classes.at[id];
    uint8_t closed = spared_gpus(&sched->headroom, free_milli - request_class->charge[QUEUE_SUM_GPU]);
    if (closed != 0 && request_class->closed == 0 && may_be_spared(request_class))
        request_class_close(&sched->request_classes, id, closed);
}

void headroom_close(struct sched *sched)
{
    if (!headroom_is_kept(sched) || sched->policy.preempt.replaces_victims)
        return; /* a job that does not fit must be tried: it may claim space that becomes free */
    const request_class_set open = sched->request_classes.open[ASKER_OVER_QUOTA];
    const int64_t free = sched_free_milli(sched);
    const int64_t spare = free - sched->headroom.gpu_milli - sched->headroom.owners_milli; /* of GPUs kept for nobody */
    for (request_class_set left = open; left != 0; left &= left - 1)
        for (uint32_t id = (uint32_t)__builtin_ctzll(left); id < sched->request_classes.count;
             id += REQUEST_CLASS_SET_BITS)
            if (sched->request_classes.at[id].charge[QUEUE_SUM_GPU] > spare)
                close_if_spared(sched, id, free);
}

uint8_t headroom_spares(const struct sched *sched, uint32_t slot, struct free_space before)
{
    const struct headroom *headroom = &sched->headroom;
    const struct request_class *ask = &sched->request_classes.at[sched->jobs.jobs[slot].ask];
    if (!headroom_is_kept(sched) || ask->charge[QUEUE_SUM_GPU] == 0)
        return 0;
    struct free_space now = headroom_free(sched);
    uint8_t spares = now.gpu_milli < before.gpu_milli ? spared_gpus(headroom, now.gpu_milli) : 0;
    if (spares == REQUEST_CLASS_SPARES_OWNERS && (headroom_is_for(sched, slot) || sched_is_entitled(sched, slot)))
        spares = 0;
    if (now.whole_nodes < headroom->whole_nodes && now.whole_nodes < before.whole_nodes)
        spares |= REQUEST_CLASS_SPARES_NODES;
    return spares;
}

bool headroom_lets_stay(const struct sched *sched, uint32_t slot, struct free_space before)
{
    return sched->policy.defrag_config.holds_places || headroom_is_for(sched, slot) ||
           headroom_spares(sched, slot, before) == 0;
}

uint8_t headroom_still_spares(const struct sched *sched, const struct request_class *request_class,
                              struct free_space free)
{
    uint8_t now = request_class->closed & (REQUEST_CLASS_SPARES_INFERENCE | REQUEST_CLASS_SPARES_OWNERS);
    const int64_t least = request_class->is_by_model ? 0 : request_class->charge[QUEUE_SUM_GPU];
    if (now != 0)
        now = spared_gpus(&sched->headroom, free.gpu_milli - least);
    if (request_class->closed & REQUEST_CLASS_SPARES_NODES && free.whole_nodes <= request_class->whole_nodes)
        now |= REQUEST_CLASS_SPARES_NODES;
    return now;
}
