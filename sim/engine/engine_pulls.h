/* sim/engine/engine_pulls.h -- cold starts, a part: what jobs pull onto their nodes, where the engine meets
 * sim/caches/pulls.h.
 *
 * Only with world.cold_starts; else nothing here may be called.  A job pulls each time that it begins to run, on the
 * nodes that it holds then; what it pulled stays pinned there until it stops.  Members that join later cost nothing.
 * If members leave while it pulls, it waits for the pulls on their nodes too.
 *
 * It does not: keep the phases of jobs (engine_saves.c), which calls it and has its events.
 */
#ifndef SIM_ENGINE_ENGINE_PULLS_H
#define SIM_ENGINE_ENGINE_PULLS_H

#include "sim/engine/engine_state.h"

bool engine_pulls_begin(struct engine *engine, uint32_t slot); /* it begins to run; true: all is there */

/* The next job that has all that it pulls by now; false: there is none.  After the event of the pulls, until false. */
bool engine_pulls_take(struct engine *engine, uint32_t *slot);
bool engine_pulls_are_due(const struct engine *engine, uint32_t generation); /* the event is the last that was pushed */

#endif
