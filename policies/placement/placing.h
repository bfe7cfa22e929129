/* policies/placement/placing.h -- places the members of a job one after another, each on its best spot.
 *
 * What confines them to domains (domains.h), and which of several ways is taken (ways.h), stands above it.
 */
#ifndef POLICIES_PLACEMENT_PLACING_H
#define POLICIES_PLACEMENT_PLACING_H

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

/* Place one member of the group in the region; members_left includes it. */
bool placing_member(struct placing *placing, uint16_t group, uint32_t members_left, const struct region *region);

/* Place all members of all groups in the region, group after group in the order of the request class. */
bool placing_in_order(struct placing *placing, const struct region *region);

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

/* Take the pieces from `first` on out of the count by node. */
void placing_forget(struct placing *placing, uint32_t first);

#endif
