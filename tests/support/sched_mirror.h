/* tests/support/sched_mirror.h -- a world around policies/sched.h that keeps its own books.
 *
 * It knows each job's state and placement from facts and decisions alone.  mirror_cycle runs a cycle and checks every
 * decision: space is never given twice (GPUs, CPUs, memory) and only on nodes that are up, a reservation only on what
 * is free or leaving, no queue above its limit, victims are allowed and needed, a strict line is not overtaken. Then
 * it looks for itself: no waiting job may fit into what is free, and no job that goes before was passed over.  A caller
 * that tells the scheduler a fact tells the mirror with mirror_leave, or by setting the state.
 *
 * Jobs are rigid: members that come and go are tested by tests/unit/test_engine_members.c and the property tests
 * through the engine.  Presets whose orders, quotas or plans the checks do not know are left to
 * tests/property/test_presets.c.
 *
 * Jobs of several groups are not looked for: which of their members goes where is the policy's choice.
 */
#ifndef TESTS_SUPPORT_SCHED_MIRROR_H
#define TESTS_SUPPORT_SCHED_MIRROR_H

#include "policies/sched.h"
#include "tests/support/random_case.h"

enum { MIRROR_JOBS_MAX = 160 };

enum mirror_state { NEW, HELD, WAITING, RESERVED, STARTING, RUNNING, LEAVING, OVER };

enum {                                                        /* sets of states that have pieces */
       BOOKED = 1 << STARTING | 1 << RUNNING | 1 << RESERVED, /* when the leaving have left */
       PHYSICAL = 1 << STARTING | 1 << RUNNING | 1 << LEAVING,
       EVERYBODY = BOOKED | PHYSICAL,
};

struct mirror_job {
    struct job job;
    struct job_group more[RANDOM_CASE_GROUPS_MAX];
    enum mirror_state state;
    decision_id decision;
    time_ns decided;
    uint32_t evictions, piece_count;
    uint64_t decided_cycle;
    bool was_reserved; /* when it was started */
    struct piece *pieces;
};

struct mirror {
    struct random_stream stream; /* for the caller */
    uint64_t seed, cycle;
    uint64_t hash; /* of all decisions */
    struct cluster *cluster;
    struct queue_table *queues;
    struct random_case_policy policy;
    struct sched *sched;
    struct mirror_job *jobs; /* by job_id; the caller fills in `job` and `state` */
    uint32_t job_count;
    uint8_t *node_state; /* enum node_state; the caller's */
    time_ns now, wake_at;
};

/* A random cluster, queues and policy, and a scheduler of them. */
void mirror_open(struct mirror *mirror, uint64_t seed);
void mirror_close(struct mirror *mirror);

/* Fail the test, naming seed and policy. */
void mirror_fail(const struct mirror *mirror, const char *what, job_id job);

/* sched_check, and fail if a law is broken. */
void mirror_check(const struct mirror *mirror);

/* The job comes into that state; its pieces go if it has none there. */
void mirror_leave(struct mirror_job *job, enum mirror_state state);

/* A cycle at mirror->now; how many decisions there were. */
size_t mirror_cycle(struct mirror *mirror);

#endif
