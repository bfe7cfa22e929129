/* tests/support/honest_rules.h -- what presets promise (policy_config.guarantees), watched while an honest world is
 * played.
 *
 *   gang      no job runs below its minimum, except one that lost members by a fault, and that no longer than
 *             stale_after
 *   no_loop   no two jobs evict each other within ten cycles without another fact; in a quiet world evictions end
 *   minimal   every victim of a plan is needed.  With the victim kept, one of these would hold: the preemptor does not
 *             fit; its queue is above its limit; where victims are moved, not all of the others find a place; in a
 *             cohort, where the plan also reclaims from other queues, its queue is above its quota
 *   reclaim   a job of one member on whole GPUs that its queues deserve, and that fits borrowed space on some node,
 *             gets a reservation within as many cycles as jobs wait, and two more
 *   follow    for every preset: a preemptor starts when its space is there; a reservation is given up only when a node
 *             or a decision failed, or when it expired
 *
 * `minimal` is not checked for a preemptor with several groups, because the placement chooses where each member goes
 * and need not find every place.  Nor is it checked under quotas that honest_space.c does not know (cells, drf, ...).
 * A victim that is evicted as a whole is kept as a whole.
 */
#ifndef TESTS_SUPPORT_HONEST_RULES_H
#define TESTS_SUPPORT_HONEST_RULES_H

#include "tests/support/honest_world.h"

enum { NO_LOOP_CYCLES = 10 };

struct eviction_note { /* the last eviction of one job for another */
    uint64_t cycle, outside;
    uint32_t tick;
};

struct honest_rules {
    uint32_t guarantees;
    struct eviction_note evicted[RANDOM_WORLD_JOBS_MAX][RANDOM_WORLD_JOBS_MAX]; /* victim, preemptor */
    uint32_t evictions[RANDOM_WORLD_JOBS_MAX];  /* decisions since the last fact from outside */
    uint32_t calm_ticks[RANDOM_WORLD_JOBS_MAX]; /* ticks below its minimum with no member on its way */
    uint32_t wait_ticks[RANDOM_WORLD_JOBS_MAX]; /* ticks in which it holds nothing */
    uint32_t due_ticks[RANDOM_WORLD_JOBS_MAX];  /* ticks in which the premise of reclaim holds */
    uint64_t breakages[RANDOM_WORLD_JOBS_MAX];  /* world->breakages at the time of its reservation */
    uint64_t plans_checked, premises;
};

/* Watch this world from its start. */
void honest_rules_watch(struct honest_rules *rules, struct honest_world *world);

#endif
