/* sim/scenario/world_read.h -- reads the "world" of a scenario.  docs/scenario.md lists its keys.
 *
 * It does not: define what they mean (sim/engine/engine.h).
 */
#ifndef SIM_SCENARIO_WORLD_READ_H
#define SIM_SCENARIO_WORLD_READ_H

#include "base/json.h"
#include "sim/engine/engine.h"

/* value->node NULL: the defaults.  classes: the names of the workload's classes, NULL-terminated; NULL: they are not
 * known yet.  What the world points to lies in the arena.  Fails through the sticky error. */
void world_config_read(struct world_config *world, const struct json_value *value, struct arena *arena,
                       const char *const *classes);

#endif
