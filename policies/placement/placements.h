/* policies/placement/placements.h -- the placement policies there are; a new one adds a line here and in registry.c. */
#ifndef POLICIES_PLACEMENTS_H
#define POLICIES_PLACEMENTS_H

#include "policies/placement/placement.h"

extern const struct placement_policy placement_best_fit;
extern const struct placement_policy placement_binpack;
extern const struct placement_policy placement_buddy;
extern const struct placement_policy placement_first_fit;
extern const struct placement_policy placement_gather;
extern const struct placement_policy placement_least_allocated;
extern const struct placement_policy placement_least_allocated_gpus;
extern const struct placement_policy placement_pack;
extern const struct placement_policy placement_spread;
extern const struct placement_policy placement_strict_pack;
extern const struct placement_policy placement_strict_spread;
extern const struct placement_policy placement_worst_fit;

/* What best_fit says of a spot: from -(GPU_MILLI + 1) * (NODE_GPUS_MAX + 1) to 0. */
int64_t placement_fit_score(const struct spot *spot);

#endif
