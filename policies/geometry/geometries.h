/* policies/geometry/geometries.h -- the geometry policies there are; a new one adds a line here and in registry.c. */
#ifndef POLICIES_GEOMETRIES_H
#define POLICIES_GEOMETRIES_H

#include "policies/geometry/geometry.h"

extern const struct geometry_policy geometry_static, geometry_on_demand;

#endif
