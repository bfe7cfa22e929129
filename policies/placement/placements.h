/* policies/placement/placements.h -- the placement policies there are; a new one adds a line here and in registry.c. */
#ifndef POLICIES_PLACEMENTS_H
#define POLICIES_PLACEMENTS_H

#include "policies/placement/placement.h"

extern const struct placement_policy placement_best_fit;
extern const struct placement_policy placement_first_fit;
extern const struct placement_policy placement_worst_fit;

#endif
