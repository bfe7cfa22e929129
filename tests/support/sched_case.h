/* tests/support/sched_case.h -- a scheduler and its cluster, for tests of single situations: the test tells each fact.
 *
 *   struct sched_case c;
 *   sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), "{\"order\": [\"fifo\"]}");
 *   sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
 *   assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
 *   sched_case_close(&c);
 */
#ifndef TESTS_SUPPORT_SCHED_CASE_H
#define TESTS_SUPPORT_SCHED_CASE_H

#include "policies/explain.h"
#include "policies/sched.h"

#define SECONDS(n) ((time_ns)(n)*TIME_NS_PER_S)

enum { SCHED_CASE_JOBS = 64 };

struct sched_case {
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    const struct decision *decisions; /* of the last cycle */
    size_t count;
    time_ns wake_at;
    decision_id starts[SCHED_CASE_JOBS]; /* the last START of each job */
};

/* Read from JSON; a refused policy fails the test. */
struct policy_config sched_case_policy(const char *text);

/* Takes ownership of the cluster and the queues; `policy` is JSON.  A refused policy fails the test. */
void sched_case_open(struct sched_case *c, struct cluster *cluster, struct queue_table *queues, const char *policy);
void sched_case_close(struct sched_case *c);

/* From JSON, as in a cluster file. */
struct cluster *sched_case_cluster(const char *json);

/* A rigid job of `count` members of whole GPUs. */
struct job sched_case_job(job_id id, uint32_t count, uint16_t gpus, int32_t priority);
void sched_case_submit(struct sched_case *c, struct job job, time_ns now);

/* Run a cycle.  `start` also confirms every START at once, as with a decision latency of 0, and returns their number.
 * Both fail the test if sched_check complains. */
void sched_case_cycle(struct sched_case *c, time_ns now);
size_t sched_case_start(struct sched_case *c, time_ns now);

/* A member of the job runs there already; on whole GPUs unless the piece says otherwise. */
void sched_case_adopt(struct sched_case *c, struct job job, struct piece piece);
/* Why the job waits, which must be that reason; the node counts must sum to the cluster's. */
struct explanation sched_case_explain(struct sched_case *c, job_id job, enum reason code);

/* Decisions of this kind in the last cycle. */
size_t sched_case_count(const struct sched_case *c, enum decision_kind kind);
struct sched_counts sched_case_counts(const struct sched_case *c);

#endif
