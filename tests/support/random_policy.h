/* tests/support/random_policy.h -- a random scenario (studies/worlds/random_scenario.h) with a random policy: a preset
 * with some seams changed, or a combination of all seams.
 *
 *   random_policy_scenario(&scenario, seed, draw, stall_steps);
 *   random_scenario_release(&scenario);
 *
 * Some seams exclude each other: about every second draw is legal.
 */
#ifndef TESTS_SUPPORT_RANDOM_POLICY_H
#define TESTS_SUPPORT_RANDOM_POLICY_H

#include "studies/worlds/random_scenario.h"

void random_policy_scenario(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps);

/* The same, with faults and all physics in some worlds. */
void random_policy_rich_scenario(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps);

#endif
