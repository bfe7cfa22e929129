/* tests/support/sched_mirror.h -- a world around policies/sched.h that keeps its own books.
 *
 * It knows each job's state and placement from facts and decisions alone.  mirror_cycle runs a cycle and checks every
 * decision: space is never given twice (GPUs, CPUs, memory), and only on nodes that are up; reserved space is free or
 * leaving; no queue exceeds its limit; victims are allowed and needed; a strict order is kept.  Then it searches on its
 * own: no waiting job may fit the free space, and no job may have been passed over.  A caller that tells the scheduler
 * a fact must tell the mirror with mirror_leave, or by setting the state.
 *
 * Jobs are rigid: members that come and go are tested by tests/unit/test_engine_members.c and the property tests
 * through the engine.  Presets whose orders, quotas or plans the checks do not know are left to
 * tests/property/test_presets.c.
 *
 * This search leaves out jobs of several groups, because the policy chooses where each of their members goes.
 */
#ifndef TESTS_SUPPORT_SCHED_MIRROR_H
#define TESTS_SUPPORT_SCHED_MIRROR_H

#include "policies/sched.h"
#include "tests/support/random_case.h"

enum { MIRROR_JOBS_MAX = 160 };

enum mirror_state { NEW, HELD, WAITING, RESERVED, STARTING, RUNNING, LEAVING, OVER };

enum {                                                        /* sets of states that have pieces */
       BOOKED = 1 << STARTING | 1 << RUNNING | 1 << RESERVED, /* after all leaving jobs have left */
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
    bool was_reserved; /* when its start was decided */
    struct piece *pieces;
};

struct mirror {
    struct random_stream stream; /* for the caller's draws */
    uint64_t seed, cycle;
    uint64_t hash; /* hash of all decisions */
    struct cluster *cluster;
    struct queue_table *queues;
    struct random_case_policy policy;
    struct sched *sched;
    struct mirror_job *jobs; /* by job_id; the caller sets `job` and `state` */
    uint32_t job_count;
    uint8_t *node_state; /* enum node_state; set by the caller */
    time_ns now, wake_at;
};

/* A random cluster, queues and policy, and a scheduler for them. */
void mirror_open(struct mirror *mirror, uint64_t seed);
void mirror_close(struct mirror *mirror);

/* Fail the test with seed and policy. */
void mirror_fail(const struct mirror *mirror, const char *what, job_id job);

/* sched_check, and fail if a law is broken. */
void mirror_check(const struct mirror *mirror);

/* Set the job's state; its pieces are released if it has none in that state. */
void mirror_leave(struct mirror_job *job, enum mirror_state state);

/* Run a cycle at mirror->now; returns the number of decisions. */
size_t mirror_cycle(struct mirror *mirror);

#endif
