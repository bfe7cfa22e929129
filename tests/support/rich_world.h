/* tests/support/rich_world.h -- a random scenario with all physics on (studies/worlds/random_scenario.h), under a preset
 * or a random policy, ready to be run.
 *
 *   rich_world_load(&world, seed);               writes s.json and j.jsonl to the scratch folder
 *   ... scenario_open(&world.scenario, &source) ...
 *   rich_world_release(&world);
 *
 * Law: the world follows from the seed.  Every 15th seed has the same preset; seed % 15 == 14: a random policy.
 */
#ifndef TESTS_SUPPORT_RICH_WORLD_H
#define TESTS_SUPPORT_RICH_WORLD_H

#include "sim/scenario/scenario.h"

struct rich_world {
    struct scenario scenario;
    uint32_t jobs;
    time_ns span;         /* in which most happens */
    time_ns fine, coarse; /* intervals of samples: a few hundred in the span, a few */
    bool has_instances;   /* a GPU is, or may be, cut into instances */
    bool has_other;       /* another policy that suits the cluster and its queues */
    struct scenario other;
};

void rich_world_load(struct rich_world *world, uint64_t seed);
void rich_world_release(struct rich_world *world);

/* Copy its files to a folder that outlives the test, and print why and how to run them. */
void rich_world_keep(uint64_t seed, const char *why);

#endif
