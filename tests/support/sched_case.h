/* tests/support/sched_case.h -- a scheduler and its cluster, told by hand what happens: for tests of single situations.
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
    decision_id starts[SCHED_CASE_JOBS]; /* the last of each job */
};

/* Out of JSON; one that is refused fails the test. */
struct policy_config sched_case_policy(const char *text);

/* Takes the cluster and the queues; `policy` is JSON.  A policy that is refused fails the test. */
void sched_case_open(struct sched_case *c, struct cluster *cluster, struct queue_table *queues, const char *policy);
void sched_case_close(struct sched_case *c);

/* From the JSON of a cluster file. */
struct cluster *sched_case_cluster(const char *json);

/* A rigid job of `count` members of whole GPUs. */
struct job sched_case_job(job_id id, uint32_t count, uint16_t gpus, int32_t priority);
void sched_case_submit(struct sched_case *c, struct job job, time_ns now);

/* One cycle; `start` tells at once of every START, as with a decision latency of 0, and returns how many there were.
 * Both fail the test where sched_check finds something. */
void sched_case_cycle(struct sched_case *c, time_ns now);
size_t sched_case_start(struct sched_case *c, time_ns now);

/* One member of it runs there already; whole GPUs unless the piece says otherwise. */
void sched_case_adopt(struct sched_case *c, struct job job, struct piece piece);
/* Why it waits, which must be for that reason; the nodes must sum to the cluster's. */
struct explanation sched_case_explain(struct sched_case *c, job_id job, enum reason code);

/* Decisions of this kind in the last cycle. */
size_t sched_case_count(const struct sched_case *c, enum decision_kind kind);
struct sched_counts sched_case_counts(const struct sched_case *c);

#endif
