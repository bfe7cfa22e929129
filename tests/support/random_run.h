/* tests/support/random_run.h -- runs a random world in the simulator with its checks on, and checks each row.
 *
 * Cluster, queues, policy, world and jobs follow from the seed; some jobs are elastic, depend on others or are elements
 * of an array.  Every row is compared with the job's attempts: times, work, losses, GPU time.
 *
 *   struct random_run run;
 *   random_run_open(&run, seed, preset);
 *   struct engine_result result = random_run_engine(&run);      fails the test if a law is broken
 *   ... run.rows, run.sample ...
 *   random_run_close(&run);
 */
#ifndef TESTS_SUPPORT_RANDOM_RUN_H
#define TESTS_SUPPORT_RANDOM_RUN_H

#include "sim/engine/engine.h"
#include "tests/support/random_case.h"

enum {
    RANDOM_RUN_JOBS_MAX = 150,
    RANDOM_RUN_ARRAYS = 2,
    RANDOM_RUN_ARRAY_MAX = 3, /* elements of an array that may run at once */
};

struct random_job {
    struct job job;
    struct job_after after[2];
    struct job_group more[RANDOM_CASE_GROUPS_MAX];
    struct job_truth truth;
};

struct random_totals { /* sums over the attempts of a job */
    uint32_t count, evicted, resized;
    __int128 lost_milli_ns, held_milli_ns;
    int64_t saved, lost, run;
    time_ns last_end;
};

struct random_run {
    uint64_t seed;
    struct cluster *cluster;
    struct random_case_policy policy;
    struct world_config world;
    struct random_job *jobs;
    uint32_t job_count, next;
    struct job_source *source;
    const struct port_outside *listener; /* of the engine; NULL: none */
    /* collected by the sinks */
    struct job_row *rows;
    uint8_t *row_count;
    struct random_totals *totals;
    struct timeline_row sample;
    uint64_t hash;
    uint64_t told, idled; /* submitters told of idle jobs, and evictions of these */
    double allocated_gpu_s, partial_gpu_s, waited_s;
};

/* Fail the test with seed, job and policy. */
void random_run_fail(const struct random_run *run, const char *what, job_id job);

/* choice: of a policy, as in random_case_policy. */
void random_run_open(struct random_run *run, uint64_t seed, uint32_t choice);
void random_run_close(struct random_run *run);

/* A run without random parts on `nodes` nodes of 4 GPUs; the caller sets the jobs. */
void random_run_plain(struct random_run *run, uint32_t nodes, const char *preset_text, uint32_t jobs);

struct engine_result random_run_engine(struct random_run *run);

#endif
