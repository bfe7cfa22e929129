/* policies/quota/cells.h -- buddy cells: aligned runs of 1, 2, 4, 8 or 16 GPUs of a node.
 *
 * A cell of level l is 2^l GPUs from an index that is a multiple of 2^l.  The maximal cells of a mask of GPUs are those
 * inside the mask that lie in no larger cell inside it.  So to split a cell or to merge two free buddies is only to
 * clear or set bits.  A node whose number of GPUs is not a power of two is several cells (6: one of 4, one of 2).
 *
 *   uint16_t gpus = cells_choose(free_mask, 3);      3 GPUs of the smallest free cell of 4 or more
 */
#ifndef POLICIES_CELLS_H
#define POLICIES_CELLS_H

#include "policies/jobs/request_class.h"
#include "policies/queues/queues.h"

enum { CELL_LEVELS = 5 }; /* 2^0 .. 2^4 = NODE_GPUS_MAX */

/* The level of the smallest cell that has `gpus` GPUs; gpus: 1..NODE_GPUS_MAX. */
static inline uint32_t cells_level(uint32_t gpus)
{
    return gpus <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(gpus - 1);
}

/* The cells of that level inside the mask, as bits of their first GPUs: all, or only the maximal ones. */
uint16_t cells_inside(uint16_t mask, uint32_t level);
uint16_t cells_maximal(uint16_t mask, uint32_t level);

/* How well `gpus` GPUs fit: the level of the smallest maximal cell that has as many.  If no cell has, CELL_LEVELS plus
 * the level of the smallest aligned window that has.  CELL_NOWHERE: the mask has fewer GPUs. */
enum { CELL_NOWHERE = 2 * CELL_LEVELS };
uint32_t cells_fit(uint16_t mask, uint32_t gpus);

/* The lowest GPUs of the cell, or of the window, that cells_fit found; 0: the mask has fewer GPUs. */
uint16_t cells_choose(uint16_t mask, uint32_t gpus);

/* ---- cells of queues; the state of the quota policy `cells` */

struct cells_state {
    uint32_t owned[CELL_LEVELS]; /* cells cut from its quota */
    uint32_t loose[CELL_LEVELS]; /* those of them without a place: each possible place is broken */
    bool is_cut_short;           /* the cluster has too few cells for its quota, or the quota is unlimited */
    uint64_t cut;                /* of the root only: hash of the quotas that were cut */
};

static inline struct cells_state *cells_of(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

/* Is the queue a virtual cluster (a leaf)? */
static inline bool cells_is_cluster(const struct queue_tree *tree, queue_id queue)
{
    return queue != QUEUE_ROOT && tree->queues[queue].first_child == QUEUE_NONE;
}

/* Cut every quota into cells, if a quota has changed since the last call; returns whether one has.  O(queues); O(cells)
 * if one has. */
bool cells_cut(struct queue_tree *tree);

/* Give each cell a place.  Cells in use stay.  The others go where the fewest busy GPUs are in their way; those of
 * `first` are placed before those of the other queues.  Not in trials, and not during a plan. */
void cells_assign(struct queue_tree *tree, queue_id first);

/* As cells_assign, but the places are computed when they are read (cells_settle), and then from what was free at this
 * call.  The next call replaces one that nothing has read.  The quotas were cut before.  O(1); O(nodes) if the ledger
 * has changed since the last call. */
void cells_assign_later(struct queue_tree *tree, queue_id first);

/* Compute the places that were put off, if any.  Called before cells are read or saved.  Allowed in trials. */
void cells_settle(struct queue_tree *tree);

/* A guaranteed job is about to come or go: places that were put off are computed, since which cells are in use depends
 * on these jobs. */
void cells_firm_changes(struct queue_tree *tree);

/* False only if a guaranteed job of the request class, in one group of whole GPUs or of shares, surely finds no place
 * in the cells of its queue, even if all opportunistic jobs leave, and wherever the cells not in use go.  It
 * counts what is empty in the queue's cells in use, with as many GPUs of its other cells beside them as there is room
 * for.  is_now: also if such a job of whole GPUs surely finds no place as things are: too few are free outside the
 * cells that other queues have in use.  Reads no place that was put off.  True if a cut of the quotas has not been
 * followed by places.  O(nodes of the queue's cells), for whole GPUs O(1) while no guaranteed job comes or goes; is_now
 * O(nodes). */
bool cells_have_room(struct queue_tree *tree, queue_id queue, const struct request_class *request_class, bool is_now);

/* The GPUs, by node, where a guaranteed job of this request class may go; borrowed until the next call.  They depend
 * only on the nodes of the queue's cells, so *keeper is the queue. */
const uint16_t *cells_confine(struct queue_tree *tree, queue_id queue, const struct request_class *request_class,
                              queue_id *keeper);

#endif
