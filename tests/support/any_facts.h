/* tests/support/any_facts.h -- facts of every kind, in any order, with any values, as bytes choose them.
 *
 * A world is a small cluster with queues and a policy.  Each step tells its scheduler one fact, or runs a cycle.  Most
 * values make sense, so that the scheduler comes to states in which there is something to break; some do not: ids that
 * are not known, times that go back, jobs and pieces that cannot be.  The bytes come from a random stream
 * (tests/property/test_told.c) or from libFuzzer (tests/fuzz/fuzz_facts.c).
 *
 *   struct any_world *world = any_world_new(bytes, size);
 *   while (any_world_step(world))
 *       ;
 *   any_world_free(world);
 *
 * Law: after every step sched_check finds no law broken; any_world_step aborts otherwise.  When the bytes are used up,
 * the steps end.
 */
#ifndef TESTS_SUPPORT_ANY_FACTS_H
#define TESTS_SUPPORT_ANY_FACTS_H

#include "policies/sched.h"
#include "tests/support/random_case.h"

enum { ANY_DECISIONS = 64, ANY_NAMED_MAX = 64 };

struct any_world {
    const uint8_t *at, *end; /* bytes that are left */
    struct random_stream stream;
    struct cluster *cluster;
    struct queue_table *queues, *others; /* others: a table that does not continue `queues` */
    struct random_case_policy policy;
    struct sched *sched;
    time_ns now;
    job_id next;                          /* the id of the next job */
    decision_id decisions[ANY_DECISIONS]; /* the last ones */
    job_id decided[ANY_DECISIONS];        /* their jobs */
    uint32_t decision_count;
    uint64_t steps, cycles, started, adopted;
    uint64_t queue_changes; /* of the table, whether its fact is taken or not */
};

struct any_world *any_world_new(const uint8_t *bytes, size_t size);
void any_world_free(struct any_world *world);

/* False: the bytes are used up, and nothing was told. */
bool any_world_step(struct any_world *world);

#endif
