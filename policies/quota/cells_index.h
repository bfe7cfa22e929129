/* policies/quota/cells_index.h -- finds the cells of each queue without a look at every GPU of the cluster.
 *
 * Words.  A GPU is kept if it is part of a queue's cell (struct gpu_keep).  A row is the GPUs of one node that one
 * queue keeps (struct home_row).
 *
 * Laws
 *  - It can be computed from the ledger's keeps: it is made at the first use.
 *  - The function that changes the keeper of a GPU reports it (cells_index_keep).  That voids the rows, which are
 *    computed again at the next use.
 *  - Places that were put off (cells_assign_later) are not in the keeps yet: read the rows after cells_settle.
 *
 *   struct home_rows own = cells_index_rows(ledger, queue);
 *   for (uint32_t r = 0; r < own.count; r++) ... own.rows[r].node ...
 *
 * Cost: O(GPUs) to compute the rows, once after cells have moved; else O(1).
 */
#ifndef POLICIES_CELLS_INDEX_H
#define POLICIES_CELLS_INDEX_H

#include "base/bits.h"
#include "policies/quota/cells.h"
#include "policies/quota/quota.h"

/* The cost of a place: first how many levels are split, then how many GPUs are busy. */
enum { CELL_COST_LEVEL = NODE_GPUS_MAX + 1, CELL_COSTS = (CELL_LEVELS - 1) * CELL_COST_LEVEL + NODE_GPUS_MAX + 1 };

struct cell_place { /* the best place on a node */
    uint8_t cost, first;
};

/* A call of cells_assign_later, and what it saw by node. */
struct cells_due {
    bool is_due, has_seen;
    queue_id first;
    uint64_t change_count; /* of the ledger, when it was seen */
    uint16_t *open;        /* GPUs that a cell may get if nothing else is there */
    uint16_t *free;        /* GPUs that were free */
};

struct cell_home { /* what cells_have_room found last for a queue and a level of cells */
    uint64_t seen; /* firm_changes + 1 when it was found; 0: never */
    uint32_t gpus, members;
};

struct cell_index {
    struct cells_due due;
    uint16_t *kept; /* by node: the kept GPUs */
    bool has_rows;  /* the rows agree with the present keepers */
    struct home_row *rows;
    struct {
        uint32_t first, count;
    } * spans; /* by queue: the range of its rows */
    uint32_t span_count, span_capacity;
    uint64_t firm_changes; /* counts the changes of keepers, of guaranteed jobs on GPUs, and of owned cells */
    struct cell_home (*homes)[CELL_LEVELS]; /* by queue */
    uint32_t home_capacity;
    struct cell_place *places; /* scratch of cells_assign: places by node, and nodes by cost; empty between calls */
    struct bits by_cost[CELL_COSTS];
};

struct cell_index *cells_index(struct ledger *ledger);

/* These GPUs of the node have another keeper now.  cells_index was called before. */
void cells_index_keep(struct ledger *ledger, node_id node, uint16_t gpus, queue_id keeper);

/* Does the cell's queue have a guaranteed job in it, and no other queue?  keeps: of the cell's node. */
bool cells_is_in_use(const struct gpu_keep *keeps, uint32_t first, uint32_t level);

/* Borrowed until a cell moves. */
struct home_rows cells_index_rows(struct ledger *ledger, queue_id queue);

/* NULL: the index agrees with the keeps; else what is wrong.  O(GPUs). */
const char *cells_index_check(const struct ledger *ledger);

#endif
