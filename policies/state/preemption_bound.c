#include "policies/state/preemption_bound.h"

#include <assert.h>

#include "policies/util/archive.h"

static uint32_t *nodes_with(const struct potential *potential, uint32_t type, uint32_t room)
{
    return &potential->by_room[type * (NODE_GPUS_MAX + 1) + room];
}

void potential_init(struct potential *potential, const struct cluster *cluster)
{
    potential->firm = mem_zalloc((size_t)cluster->gpu_count + 1, 1);
    potential->room = mem_zalloc((size_t)cluster->node_count + 1, 1);
    potential->by_room =
        mem_zalloc((size_t)cluster->type_count * (NODE_GPUS_MAX + 1) + 1, sizeof(uint32_t));
    for (node_id n = 0; n < cluster->node_count; n++) {
        potential->room[n] = (uint8_t)cluster_node_gpus(cluster, n);
        ++*nodes_with(potential, cluster->nodes[n].type, potential->room[n]);
    }
}

void potential_release(struct potential *potential)
{
    mem_free(potential->firm);
    mem_free(potential->room);
    mem_free(potential->by_room);
}

void potential_change(struct potential *potential, const struct cluster *cluster,
                      const struct piece *piece, int sign)
{
    const struct node *node = &cluster->nodes[piece->node];
    int moved = 0;
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        uint8_t *firm = &potential->firm[node->first_gpu + (uint32_t)__builtin_ctz(mask)];
        assert(sign > 0 || *firm > 0);
        *firm = (uint8_t)(*firm + sign);
        moved += sign > 0 ? *firm == 1 : *firm == 0;
    }
    if (moved == 0)
        return;
    --*nodes_with(potential, node->type, potential->room[piece->node]);
    potential->room[piece->node] = (uint8_t)(potential->room[piece->node] - sign * moved);
    ++*nodes_with(potential, node->type, potential->room[piece->node]);
}

bool potential_suffices(const struct potential *potential, const struct cluster *cluster,
                        const struct shape *ask)
{
    for (uint32_t g = 0; g < ask->group_count; g++) {
        uint32_t gpus = ask->groups[g].request.gpus;
        uint64_t members = 0;
        if (gpus == 0 || ask->groups[g].count == 0)
            continue; /* shares fit beside those who stay */
        for (uint32_t t = 0; t < cluster->type_count; t++)
            for (uint32_t room = gpus; room <= cluster->types[t].gpu_count; room++)
                members += (uint64_t)*nodes_with(potential, t, room) * (room / gpus);
        if (members < ask->groups[g].count)
            return false;
    }
    return true;
}

void potential_archive(struct archive *archive, struct potential *potential,
                       const struct cluster *cluster)
{
    ARCHIVE_KNOWS(struct potential, 3 * 8);
    archive_bytes(archive, potential->firm, cluster->gpu_count);
    archive_bytes(archive, potential->room, cluster->node_count);
    archive_bytes(archive, potential->by_room,
                  cluster->type_count * (NODE_GPUS_MAX + 1) * sizeof *potential->by_room);
}
