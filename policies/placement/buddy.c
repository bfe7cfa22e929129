/* buddy.  GPUs form cells of 1, 2, 4, 8 or 16 with aligned indices.  A member gets GPUs of the smallest free cell that
 * is large enough, on the fullest node that has such a cell.  Larger cells are split only if there is none.  Works
 * where sizes are powers of two: freed cells merge again, and whole nodes become free.  A member of another size leaves
 * the rest of its cell to smaller members.  A member that fits no free cell takes GPUs as close together as possible.
 * Source: Knuth, TAOCP 1, 2.5 (the buddy system); HiveD (OSDI 2020) for cells of GPUs.  Departures from HiveD: cells
 * end at the node; a gang goes to few racks only if it asks for that in its topology.  Shares are placed as best_fit
 * does.
 * Cost: O(nodes with room) a member at worst; a node with a cell of exactly the right size ends the search. */
#include "policies/placement/placements.h"
#include "policies/quota/cells.h"

/* The fit counts more than how full the node is. */
static int64_t worth(uint32_t fit, int32_t free_count)
{
    return -((int64_t)fit * (NODE_GPUS_MAX + 1) + free_count);
}

static int64_t score(const struct spot *spot)
{
    if (spot->gpus == 0)
        return placement_fit_score(spot);
    uint16_t free = ledger_usable(spot->ledger, spot->node, spot->allowed);
    uint32_t fit = cells_fit(free, (uint32_t)spot->gpus);
    return fit == CELL_NOWHERE ? SPOT_NEVER : worth(fit, spot->node_free);
}

static int64_t bound(const struct spot *spot)
{
    if (spot->gpus == 0)
        return placement_fit_score(spot);
    uint32_t level = cells_level((uint32_t)spot->gpus);
    bool may_be_cell = spot->node_free >= 1 << level;
    return worth(may_be_cell ? level : CELL_LEVELS + level, spot->node_free);
}

const struct placement_policy placement_buddy = {
    .name = "buddy",
    .version = 1,
    .summary = "aligned cells of GPUs, the smallest that has room; freed cells merge, so that large "
               "ones come back",
    .score = score,
    .looks_at_nodes = true,
    .bound = bound,
    .choose_gpus = cells_choose,
};
