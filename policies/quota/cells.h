/* policies/quota/cells.h -- buddy cells: aligned runs of 1, 2, 4, 8 or 16 GPUs of a node.
 *
 * A cell of level l is 2^l GPUs from an index that is a multiple of 2^l.  Of a mask of GPUs the maximal cells are
 * those that lie wholly in it and in no larger one that does; splitting a cell and merging two free buddies are then
 * nothing but taking and giving bits.  A node whose number of GPUs is no power of two is several cells (6: one of 4,
 * one of 2).
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

/* The cells of that level inside the mask, as bits of their first GPUs; all, or the maximal ones alone. */
uint16_t cells_inside(uint16_t mask, uint32_t level);
uint16_t cells_maximal(uint16_t mask, uint32_t level);

/* How well `gpus` GPUs fit: the level of the smallest maximal cell that has them; if no cell has, CELL_LEVELS and more:
 * how far apart they would be; CELL_NOWHERE: the mask has fewer. */
enum { CELL_NOWHERE = 2 * CELL_LEVELS };
uint32_t cells_fit(uint16_t mask, uint32_t gpus);

/* The lowest GPUs of the cell that cells_fit means, or of the smallest aligned window that has enough; 0: none. */
uint16_t cells_choose(uint16_t mask, uint32_t gpus);

/* ---- cells of queues; the state of the quota policy `cells` */

struct cells_state {
    uint32_t owned[CELL_LEVELS]; /* cells cut from its quota */
    uint32_t loose[CELL_LEVELS]; /* of them, those that are nowhere: every place they could have is broken */
    bool is_cut_short;           /* the cluster has not what its quota says, or that is unlimited */
    uint64_t cut;                /* of the root alone: hash of the quotas that were cut */
};

static inline struct cells_state *cells_of(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

/* Is it a virtual cluster? */
static inline bool cells_is_cluster(const struct queue_tree *tree, queue_id queue)
{
    return queue != QUEUE_ROOT && tree->queues[queue].first_child == QUEUE_NONE;
}

/* Cut every quota into cells, if a quota has changed since.  O(queues), and O(cells) when it has. */
void cells_cut(struct queue_tree *tree);

/* Give each cell a place: one in use stays, the others go where least is in their way, those of `first` before the
 * other queues'.  Outside of trials, and not while a plan is being made. */
void cells_assign(struct queue_tree *tree, queue_id first);

/* The GPUs, by node, where a guaranteed job of this request class may go; borrowed until the next call.  They follow
 * from the nodes of the queue's cells alone: *keeper is the queue. */
const uint16_t *cells_confine(struct queue_tree *tree, queue_id queue, const struct request_class *request_class,
                              queue_id *keeper);

#endif
