/* tests/support/random_jobs.h -- small random workloads with many difficult cases: ties, gangs, jobs across nodes,
 * shares.
 *
 * Half of all times are whole seconds, so that submissions, ends and ticks fall together; some jobs take no time.
 * Law: the same spec and seed give the same jobs; every job fits the empty cluster.
 */
#ifndef TESTS_SUPPORT_RANDOM_JOBS_H
#define TESTS_SUPPORT_RANDOM_JOBS_H

#include "tests/support/run.h"

enum random_request_class {                    /* bits */
                            RANDOM_SINGLE = 1, /* 1 to all GPUs of a node */
                            RANDOM_GANG = 2,   /* whole nodes */
                            RANDOM_FLAT = 4,   /* one-GPU members that straddle nodes */
                            RANDOM_SHARE = 8,  /* one or more members of a share of a GPU */
                            RANDOM_GROUPS = 16 /* two groups: a whole node, and shares or single GPUs beside */
};

struct random_jobs {
    uint32_t count;
    uint32_t nodes; /* of the cluster for which they are made */
    uint16_t gpus;
    unsigned request_classes; /* enum random_request_class */
    double load;              /* offered load, relative to the cluster's GPUs */
    uint32_t queues;          /* 0: all jobs are in the root; else in queues 1..queues */
    bool has_checkpoints;     /* and priorities, limits, non-preemptible jobs, outcomes and SM activity */
};

/* The caller frees them with random_jobs_free. */
struct run_job *random_jobs_new(const struct random_jobs *spec, uint64_t seed);
void random_jobs_free(struct run_job *jobs);

#endif
