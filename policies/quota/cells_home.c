/* May a guaranteed job have a place in its queue's cells?  Two upper bounds that do not depend on where the cells go
 * that are not in use, so they are asked before places are computed: one as if all opportunistic jobs had left, one of
 * the GPUs that are free now, outside the cells that other queues have in use.
 *
 * A cell in use stays.  The queue's other cells may go beside it, as far as the node has room for them, or elsewhere.
 * So a node where the queue has cells in use offers at most what is empty in them, with as many GPUs of the other cells
 * as its room; and all other nodes together at most the other cells.  A share needs no more than its milli of one GPU:
 * what guaranteed jobs leave of a GPU in use, or a GPU of the other cells.
 * Without the first, and with places computed at each try, 12 hours of h100-500x8.json under `hived` cost 770 % more
 * instructions.  Without the second, 10,000 jobs of `tools/table cliff` take more than twice as long.
 */
#include <assert.h>

#include "policies/quota/cells_index.h"

/* The GPUs of the node that are part of a cell in use: of this queue, or of any for QUEUE_NONE. */
static uint16_t gpus_in_use(const struct ledger *ledger, node_id node, queue_id queue)
{
    const struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
    uint16_t in_use = 0, cell;
    for (uint16_t left = ledger->cells->kept[node]; left != 0; left &= (uint16_t)~cell) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        cell = (uint16_t)(((1u << (1u << keeps[i].level)) - 1) << i);
        if ((queue == QUEUE_NONE || keeps[i].keeper == queue) && (cell & ledger->non_preemptible_mask[node]) != 0 &&
            cells_is_in_use(keeps, i, keeps[i].level))
            in_use |= cell;
    }
    return in_use;
}

/* The GPUs of the queue's cells that are not in use. */
static uint32_t count_movable(const struct queue_tree *tree, queue_id queue, struct home_rows own)
{
    uint32_t gpus = 0, in_use = 0;
    for (uint32_t l = 0; l < CELL_LEVELS; l++)
        gpus += cells_of(tree, queue)->owned[l] << l;
    for (uint32_t r = 0; r < own.count; r++)
        in_use += bits_count16(gpus_in_use(tree->ledger, own.rows[r].node, queue));
    return in_use < gpus ? gpus - in_use : 0;
}

/* The most GPUs that the queue could have empty on the node; 0: no cell of it is in use there. */
static uint32_t count_empty(const struct ledger *ledger, node_id node, queue_id queue, uint32_t movable, uint32_t least)
{
    const uint16_t firm = ledger->non_preemptible_mask[node];
    const uint32_t empty = bits_count16(gpus_in_use(ledger, node, queue) & (uint16_t)~firm);
    if (empty == 0 || empty + movable < least)
        return 0;
    const uint32_t taken = bits_count16(gpus_in_use(ledger, node, QUEUE_NONE) | firm);
    const uint32_t room = cluster_node_gpus(ledger->cluster, node) - taken;
    return empty + (movable < room ? movable : room);
}

/* How many shares of `milli` the GPUs of the queue's cells in use on the node could hold beside guaranteed jobs. */
static uint32_t count_shares(const struct ledger *ledger, node_id node, queue_id queue, uint32_t milli)
{
    const struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
    uint32_t shares = 0;
    for (uint16_t gpus = gpus_in_use(ledger, node, queue); gpus != 0; gpus &= (uint16_t)(gpus - 1)) {
        const uint32_t taken = keeps[__builtin_ctz(gpus)].non_preemptible_milli;
        shares += taken < GPU_MILLI ? (GPU_MILLI - taken) / milli : 0;
    }
    return shares;
}

/* The only group of the request class; NULL: there are several, or its members do not take a fixed part of a GPU. */
static const struct job_group *only_group(const struct request_class *request_class)
{
    const struct job_group *only = NULL;
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        if (request_class->groups[g].count == 0)
            continue;
        if (only != NULL)
            return NULL;
        only = &request_class->groups[g];
    }
    const bool is_fixed = only != NULL && only->request.gpu_memory_mib == 0 && only->request.mig == 0 &&
                          (only->request.gpus > 0 || only->request.gpu_milli > 0);
    return is_fixed ? only : NULL;
}

/* The most members of the group that the queue's cells could hold. */
static uint64_t count_members(struct queue_tree *tree, queue_id queue, const struct request *request)
{
    struct ledger *ledger = tree->ledger;
    const uint32_t gpus = request->gpus, milli = request->gpu_milli;
    const struct home_rows own = cells_index_rows(ledger, queue);
    const uint32_t movable = count_movable(tree, queue, own);
    uint64_t members = gpus > 0 ? movable / gpus : (uint64_t)movable * (GPU_MILLI / milli);
    for (uint32_t r = 0; r < own.count; r++)
        members += gpus > 0 ? count_empty(ledger, own.rows[r].node, queue, movable, gpus) / gpus
                            : count_shares(ledger, own.rows[r].node, queue, milli);
    return members;
}

static struct cell_home *home_of(struct queue_tree *tree, queue_id queue, uint32_t gpus)
{
    struct cell_index *index = cells_index(tree->ledger);
    if (queue >= index->home_capacity) {
        index->home_capacity = 2 * tree->count;
        index->homes = arena_alloc(&tree->ledger->arena, index->home_capacity * sizeof *index->homes);
    }
    return &index->homes[queue][cells_level(gpus)];
}

/* As count_members, of whole GPUs, at most UINT32_MAX; counted again if something has changed since the last call.
 * Counted at each call, 12 hours of h100-500x8.json under `hived` cost 5 % more instructions. */
static uint32_t members_now(struct queue_tree *tree, queue_id queue, const struct request *request)
{
    struct cell_home *home = home_of(tree, queue, request->gpus);
    const uint64_t now = tree->ledger->cells->firm_changes + 1;
#ifndef WINDTUNNEL_DEBUG
    if (home->seen == now && home->gpus == request->gpus)
        return home->members;
#endif
    const uint64_t counted = count_members(tree, queue, request);
    const uint32_t members = counted < UINT32_MAX ? (uint32_t)counted : UINT32_MAX;
    assert(home->seen != now || home->gpus != request->gpus || home->members == members);
    *home = (struct cell_home){now, request->gpus, members};
    return members;
}

/* Are enough GPUs free now, outside the cells of other queues, for the whole GPUs that the members ask for? */
static bool is_free(struct queue_tree *tree, queue_id queue, const struct job_group *group)
{
    struct ledger *ledger = tree->ledger;
    cells_index(ledger);
    uint64_t members = 0;
    for (node_id n = 0; n < ledger->cluster->node_count && members < group->count; n++) {
        const uint16_t free = ledger->index->free_mask[n];
        if (bits_count16(free) < group->request.gpus)
            continue;
        const uint16_t others = gpus_in_use(ledger, n, QUEUE_NONE) & (uint16_t)~gpus_in_use(ledger, n, queue);
        members += bits_count16(free & (uint16_t)~others) / group->request.gpus;
    }
    return members >= group->count;
}

bool cells_have_room(struct queue_tree *tree, queue_id queue, const struct request_class *request_class, bool is_now)
{
    if (!tree->ledger->are_cells_placed || request_class->is_preemptible)
        return true;
    const struct job_group *group = only_group(request_class);
    if (group == NULL)
        return true;
    const struct request *request = &group->request;
    const bool is_whole = request->gpus > 0 && request->gpus <= NODE_GPUS_MAX;
    const uint64_t members = is_whole ? members_now(tree, queue, request) : count_members(tree, queue, request);
    return members >= group->count && (!is_now || request->gpus == 0 || is_free(tree, queue, group));
}
