/* policies/quota/cells_index.h -- where the cells of each queue are, without asking every GPU of the cluster.
 *
 * Words.  A GPU is kept if it is part of a queue's cell (struct gpu_keep); a row says which GPUs of a node one queue
 * keeps.
 *
 * Laws
 *  - It holds nothing that the ledger's keeps do not say: it is made when first asked for and not saved.
 *  - The function that gives a GPU another keeper reports it (cells_index_keep): that voids the rows, which are drawn
 *    anew when they are asked for next.
 *
 *   struct cell_rows own = cells_index_rows(ledger, queue);
 *   for (uint32_t r = 0; r < own.count; r++) ... own.rows[r].node ...
 *
 * Cost: O(GPUs) to draw the rows, once after cells have moved; else O(1).
 */
#ifndef POLICIES_CELLS_INDEX_H
#define POLICIES_CELLS_INDEX_H

#include "base/bits.h"
#include "policies/ledger/ledger.h"
#include "policies/quota/cells.h"

struct cell_row { /* what a queue keeps of a node */
    node_id node;
    uint16_t gpus;
};

struct cell_rows { /* of a queue, by node */
    const struct cell_row *rows;
    uint32_t count;
};

/* What a place costs: of what would be split, then of what is busy. */
enum { CELL_COST_LEVEL = NODE_GPUS_MAX + 1, CELL_COSTS = (CELL_LEVELS - 1) * CELL_COST_LEVEL + NODE_GPUS_MAX + 1 };

struct cell_place { /* the best of a node */
    uint8_t cost, first;
};

struct cell_index {
    uint16_t *kept; /* by node */
    bool has_rows;  /* they are of the keepers as they are */
    struct cell_row *rows;
    struct {
        uint32_t first, count;
    } * spans; /* by queue: of its rows */
    uint32_t span_count, span_capacity;
    struct cell_place *places; /* room for cells_assign: by node, and the nodes by cost; empty between calls */
    struct bits by_cost[CELL_COSTS];
};

struct cell_index *cells_index(struct ledger *ledger);

/* These GPUs of the node have the keeper now; the index was asked for before. */
void cells_index_keep(struct ledger *ledger, node_id node, uint16_t gpus, queue_id keeper);

/* Borrowed until a cell moves. */
struct cell_rows cells_index_rows(struct ledger *ledger, queue_id queue);

/* NULL if it says what the keeps say, else what is broken.  O(GPUs). */
const char *cells_index_check(const struct ledger *ledger);

#endif
