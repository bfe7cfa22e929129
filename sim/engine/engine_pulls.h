/* sim/engine/engine_pulls.h -- cold starts: what jobs pull onto their nodes, where the engine meets sim/caches/pulls.h.
 *
 * Only with world.cold_starts; else `engine->pulls` is NULL, and nothing but the first two is called.  A job pulls each
 * time that it begins to run, on the nodes that it holds then; what it pulled stays pinned there until it stops.
 * Members that join later cost nothing.  If members leave while it pulls, it waits for the pulls on their nodes too.
 *
 * It does not: keep the phases of jobs (engine_saves.h), which calls it.
 */
#ifndef SIM_ENGINE_ENGINE_PULLS_H
#define SIM_ENGINE_ENGINE_PULLS_H

#include "sim/engine/engine_state.h"

void engine_pulls_open(struct engine *engine); /* before the first job; decides whether `pulls` is NULL */
void engine_pulls_release(struct engine *engine);

/* Find what a job that is submitted pulls. */
void engine_pulls_asks(struct engine *engine, uint32_t slot, const struct job *job, struct job_names names);
const struct job_objects *engine_pulls_objects(const struct engine *engine, uint32_t slot); /* NULL: nothing */

bool engine_pulls_begin(struct engine *engine, uint32_t slot); /* it begins to run; true: all is there */
void engine_pulls_stop(struct engine *engine, uint32_t slot);  /* it does not run any more */
void engine_pulls_event(struct engine *engine, uint32_t generation);
bool engine_pulls_are_due(const struct engine *engine, uint32_t generation); /* the event is the last that was pushed */

const struct pull_row *engine_pulls_row(struct engine *engine, uint32_t slot); /* until the next call */

#endif
