/* sim/engine/engine_activity.h -- the SM activity of jobs whose kind declares it (workload.activity), integrated.
 *
 * A job that runs has a process (workloads/activity/activity.h).  Nothing waits for its next change: the process is
 * carried on when a row needs its integral or the job's pieces change.  The integrals are sums of level x time over
 * whole nanoseconds, so they are exact however seldom that is.
 *
 * Laws
 *  - Activity changes no decision, no end and no event: a run with and without it has the same fingerprint.
 *  - LEVEL_ACTIVE holds milli-GPU x milli-activity of all jobs, LEVEL_IDLE the milli-GPUs of running jobs at level 0.
 *  - Where jobs have phases (engine_saves.h), a job that does no work (it pulls, writes, loads or warms up) keeps no SM
 *    busy, and is not idle: it is in neither level.  Its process goes on.
 *  - A job on another piece than it asks for keeps as many SMs busy, at most all of the piece; one that neighbours or
 *    communication slow down keeps them busy at its pace.  What it costs its neighbours goes by the mean that its trace
 *    or class gives (sm_active).
 *
 * It does not: know jobs of other kinds; theirs is constant (engine_hold.c, engine_pace.c).
 */
#ifndef SIM_ENGINE_ENGINE_ACTIVITY_H
#define SIM_ENGINE_ENGINE_ACTIVITY_H

#include "sim/engine/engine_state.h"
#include "workloads/activity/activity.h"

struct sim_activity {
    bool is_declared; /* the job of this slot has a process */
    bool is_on;       /* it runs */
    struct activity process;
    int64_t asked_milli, got_milli; /* GPUs that its members ask for, and those of the pieces that they get */
    time_ns since;                  /* up to here its integrals are complete */
    int64_t active, idle;           /* its parts of LEVEL_ACTIVE and LEVEL_IDLE */
    wide_ns active_ns, idle_ns;     /* their integrals */
    int64_t held;                   /* milli-GPUs that it holds */
    wide_ns held_ns;                /* their integral */
    uint32_t on_index;              /* in engine->active_slots, if it is on */
};

/* Prepare the activity of a job that is submitted.  The slot may have held another job before.
 * got: the pieces that the groups get under the sharing policy; NULL: the pieces that they request. */
void engine_activity_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_group *got);

/* Its pieces or its pace change: count it as it is now, or no longer; false: it has no process. */
bool engine_activity_counts(struct engine *engine, uint32_t slot, bool is_held);

/* Carry its process on to now, before its speed changes. */
void engine_activity_carry(struct engine *engine, uint32_t slot);
bool engine_activity_has(const struct engine *engine, uint32_t slot); /* does it have a process? */

/* Carry all processes on to that time, not before the last event. */
void engine_activity_to(struct engine *engine, time_ns at);

/* Its life, or the run, ends: put its means and integrals into its row. */
void engine_activity_close(struct engine *engine, uint32_t slot);

/* ---- What a monitor measures ---- */

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

void engine_activity_release(struct engine *engine);

#endif
