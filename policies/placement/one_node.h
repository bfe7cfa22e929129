/* policies/placement/one_node.h -- finds the single node for a job whose members are all alike.
 *
 * Law: the node is the first that domains.h would try.  Of the nodes that hold all members, that is the one of whose
 * free GPU, CPU or memory they take the largest part; among equals the lowest.
 *
 *   const struct job_group *only = one_node_only_group(&placing);
 *   struct search search = one_node_search(&placing, only, &everywhere);
 *   if (by_node_best(memory, &search)) ... search.best.node ...
 */
#ifndef POLICIES_PLACEMENT_ONE_NODE_H
#define POLICIES_PLACEMENT_ONE_NODE_H

#include "policies/placement/placing.h"

/* False only if no node could hold all members even if it were empty.  O(node types * groups). */
bool one_node_may_hold(const struct ledger *ledger, const struct request_class *request_class);

/* The only group with members, if one_node_search can find its node; NULL: it cannot. */
const struct job_group *one_node_only_group(const struct placing *placing);

/* A search for a node that holds all members of the group.  region: borrowed for the call. */
struct search one_node_search(const struct placing *placing, const struct job_group *group,
                              const struct region *region);

#endif
