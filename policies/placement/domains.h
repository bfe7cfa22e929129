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

#include "policies/placement/domain_shares.h"
#include "policies/placement/search.h"

/* One attempt to place all members of a request. */
struct placing {
    const struct placement_request *asked;
    struct ledger *ledger;
    struct piece_list *out;
    struct topology_ask topology; /* of the job: as its request class asks, or as one of ways.h tries */
    enum topology_domains domains;
    uint32_t *here; /* members by node; NULL unless the policy looks at nodes */
    uint16_t joined_group;
    /* How many of the first pieces (held ones, then placed ones) are on nodes without room for a member of
     * joined_group. */
    uint32_t joined_full;
    uint32_t first_growing; /* pieces of `out` before this index get no more members */
};

/* Place one member of the group in the region; members_left includes it.  (policies/placement/placement.c) */
bool placing_member(struct placing *placing, uint16_t group, uint32_t members_left, const struct region *region);

/* The scores that are kept from call to call (policies/placement/by_node.h). */
struct by_node *placing_memory(struct placing *placing);

/* A trial in a placement.  Pieces placed before a mark get no members after it. */
struct placing_mark {
    size_t ledger;
    uint32_t piece_count;
};
struct placing_mark placing_mark(struct placing *placing);
void placing_rollback(struct placing *placing, const struct placing_mark *mark);
void placing_commit(struct placing *placing, const struct placing_mark *mark);

/* Is any level asked for, by the job, a set or slices? */
bool domains_are_asked(const struct request_class *request_class);

/* The part of a region that is in a domain of a level (NULL: a node). */
struct region domains_part(const struct region *region, const struct cluster_level *level, uint32_t id);

/* Place all members in the region, as the job and its sets ask.  False: some may have been placed; the caller rolls
 * back. */
bool domains_place(struct placing *placing, const struct region *region);

/* As above, on a single node: the first in the order of the laws that holds them all. */
bool domains_place_on_one_node(struct placing *placing);

#endif
