/* policies/config/digest.h -- hashes of the cluster, the queues and the policy that a saved scheduler belongs to.
 *
 * Law: two digests are equal exactly (but for a chance of 2^-64) if everything that a decision can depend on is equal.
 * The names of the cluster and of the policy do not count; those of nodes, GPU models, levels and queues do.
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
