/* policies/placement/placements.h -- the built-in placement policies; a new one adds a line here and in registry.c. */
#ifndef POLICIES_PLACEMENTS_H
#define POLICIES_PLACEMENTS_H

#include "policies/placement/placement.h"

extern const struct placement_policy placement_best_fit;
extern const struct placement_policy placement_binpack;
extern const struct placement_policy placement_buddy;
extern const struct placement_policy placement_dot_product;
extern const struct placement_policy placement_fastest;
extern const struct placement_policy placement_fgd;
extern const struct placement_policy placement_first_fit;
extern const struct placement_policy placement_gather;
extern const struct placement_policy placement_gpu_clustering;
extern const struct placement_policy placement_gpu_packing;
extern const struct placement_policy placement_least_allocated;
extern const struct placement_policy placement_least_allocated_gpus;
extern const struct placement_policy placement_pack;
extern const struct placement_policy placement_random;
extern const struct placement_policy placement_spread;
extern const struct placement_policy placement_strict_pack;
extern const struct placement_policy placement_strict_spread;
extern const struct placement_policy placement_topology;
extern const struct placement_policy placement_weighted_best_fit;
extern const struct placement_policy placement_weighted_binpack;
extern const struct placement_policy placement_worst_fit;

/* placement_free_milli: free milli of all GPUs of the spot's node.  placement_asked_milli: what the member takes. */
int64_t placement_free_milli(const struct spot *spot);
int64_t placement_asked_milli(const struct spot *spot);

struct node_size {
    int64_t cpu_milli, gpu_milli;
};
/* The most that any node has of each.  O(node types). */
struct node_size placement_largest_node(const struct cluster *cluster);

/* The score of best_fit: from -(GPU_MILLI + 1) * (NODE_GPUS_MAX + 1) to 0. */
int64_t placement_fit_score(const struct spot *spot);

#endif
