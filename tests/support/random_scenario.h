/* tests/support/random_scenario.h -- a random scenario and its trace as texts: a small cluster, queues, a policy that
 * combines all seams, a world, jobs; with numbers at the edges of what is legal.
 *
 *   struct random_scenario scenario;
 *   random_scenario_make(&scenario, seed);
 *   ... write scenario.text to DIR/s.json and scenario.jobs to DIR/j.jsonl; windtunnel run DIR/s.json ...
 *   random_scenario_release(&scenario);
 *
 * Some seams exclude each other, and some fields do not fit a cluster.  Then reading the scenario is an error, and the
 * caller takes the next draw.  About every second draw is legal.
 * Law: the scenario depends on seed and draw alone.
 */
#ifndef TESTS_SUPPORT_RANDOM_SCENARIO_H
#define TESTS_SUPPORT_RANDOM_SCENARIO_H

#include "base/buffer.h"

struct random_scenario {
    struct buffer text, jobs; /* owned */
    uint32_t job_count;
};

/* stall_steps: the world's. */
void random_scenario_make(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps);
void random_scenario_release(struct random_scenario *scenario);

#endif
