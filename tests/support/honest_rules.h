/* tests/support/honest_rules.h -- what presets promise (policy_config.guarantees), watched while an honest world is
 * played.
 *
 *   gang      nothing runs below its minimum, but what the world hurt, and that no longer than stale_after
 *   no_loop   no two jobs evict each other within ten cycles while nothing else is told; in a quiet world evictions end
 *   minimal   with any one victim of a plan kept, the preemptor would not fit, or its queue would be above its limit;
 *             where
 *             victims go elsewhere, or not all the others would find a place; in a cohort, or its queue would be above
 *             its quota, while the plan takes from other queues what is its due only up to that
 *   reclaim   one member of whole GPUs that fits what its queues deserve, and that borrowers' space can hold on some
 *             node, is given a reservation within a cycle for each job that waits, and two more
 *   follow    of every preset: what space was made for starts when the space is there; a reservation is given up only
 *             when a node or a decision failed, or it ran out
 *
 * Of several groups `minimal` is not checked: which member goes where is the placement's choice, and it need not find
 * what exists.  Nor under quotas that honest_space.c does not know (cells, drf, ...).  A victim that goes as a whole
 * is kept as a whole.
 */
#ifndef TESTS_SUPPORT_HONEST_RULES_H
#define TESTS_SUPPORT_HONEST_RULES_H

#include "tests/support/honest_world.h"

enum { NO_LOOP_CYCLES = 10 };

struct eviction_note { /* the last time that one was evicted for the other */
    uint64_t cycle, outside;
    uint32_t tick;
};

struct honest_rules {
    uint32_t guarantees;
    struct eviction_note evicted[RANDOM_WORLD_JOBS_MAX][RANDOM_WORLD_JOBS_MAX]; /* victim, preemptor */
    uint32_t evictions[RANDOM_WORLD_JOBS_MAX];                                  /* decisions while nothing was told */
    uint32_t calm_ticks[RANDOM_WORLD_JOBS_MAX]; /* below its minimum, nothing on its way */
    uint32_t wait_ticks[RANDOM_WORLD_JOBS_MAX]; /* it holds nothing */
    uint32_t due_ticks[RANDOM_WORLD_JOBS_MAX];  /* the premise of reclaim holds */
    uint64_t breakages[RANDOM_WORLD_JOBS_MAX];  /* when it got its reservation */
    uint64_t plans_checked, premises;
};

/* Watch this world from its opening on. */
void honest_rules_watch(struct honest_rules *rules, struct honest_world *world);

#endif
