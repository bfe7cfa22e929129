/* policies/placement/gpu_choice.h -- which of a node's free GPUs a member gets.
 *
 * Words.  An island is the GPUs of a node that share NVLink (those without NVLink count as one island); a NUMA node is
 * those next to one part of the node's CPUs (struct node_pool).  Both are told by numbers, one a GPU.
 *
 * Law of `near`: of all choices of that number of free GPUs it is the one on the fewest islands; of these, on the
 * fewest NUMA nodes; of these, whose islands have the fewest GPUs free; of these, whose NUMA nodes have; of these, the
 * one of the lowest indices.  On a node of one island and one NUMA node that is the lowest GPUs.
 *
 * Law of `rails`: of all choices of that number of free GPUs it is the one with the most of those that the job has on
 * its first other node, of these the one of the lowest indices.  The first node of a job, and what comes to it later,
 * gets the lowest.  It fails where the first node leaves GPUs that are taken elsewhere: it is not chosen for what
 * others have free.
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

/* Those of the mask on one island that has `count` of them: of such islands that with the fewest, then the lowest; 0 if
 * there is none.  Islands are runs of island_gpus GPUs (struct node_type). */
uint16_t gpu_choice_island(uint32_t island_gpus, uint16_t mask, uint32_t count);

/* count: at most as many as the mask has. */
uint16_t gpu_choice_near(const struct node_pool *pool, uint16_t free_mask, uint32_t count);

/* wanted: GPUs of another node that the job has.  count: at most as many as free_mask has. */
uint16_t gpu_choice_rails(uint16_t free_mask, uint16_t wanted, uint32_t count);

/* For a share: of the GPUs that are as good, one whose NUMA node is in part used already, else any; the lowest of
 * these. equal: not 0; all_free, gpus: the node's GPUs that nobody uses, and all it has. */
uint16_t gpu_choice_share(const struct node_pool *pool, uint16_t equal, uint16_t all_free, uint16_t gpus);

#endif
