/* Where a guaranteed job may go: the smallest cells of its queue that have room, whoever opportunistic is in them.
 *
 * The choice is made as if nobody opportunistic were there, so that a queue does not break a large cell of its own
 * just because a guest is in a small one.  Of cells larger than the job needs no more are opened than it takes.
 * Cost: O(GPUs). */
#include "policies/quota/cells.h"

#include <string.h>

struct need { /* so many cells of a level */
    uint32_t level, count;
};

/* GPUs of the node in cells of the queue; those alone without a guaranteed job on them, or all. */
static uint16_t own_gpus(const struct ledger *ledger, node_id node, queue_id queue,
                         bool empty_alone)
{
    const struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
    uint16_t mask = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        if (keeps[i].keeper == queue && !(empty_alone && keeps[i].firm_holders > 0))
            mask |= (uint16_t)(1u << i);
    return mask;
}

/* All cells of the level that are empty of guaranteed jobs are open. */
static void open_level(struct ledger *ledger, queue_id queue, uint32_t level)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        for (uint16_t cells = cells_maximal(own_gpus(ledger, n, queue, true), level); cells != 0;
             cells &= (uint16_t)(cells - 1))
            ledger->keep_mask[n] |= (uint16_t)(((1u << (1u << level)) - 1) << __builtin_ctz(cells));
}

/* So many cells of the level, those first in which nobody is. */
static void open_some(struct ledger *ledger, queue_id queue, uint32_t level, uint32_t count)
{
    for (int sweep = 0; sweep < 2; sweep++)
        for (node_id n = 0; n < ledger->cluster->node_count && count > 0; n++)
            for (uint16_t cells = cells_maximal(own_gpus(ledger, n, queue, true), level);
                 cells != 0 && count > 0; cells &= (uint16_t)(cells - 1)) {
                uint32_t gpus = ((1u << (1u << level)) - 1) << __builtin_ctz(cells);
                bool is_free = (gpus & (uint32_t)~ledger->index->free_mask[n]) == 0;
                if (is_free != (sweep == 0))
                    continue;
                ledger->keep_mask[n] |= (uint16_t)gpus;
                count--;
            }
}

static void open_all(struct ledger *ledger, queue_id queue)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        ledger->keep_mask[n] = own_gpus(ledger, n, queue, false);
}

static void open_cells(struct ledger *ledger, queue_id queue, struct need need)
{
    uint32_t cells[CELL_LEVELS] = {0};
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const uint16_t own = own_gpus(ledger, n, queue, true);
        for (uint32_t l = need.level; l < CELL_LEVELS && own != 0; l++)
            cells[l] += bits_count16(cells_maximal(own, l));
    }
    for (uint32_t l = need.level; l < CELL_LEVELS; l++) {
        uint32_t shift = l - need.level, wanted = (need.count + (1u << shift) - 1) >> shift;
        if (wanted <= cells[l]) {
            open_some(ledger, queue, l, wanted);
            return;
        }
        open_level(ledger, queue, l);
        need.count -= cells[l] << shift;
    }
    open_all(ledger, queue); /* they are broken: as it can */
}

const uint16_t *cells_confine(struct queue_tree *tree, queue_id queue, const struct shape *shape)
{
    struct ledger *ledger = tree->ledger;
    uint32_t groups = 0, group = 0;
    memset(ledger->keep_mask, 0, ledger->cluster->node_count * sizeof *ledger->keep_mask);
    for (uint32_t g = 0; g < shape->group_count; g++)
        if (shape->groups[g].count > 0) {
            groups++;
            group = g;
        }
    const struct request *request = &shape->groups[group].request;
    if (groups == 1 && request->gpus > 0)
        open_cells(ledger, queue,
                   (struct need){cells_level(request->gpus), shape->groups[group].count});
    else
        open_all(ledger, queue);
    return ledger->keep_mask;
}
