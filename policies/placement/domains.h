/* policies/placement/domains.h -- members confined to domains: racks, units, nodes.
 *
 * Words.  A set is the job itself (SET_NONE) or one of its sets (struct job_set), with all sets below it.  A level of
 * the cluster (struct cluster_level) parts the nodes into domains.
 *
 * Laws
 *  - A set that requires a level has all its members in one domain of that level, inside the domains of the sets
 *    around it.  One that prefers a level has them in one domain of it if that can be, else of the next wider level,
 *    up to the required one or to none.
 *  - Of domains with room the one where the set takes the largest part of what is free goes first (best fit), among
 *    equals the lowest number.
 *  - Where a preferred domain could not be had, members fill its like one after another, the emptiest first.
 *  - Under "domains": "nested" both orders compare the wider domains first, from the widest level down.  So the
 *    domains of one wider domain stay together.  A domain that lies in no domain of a wider level comes last.
 *  - A group in slices has each slice in one domain of its level, wherever else its members are (slices.h).
 *  - A set of one group is placed if any placement of it exists.  Several groups, or several sets, are placed greedily
 *    inside a domain (the scarcest group first), domain after domain; sets side by side do not give way.
 *
 * Source: KAI-Scheduler, plugins/topology (best fit of siblings, deepest level first, held members bind); Kueue,
 * topology-aware scheduling (labels by level).  "nested" is KAI's order.  Departures from KAI: members that the set
 * holds bind it at a preferred level too, not only at a required one; nodes where no member of the set may go do not
 * count as free.
 *
 * Cost: O(nodes * groups) to weigh the domains of a level, and O(domains * log) to order them, per set; under "nested"
 * to weigh those of each wider level too.  A single node for
 * members that are alike is found in O(log nodes), as policies/placement/by_node.h says, and where no node could hold
 * them all in O(node types).
 */
#ifndef POLICIES_PLACEMENT_DOMAINS_H
#define POLICIES_PLACEMENT_DOMAINS_H

#include "policies/placement/search.h"

/* One call of placement_place. */
struct placing {
    const struct placement_policy *policy;
    struct ledger *ledger;
    const struct request_class *request_class;
    struct held_pieces held;
    struct passing_pieces passing;
    uint32_t owner;
    struct piece_list *out;
    uint32_t *here; /* members by node; NULL unless the policy looks at nodes */
    uint16_t joined_group;
    /* of the pieces held, and then of those placed: the number of first ones that lie where no member of joined_group
     * has room */
    uint32_t joined_full;
    uint32_t first_growing; /* pieces of `out` before it take no more members */
};

/* Place one member of the group in the region; members_left counts it.  (policies/placement/placement.c) */
bool placing_member(struct placing *placing, uint16_t group, uint32_t members_left, const struct region *region);

/* What is remembered of nodes (policies/placement/by_node.h), from call to call. */
struct by_node *placing_memory(struct placing *placing);

/* A group is placed between two marks or not at all: its pieces do not grow across one. */
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

/* Place all members in the region, as the job and its sets ask.  False: a part may be left to roll back. */
bool domains_place(struct placing *placing, const struct region *region);

/* The same on a single node, whichever is found first in the order of the laws. */
bool domains_place_on_one_node(struct placing *placing);

#endif
