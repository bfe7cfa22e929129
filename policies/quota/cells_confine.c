/* Where a guaranteed job may go: the smallest cells of its queue that have room.
 *
 * Opportunistic jobs in the cells do not count, so that a queue does not break a large cell of its own because an
 * opportunistic job is in a small one.  Of cells larger than the job needs, only as many are opened as it takes.
 * Cost: O(nodes where the queue has cells); O(GPUs) once after cells have moved. */
#include <string.h>

#include "policies/quota/cells_index.h"

struct need { /* a number of cells of a level */
    uint32_t level, count;
};

/* The GPUs of the row that hold no guaranteed job. */
static uint16_t empty_gpus(const struct ledger *ledger, const struct home_row *row)
{
    return row->gpus & (uint16_t)~ledger->non_preemptible_mask[row->node];
}

static uint16_t cell_gpus(uint32_t first, uint32_t level)
{
    return (uint16_t)(((1u << (1u << level)) - 1) << first);
}

/* Open all cells of the level without a guaranteed job. */
static void open_level(struct ledger *ledger, struct home_rows own, uint32_t level)
{
    for (uint32_t r = 0; r < own.count; r++)
        for (uint16_t cells = cells_maximal(empty_gpus(ledger, &own.rows[r]), level); cells != 0;
             cells &= (uint16_t)(cells - 1))
            ledger->keep_mask[own.rows[r].node] |= cell_gpus((uint32_t)__builtin_ctz(cells), level);
}

/* Open `count` cells of the level without a guaranteed job, wholly free cells first. */
static void open_some(struct ledger *ledger, struct home_rows own, uint32_t level, uint32_t count)
{
    for (int sweep = 0; sweep < 2; sweep++)
        for (uint32_t r = 0; r < own.count && count > 0; r++) {
            const node_id n = own.rows[r].node;
            for (uint16_t cells = cells_maximal(empty_gpus(ledger, &own.rows[r]), level); cells != 0 && count > 0;
                 cells &= (uint16_t)(cells - 1)) {
                const uint16_t gpus = cell_gpus((uint32_t)__builtin_ctz(cells), level);
                const bool is_free = (gpus & ~ledger->index->free_mask[n]) == 0;
                if (is_free != (sweep == 0))
                    continue;
                ledger->keep_mask[n] |= gpus;
                count--;
            }
        }
}

static void open_all(struct ledger *ledger, struct home_rows own)
{
    for (uint32_t r = 0; r < own.count; r++)
        ledger->keep_mask[own.rows[r].node] = own.rows[r].gpus;
}

static void open_cells(struct ledger *ledger, struct home_rows own, struct need need)
{
    uint32_t cells[CELL_LEVELS] = {0};
    for (uint32_t r = 0; r < own.count; r++) {
        const uint16_t empty = empty_gpus(ledger, &own.rows[r]);
        for (uint32_t l = need.level; l < CELL_LEVELS && empty != 0; l++)
            cells[l] += bits_count16(cells_maximal(empty, l));
    }
    for (uint32_t l = need.level; l < CELL_LEVELS; l++) {
        uint32_t shift = l - need.level, wanted = (need.count + (1u << shift) - 1) >> shift;
        if (wanted <= cells[l]) {
            open_some(ledger, own, l, wanted);
            return;
        }
        open_level(ledger, own, l);
        need.count -= cells[l] << shift;
    }
    open_all(ledger, own); /* no cell is large enough: open all */
}

const uint16_t *cells_confine(struct queue_tree *tree, queue_id queue, const struct request_class *request_class,
                              queue_id *keeper)
{
    struct ledger *ledger = tree->ledger;
    cells_settle(tree);
    const struct home_rows own = cells_index_rows(ledger, queue);
    uint32_t groups = 0, group = 0;
    memset(ledger->keep_mask, 0, ledger->cluster->node_count * sizeof *ledger->keep_mask);
    *keeper = queue;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_class->groups[g].count > 0) {
            groups++;
            group = g;
        }
    const struct request *request = &request_class->groups[group].request;
    if (groups == 1 && request->gpus > 0)
        open_cells(ledger, own, (struct need){cells_level(request->gpus), request_class->groups[group].count});
    else
        open_all(ledger, own);
    return ledger->keep_mask;
}
