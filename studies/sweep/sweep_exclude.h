/* studies/sweep/sweep_exclude.h -- the combinations that a sweep leaves out, and what a value is called.
 *
 *   "exclude": [{"policy": "fifo", "load": [0.9, 1.1]}, {"load": {"min": 1.0}}]
 *
 * An entry names factors: by a level, by a list of levels, or, where the levels are numbers, by the bounds `min` and
 * `max`, which are inclusive.  It matches a combination if it matches the level of each factor that it names.
 *
 * Law: an entry that names no factor, an unknown factor or an unknown level is an error, and so is an `exclude` that
 * leaves nothing.
 */
#ifndef STUDIES_SWEEP_SWEEP_EXCLUDE_H
#define STUDIES_SWEEP_SWEEP_EXCLUDE_H

#include "base/json.h"
#include "studies/sweep/sweep_file.h"

/* Remove combinations from the file.  value->node NULL: none.  Fails through the sticky error. */
void sweep_exclude(struct sweep_file *file, const struct json_value *value);

/* A string as it is, another value as canonical JSON. */
const char *sweep_value_name(json_t *node, struct arena *arena);

#endif
