/* studies/worlds/random_scenario.h -- a random scenario and its trace as texts: a small cluster, queues, a world, and
 * jobs of all kinds (gangs, elastic ones, fractions, MIG, dependencies, priorities).  Its numbers lie at the edges of
 * what is legal.
 *
 *   const struct random_scenario_options options = {.stall_steps = 2000};
 *   random_scenario_make(&scenario, seed, draw, &options);
 *   ... write scenario.text to DIR/s.json and scenario.jobs to DIR/j.jsonl; windtunnel run DIR/s.json ...
 *   random_scenario_release(&scenario);
 *
 * Some policies do not fit some clusters and queues.  Then reading the scenario is an error, and the caller takes the
 * next draw.
 * Law: the scenario depends on seed, draw and options alone.
 *
 * It does not: choose a policy; write_policy does.
 */
#ifndef STUDIES_WORLDS_RANDOM_SCENARIO_H
#define STUDIES_WORLDS_RANDOM_SCENARIO_H

#include "studies/worlds/draw.h"

struct random_scenario {
    struct buffer text, jobs; /* owned */
    uint32_t job_count;
};

struct random_scenario_options {
    uint64_t stall_steps; /* of the world */
    bool has_faults;      /* jobs fail in some of the worlds */
    bool has_physics;     /* some worlds charge checkpoints, start cold, are measured, change their size, and so on */
    /* Append ", 'policy': ...", by the same stream; NULL: there is no policy in the text. */
    void (*write_policy)(struct draw *draw);
};

void random_scenario_make(struct random_scenario *scenario, uint64_t seed, uint32_t draw,
                          const struct random_scenario_options *options);
void random_scenario_release(struct random_scenario *scenario);

/* Of random_jobs.c: the jobs, one a line.  Returns their number. */
uint32_t random_scenario_write_jobs(struct draw *draw);

/* Of random_physics.c: a comma and fields of the world, of the workload, of a job; or nothing. */
void random_physics_write_world(struct draw *draw);
void random_physics_write_workload(struct draw *draw);
void random_physics_write_job(struct draw *draw);

#endif
