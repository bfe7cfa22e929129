/* policies/placement/one_node.h -- which single node shall hold all members of a job that are alike.
 *
 * Law: the node is the first that domains.h would try: of those that hold all members the one of which they take the
 * largest part of what is free, be it GPU, CPU or memory; among equals the lowest.
 *
 *   const struct job_group *only = one_node_only_group(&placing);
 *   struct search search = one_node_search(&placing, only, &everywhere);
 *   if (by_node_best(memory, &search)) ... search.best.node ...
 */
#ifndef POLICIES_PLACEMENT_ONE_NODE_H
#define POLICIES_PLACEMENT_ONE_NODE_H

#include "policies/placement/domains.h"

/* False only if no node, though it were empty, could hold all members.  O(node types * groups). */
bool one_node_may_hold(const struct ledger *ledger, const struct request_class *request_class);

/* The one group that has members, if one_node_search tells its node; NULL: it does not. */
const struct job_group *one_node_only_group(const struct placing *placing);

/* For all members of the group at once; region: borrowed no longer than the call. */
struct search one_node_search(const struct placing *placing, const struct job_group *group,
                              const struct region *region);

#endif
