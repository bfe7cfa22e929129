/* sim/engine/engine_moment.h -- moments inside the engine: engine_moment.c (the whole), engine_moment_job.c (one job)
 * and engine_adopt.c (another policy takes over). */
#ifndef SIM_ENGINE_ENGINE_MOMENT_H
#define SIM_ENGINE_ENGINE_MOMENT_H

#include "policies/util/archive.h"
#include "sim/engine/engine_state.h"

/* An error if moments are asked for, or one is given, and that cannot be.  Before the first job. */
struct error engine_moment_check(const struct engine_config *config) MUST_CHECK;
/* Save the world and the scheduler at `now`, and hand them to on_moment. */
struct error engine_moment_save(struct engine *engine) MUST_CHECK;
/* Begin at config->fork instead of at 0, with the scheduler that was saved or with another one. */
struct error engine_moment_load(struct engine *engine) MUST_CHECK;

/* One job that waits or runs, in its slot.  job: NULL when saving; when loading, its declaration, which the slot is
 * prepared for (engine_know). */
void engine_moment_job(struct archive *archive, struct engine *engine, uint32_t slot, const struct job *job);

/* Tell a new scheduler of the layouts of the GPUs; of a job that runs or waits; and test that it took them. */
struct error engine_adopt_gpus(struct engine *engine) MUST_CHECK;
struct error engine_adopt_job(struct engine *engine, uint32_t slot, const struct job *job) MUST_CHECK;

static inline bool moment_is_time(time_ns at)
{
    return (at >= -1 && at <= SCHED_TIME_MAX) || at == TIME_NEVER;
}

#endif
