#include "policies/state/preemption_bound.h"

#include <assert.h>

#include "policies/state/sched_state.h"

static uint32_t *nodes_with(const struct preemption_bound *preemption_bound, uint32_t type, uint32_t room)
{
    return &preemption_bound->by_room[type * (NODE_GPUS_MAX + 1) + room];
}

void preemption_bound_init(struct preemption_bound *preemption_bound, const struct cluster *cluster)
{
    preemption_bound->unmovable = mem_zalloc((size_t)cluster->gpu_count + 1, sizeof *preemption_bound->unmovable);
    preemption_bound->room = mem_zalloc((size_t)cluster->node_count + 1, 1);
    preemption_bound->by_room = mem_zalloc((size_t)cluster->type_count * (NODE_GPUS_MAX + 1) + 1, sizeof(uint32_t));
    for (node_id n = 0; n < cluster->node_count; n++) {
        preemption_bound->room[n] = (uint8_t)cluster_node_gpus(cluster, n);
        ++*nodes_with(preemption_bound, cluster->nodes[n].type, preemption_bound->room[n]);
    }
}

void preemption_bound_release(struct preemption_bound *preemption_bound)
{
    mem_free(preemption_bound->unmovable);
    mem_free(preemption_bound->room);
    mem_free(preemption_bound->by_room);
}

void preemption_bound_change(struct preemption_bound *preemption_bound, const struct cluster *cluster,
                             const struct piece *piece, int sign)
{
    const struct node *node = &cluster->nodes[piece->node];
    int moved = 0;
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        uint16_t *count = &preemption_bound->unmovable[node->first_gpu + (uint32_t)__builtin_ctz(mask)];
        assert(sign > 0 || *count > 0);
        *count = (uint16_t)(*count + sign);
        moved += sign > 0 ? *count == 1 : *count == 0;
    }
    if (moved == 0)
        return;
    --*nodes_with(preemption_bound, node->type, preemption_bound->room[piece->node]);
    preemption_bound->room[piece->node] = (uint8_t)(preemption_bound->room[piece->node] - sign * moved);
    ++*nodes_with(preemption_bound, node->type, preemption_bound->room[piece->node]);
}

bool preemption_bound_suffices(const struct preemption_bound *preemption_bound, const struct cluster *cluster,
                               const struct request_class *ask)
{
    for (uint32_t g = 0; g < ask->group_count; g++) {
        uint32_t gpus = ask->groups[g].request.gpus;
        uint64_t members = 0;
        if (gpus == 0 || ask->groups[g].count == 0)
            continue; /* shares fit beside the jobs that stay */
        for (uint32_t t = 0; t < cluster->type_count; t++)
            for (uint32_t room = gpus; room <= cluster->types[t].gpu_count; room++)
                members += (uint64_t)*nodes_with(preemption_bound, t, room) * (room / gpus);
        if (members < ask->groups[g].count)
            return false;
    }
    return true;
}

/* ---- Events ---- */

static void *on_init(struct sched *sched)
{
    if (!sched->policy.preemption->evicts)
        return NULL;
    preemption_bound_init(&sched->preemption_bound, sched->cluster);
    sched->ledger->room = sched->preemption_bound.room;
    return &sched->preemption_bound;
}

static void on_release(struct sched *sched, void *own)
{
    (void)sched;
    preemption_bound_release(own);
}

/* A piece of a job that is never evicted lowers what evictions can free on the node. */
static void on_held(struct sched *sched, void *own, const struct piece *piece, int sign)
{
    preemption_bound_change(own, sched->cluster, piece, sign);
    ledger_note_change(sched->ledger, piece->node);
}

const struct observer preemption_bound_observer = {.init = on_init, .release = on_release, .held = on_held};
