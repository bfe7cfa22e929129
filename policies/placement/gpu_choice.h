/* policies/placement/gpu_choice.h -- which of a node's free GPUs a member gets.
 *
 * Words.  An island is the GPUs of a node that share NVLink (GPUs without NVLink count as one island).  A NUMA node is
 * the GPUs next to one part of the node's CPUs (struct node_pool).  For both, each GPU has a number.
 *
 * Law of `near`: among all choices of that many free GPUs, it takes the one with the fewest islands; then with the
 * fewest NUMA nodes; then the one whose islands have the fewest free GPUs; then whose NUMA nodes have the fewest; then
 * the one with the lowest indices.  On a node with one island and one NUMA node these are the lowest GPUs.
 *
 * Law of `rails`: among all choices of that many free GPUs, it takes the one with the most GPUs that the job also has
 * on its first other node; then the one with the lowest indices.  On the first node of a job it takes the lowest GPUs.
 * Known failure: the GPUs of the first node may be in use on the other nodes; the first choice does not look at them.
 *
 *   uint16_t mask = gpu_choice_near(pool, free_mask, 4);
 *
 * Cost: O(1) on nodes of one island and one NUMA node; else a few steps for each set of islands and NUMA
 * nodes.
 */
#ifndef POLICIES_GPU_CHOICE_H
#define POLICIES_GPU_CHOICE_H

#include "topologies/cluster.h"

/* The lowest `count` of the mask. */
uint16_t gpu_choice_lowest(uint16_t mask, uint32_t count);

/* The GPUs of the mask on one island that has at least `count` of them: of such islands the one with the fewest, then
 * the lowest.  0: there is none.  Islands are runs of island_gpus GPUs (struct node_type). */
uint16_t gpu_choice_island(uint32_t island_gpus, uint16_t mask, uint32_t count);

/* count: at most as many as the mask has. */
uint16_t gpu_choice_near(const struct node_pool *pool, uint16_t free_mask, uint32_t count);

/* wanted: the GPUs that the job has on another node.  count: at most as many as free_mask has. */
uint16_t gpu_choice_rails(uint16_t free_mask, uint16_t wanted, uint32_t count);

/* For a share: the lowest GPU of `equal` (equally good GPUs; not 0) whose NUMA node is in use in part; if there is
 * none, the lowest.  all_free: the node's GPUs that are wholly free; gpus: all its GPUs. */
uint16_t gpu_choice_share(const struct node_pool *pool, uint16_t equal, uint16_t all_free, uint16_t gpus);

#endif
