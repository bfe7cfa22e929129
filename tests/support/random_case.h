/* tests/support/random_case.h -- small random clusters, queue trees, jobs and policies for property tests.
 *
 * Difficult cases are frequent: one to three kinds of nodes with 1 to 16 GPUs, some with scarce CPUs or memory, inner
 * queues with jobs, limits, gangs, jobs of one-GPU members, shares, memory requests, CPU-only members, several groups.
 *
 *   struct random_case_job_options options = {.max_groups = 3};
 *   struct cluster *cluster = random_case_cluster(&stream);
 *   struct job job = random_case_job(&stream, cluster, queue_count, &options);
 *
 * Law: the result depends on the stream alone; every job passes job_complaint.
 */
#ifndef TESTS_SUPPORT_RANDOM_CASE_H
#define TESTS_SUPPORT_RANDOM_CASE_H

#include "base/random.h"
#include "policies/policy_config.h"
#include "workloads/job.h"

enum { RANDOM_CASE_GROUPS_MAX = 3 };

static inline bool random_case_once_in(struct random_stream *stream, uint32_t times)
{
    return random_below(stream, times) == 0;
}

struct cluster *random_case_cluster(struct random_stream *stream);

/* May a member run on nodes of the type, by labels and taints?  For requests of random_case_job; computed from the
 * labels and taints, not from resolved types. */
bool random_case_takes_nodes(const struct request *request, const struct node_type *type);

/* Add up to a dozen queues with quotas; no limits unless asked for. */
void random_case_queues(struct random_stream *stream, struct queue_table *table, const struct cluster *cluster,
                        bool with_limits);

/* Change the limits of some queues; new limits may be below the present use. */
void random_case_limits(struct random_stream *stream, struct queue_table *table, const struct cluster *cluster);

struct random_case_job_options {
    uint16_t max_groups;                           /* 1..RANDOM_CASE_GROUPS_MAX */
    bool is_rigid;                                 /* all members are needed */
    bool has_close;                                /* some groups have slices, some members need one island */
    struct job_group more[RANDOM_CASE_GROUPS_MAX]; /* memory that the last job points to */
};

/* submit, id and times are as in job_default; checkpoint plan and limit are random. */
struct job random_case_job(struct random_stream *stream, const struct cluster *cluster, uint32_t queue_count,
                           struct random_case_job_options *options);

/* A preset if `choice` is small, else random seams; its JSON text is in `text`.  Fails the test if it cannot be
 * read. */
struct random_case_policy {
    struct policy_config config;
    char text[4096];
};
uint32_t random_case_preset_count(void);
void random_case_policy(struct random_stream *stream, uint32_t choice, struct random_case_policy *policy);

#endif
