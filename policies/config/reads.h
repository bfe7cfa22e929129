/* policies/config/reads.h -- which fields of queues and jobs a policy reads, and what else would read them.
 *
 * Law: every field of a queue and of a job either has an effect under the policy chosen, or the user is told that it
 * has none.  tests/property/test_fields.c walks all fields over all presets: a field that is said to be read changes
 * some random world, and one that is not changes none.  Once, nine presets ignored the limits of queues without a word.
 *
 * The fields are those of topologies/queue_fields.h and workloads/job_fields.h.  Each quota and order policy declares
 * what it reads; this adds what the rest of the policy does with queues and jobs.
 */
#ifndef POLICIES_CONFIG_READS_H
#define POLICIES_CONFIG_READS_H

#include "policies/policy_config.h"

struct policy_reads {
    uint32_t queue, job; /* QUEUE_READS, JOB_READS */
};

struct policy_reads policy_reads(const struct policy_config *config);

/* Append what would read the field: "quota policies 'fairshare' and 'cohort' read it". */
void policy_readers_of_queue(uint32_t field, struct buffer *out);
void policy_readers_of_job(uint32_t field, struct buffer *out);

#endif
