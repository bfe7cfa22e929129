/* tests/support/fake_run.h -- a made-up but consistent run for tests of the record and the reports.
 *
 * Jobs of three classes in Zipf-like queues go first come, first served through a pool of GPUs; some are thrown back
 * once and repeat a part of their work.  The rows obey the laws of sim/record/record.h, and Little's law holds: the
 * waits are what the integral of pending jobs says.  The same options give the same rows.
 */
#ifndef TESTS_SUPPORT_FAKE_RUN_H
#define TESTS_SUPPORT_FAKE_RUN_H

#include "sim/record/record.h"

struct fake_run {
    uint32_t jobs;
    uint32_t gpus;
    uint32_t queues;
    uint64_t seed;
    double load;   /* offered load, relative to the GPUs */
    double span_s; /* arrivals are spread over it; 0: it follows from the load */
    double warmup_s;
    double price_usd_per_gpu_h;
    uint32_t rejected_every;             /* every n-th job is rejected; 0: none */
    bool communicates;                   /* some training jobs declare communication */
    const char *const *workload_classes; /* four names; NULL: a job's class is its workload class */
    const char *const *queue_names;      /* NULL: "team-T/project-P" */
    const struct record_queue *tree;     /* of queues; NULL: not known */
    uint32_t tree_count;
};

/* Feed all rows and the facts; fails the test (cmocka) if the sink returns an error. */
void fake_run_feed(const struct fake_run *run, const struct record_sink *sink);

extern const char *const fake_run_models[];

#endif
