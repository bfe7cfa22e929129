/* sim/engine/engine_activity.h -- the SM activity of jobs whose kind declares it (workload.activity), integrated: a
 * part.  What a monitor measures of it is below.
 *
 * A job that runs has a process (workloads/activity/activity.h).  Nothing waits for its next change: the process is
 * carried on when a row needs its integral or the job's pieces change.  The integrals are sums of level x time over
 * whole nanoseconds, so they are exact however seldom that is.
 *
 * Laws
 *  - Activity changes no decision, no end and no event: a run with and without it has the same fingerprint.
 *  - LEVEL_ACTIVE holds milli-GPU x milli-activity of all jobs, LEVEL_IDLE the milli-GPUs of running jobs at level 0.
 *  - Where jobs have phases (engine_saves.c), a job that does no work (it pulls, writes, loads or warms up) keeps no SM
 *    busy, and is not idle: it is in neither level.  Its process goes on.
 *  - A job on another piece than it asks for keeps as many SMs busy, at most all of the piece; one that neighbours or
 *    communication slow down keeps them busy at its pace.  What it costs its neighbours goes by the mean that its trace
 *    or class gives (sm_active).
 *
 * It does not: know jobs of other kinds; theirs is constant (engine_spent.h).
 */
#ifndef SIM_ENGINE_ENGINE_ACTIVITY_H
#define SIM_ENGINE_ENGINE_ACTIVITY_H

#include "sim/engine/engine_state.h"

/* Integrals over all runs of the job up to now: milli-GPU x milli-activity x ns, and milli-GPU x ns.  {0} if it has no
 * process. */
struct activity_sums {
    wide_ns active_ns, held_ns;
};
struct activity_sums engine_activity_sums(struct engine *engine, uint32_t slot);
/* The present SM activity in milli of a job that runs and has no process; negative: not known, or it holds no GPU. */
double engine_activity_constant(const struct engine *engine, uint32_t slot);
/* For how long no SM of the running job will be busy, if it runs on: the truth.  TIME_NEVER: for ever. */
time_ns engine_activity_idle_for(struct engine *engine, uint32_t slot);

#endif
