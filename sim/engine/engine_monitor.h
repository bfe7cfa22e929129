/* sim/engine/engine_monitor.h -- the monitor of the world: measures jobs that run, and tells the scheduler.
 *
 * Each period it takes the mean SM activity of each job over the window since the last period, or since the job came to
 * run; after the delay of world.monitor the scheduler is told (sched_job_observed), then there is a cycle.
 *
 * Laws
 *  - Only readings of sim/monitor/monitor.h are told: of jobs that still run, in the run that the window lies in.
 *  - A job is told of if the policy wants to know about its class (idle_listens), or facts are recorded, or another
 *    program decides.  There is a cycle only if the policy wants to know, or another program decides whose policy is
 *    not known; so a listener changes nothing.
 *  - The mean is exact for jobs with an activity of their own (sim/engine/engine_activity.h).  For others, whose
 *    activity is constant, it is the present one, at their present pace; no reading if their activity is not known.
 *
 * It counts what idle policies did, with the truth at hand (struct idle_row).  engine->monitor is NULL without
 * world.monitor; then no function but engine_monitor_open may be called.
 */
#ifndef SIM_ENGINE_ENGINE_MONITOR_H
#define SIM_ENGINE_ENGINE_MONITOR_H

#include "sim/engine/engine_state.h"

void engine_monitor_open(struct engine *engine); /* before the first job; decides whether `monitor` is NULL */
void engine_monitor_release(struct engine *engine);

void engine_monitor_asks(struct engine *engine, uint32_t slot);   /* a job was submitted */
void engine_monitor_adopts(struct engine *engine);                /* another policy may want to know of other jobs */
void engine_monitor_begins(struct engine *engine, uint32_t slot); /* it begins to run, with all pieces that it has */
void engine_monitor_stops(struct engine *engine, uint32_t slot);  /* it does not run any more */
void engine_monitor_event(struct engine *engine, uint32_t what);  /* the subject of an EVENT_TIMER */
/* Does no job run, and has the world no events but the monitor's and cancelled ones?  They alone do not go on with a
 * run.  O(events), if no job runs. */
bool engine_monitor_is_alone(const struct engine *engine);

/* What idle policies did. */
void engine_monitor_decided(struct engine *engine, uint32_t slot, const struct decision *decision);
/* Pieces of so many milli-GPUs have left by an eviction for that reason, or have come. */
void engine_monitor_left(struct engine *engine, uint32_t slot, uint8_t reason, int64_t milli);
void engine_monitor_came(struct engine *engine, uint32_t slot, int64_t milli);
/* Its row; its life, or the run, ends now. */
const struct idle_row *engine_monitor_row(struct engine *engine, uint32_t slot);

#endif
