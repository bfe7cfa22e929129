/* policies/placement/domains.h -- members confined to domains: racks, units, nodes.
 *
 * Words.  A set is the job itself (SET_NONE) or one of its sets (struct job_set), with all sets below it.  A level of
 * the cluster (struct cluster_level) divides the nodes into domains.
 *
 * Laws
 *  - A set that requires a level has all its members in one domain of that level, inside the domains of the sets
 *    around it.  A set that prefers a level has them in one domain of it if possible, else in one domain of the next
 *    wider level, up to the required level if there is one.
 *  - Domains with room are tried in this order: first the one where the set takes the largest part of what is free
 *    (best fit), among equals the lowest number.
 *  - If no domain of the preferred level can hold the set, its members fill domains of that level one after another,
 *    the emptiest first.
 *  - Under "domains": "nested" both orders compare the wider domains first, from the widest level down.  So the
 *    domains of one wider domain stay together.  A domain that lies in no domain of a wider level comes last.  The
 *    order of filling is the exact reverse of the other: of equal domains the last is filled first.
 *  - Under "nested" a set with a preference of its own is placed by that alone; the members of a set without one fill
 *    the domains that the set around it fills, in the same order.  Checked by tests/cases/kai_topology_nested.json.
 *    The fault it caught: subgroups of a gang that prefers one spine were kept whole, and so left a node of the spine
 *    empty and went to another.
 *  - A group in slices has each slice in one domain of the slices' level (slices.h).
 *  - A set of one group is placed if any placement of it exists.  Several groups or sets are placed greedily inside a
 *    domain (the scarcest group first), domain after domain; a set that is placed is not moved for the next one.
 *
 * Source: KAI-Scheduler, plugins/topology (best fit of siblings, deepest level first, held members bind); Kueue,
 * topology-aware scheduling (labels by level).  "nested" is KAI's order.  Departures from KAI: members that the set
 * holds bind it at a preferred level too, not only at a required one; nodes where no member of the set may go do not
 * count as free.
 *
 * Cost: for each set O(nodes * groups) to weigh the domains of a level, and O(domains * log) to sort them; under
 * "nested" each wider level is weighed too.  A single node for members that are alike is found in O(log nodes)
 * (policies/placement/by_node.h), and in O(node types) if no node could ever hold them all.
 */
#ifndef POLICIES_PLACEMENT_DOMAINS_H
#define POLICIES_PLACEMENT_DOMAINS_H

#include "policies/placement/placing.h"

/* Place all members, as the job and its sets ask, or as ways.h tries.  False: some may have been placed; the caller
 * rolls back. */
bool domains_place_all(struct placing *placing);

#endif
