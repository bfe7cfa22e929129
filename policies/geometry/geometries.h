/* policies/geometry/geometries.h -- the geometry policies there are; a new one adds a line here and in registry.c. */
#ifndef POLICIES_GEOMETRIES_H
#define POLICIES_GEOMETRIES_H

#include "policies/geometry/geometry.h"

extern const struct geometry_policy geometry_static, geometry_on_demand;

/* A score that keeps room for large instances: first a GPU that is partitioned already, then the place after which the
 * most places are left, each counted by its slices, then the fewest instances destroyed. */
int64_t geometry_keeps_room(const struct cut_place *place);

#endif
