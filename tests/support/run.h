/* tests/support/run.h -- whole runs inside a test: jobs through the engine, rows kept in memory.
 *
 *   struct run_setup setup = run_setup_default(cluster);
 *   struct run_log *log = run_jobs(&setup, jobs, 2);
 *   assert_int_equal(log->jobs[0].wait, 0);
 *   run_log_free(log);
 *
 * The laws of sim/record/record.h about the order of rows are checked on the way; an error of the run, or a broken
 * law, fails the test.  Invariants are checked at every instant unless the set-up says otherwise.
 *
 * It does not: make workloads; see the tests, or workloads/synth/synth.h.
 */
#ifndef TESTS_SUPPORT_RUN_H
#define TESTS_SUPPORT_RUN_H

#include "sim/engine/engine.h"

struct run_setup {
    const struct cluster *cluster;
    struct policy_config policy;
    struct world_config world;
    void (*fill_queues)(struct queue_table *queues); /* NULL: only the root */
    bool is_unchecked;
    uint64_t seed;
};

/* Strict fifo, best fit, no evictions; no period, no latency, no limit, until every job has ended. */
struct run_setup run_setup_default(const struct cluster *cluster);

/* The preset of that name, as for `--policy`. */
struct policy_config run_preset(const char *name);

struct run_job { /* the id is the position in the list */
    struct job job;
    struct job_truth truth;
};

/* A job of `members` times `gpus` whole GPUs; otherwise as job_default. */
struct run_job run_job_make(time_ns submit, time_ns duration, uint32_t members, uint16_t gpus);

struct run_log {
    struct job_row *jobs;     /* by id; name, queue and user are NULL, because they were borrowed */
    struct fault_row *faults; /* by id; of jobs[].faults, which is NULL */
    struct idle_row *idle;    /* likewise; 0 if the world has no monitor */
    struct lost_row *lost;    /* by id; 0 if checkpoints are free */
    struct pull_row *pulls;   /* by id; 0 without cold starts */
    uint32_t job_count;
    struct attempt_row *attempts; /* in order of their rows; placement is owned */
    uint32_t attempt_count;
    struct timeline_row *samples;
    uint32_t sample_count;
    struct engine_result result;
    size_t job_capacity, fault_capacity, idle_capacity, lost_capacity, pull_capacity, attempt_capacity, sample_capacity;
};

struct run_log *run_jobs(const struct run_setup *setup, const struct run_job *jobs, uint32_t count);
void run_log_free(struct run_log *log);

/* The attempt with that number; fails the test if there is none. */
const struct attempt_row *run_attempt(const struct run_log *log, job_id id, uint32_t attempt);

/* The last sample: the state and the integrals at the end of the run. */
const struct timeline_row *run_last_sample(const struct run_log *log);

/* Run any source into any sink; closes the source. */
struct engine_result run_source(const struct run_setup *setup, struct job_source *source,
                                const struct record_sink *sink);

/* Read a placement's text on nodes named n0, n1, ...: milli held of each GPU, at index node x NODE_GPUS_MAX + GPU.
 * Fails the test if the text is not valid, or names a GPU beyond node_count, or one twice. */
void run_placement_read(const char *placement, uint32_t node_count, uint16_t *milli);

#endif
