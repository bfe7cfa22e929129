/* policies/config/digest.h -- what a saved state of a scheduler belongs to, as hashes.
 *
 * Law: equal exactly (but for a chance of 2^-64) when all that a decision can depend on is equal: the names of a
 * cluster and of a policy's file do not count, those of its nodes, of GPU models, levels and queues do.
 */
#ifndef POLICIES_CONFIG_DIGEST_H
#define POLICIES_CONFIG_DIGEST_H

#include "policies/policy_config.h"
#include "topologies/cluster.h"
#include "topologies/queue_table.h"

uint64_t digest_cluster(const struct cluster *cluster);                   /* O(nodes * levels) */
uint64_t digest_queues(const struct queue_table *queues, uint32_t count); /* of the first `count` */
uint64_t digest_policy(const struct policy_config *policy);

#endif
