/* policies/placement/by_node.h -- the best spot for one member, node after node, with a memory of what each has to
 * offer.
 *
 * For policies whose score depends on nothing but the state of the node and what is asked (is_local): it is computed
 * once for each state of a node, and kept until the node changes.  Of what the nodes offer a tournament is kept: of
 * each two neighbours the better one, of each two such pairs the better one, and so on to the best of all.  Where
 * nodes are drawn (draw) a match tells, in place of the better one, how many of its nodes have room.
 *
 * Laws
 *  - The choice is that of policies/placement/search.h, with or without the memory; of a policy that joins members,
 *    where none of the job is on any node.
 *  - A memory belongs to one ledger: it goes by ledger->node_version and ledger->changes.
 *
 *   struct search search = search_of(...);
 *   search.spot.members_left = ...;
 *   if (by_node_best(&memory, &search)) ... search.best ...
 *
 * Cost: of a kind of member that is asked for the first time O(nodes).  Then, a member, a score and O(log nodes) for
 * each change since that kind was placed last, and O(log nodes), or the nodes of the region if its domain is
 * scattered.
 * Memory: 20 to 24 bytes a node for each kind of request, at most BY_NODE_KINDS of them; of more the one that was
 * asked for longest ago is forgotten. */
#ifndef POLICIES_PLACEMENT_BY_NODE_H
#define POLICIES_PLACEMENT_BY_NODE_H

#include "policies/placement/search.h"

enum { BY_NODE_KINDS = 256 };

struct node_offer {
    int64_t score;     /* SPOT_NEVER: no room */
    uint32_t seen;     /* the node's version + 1; 0: not looked at yet */
    int16_t gpu_index; /* as in struct candidate */
    uint16_t milli;
};

struct node_offers { /* for one kind of request */
    const struct placement_policy *policy;
    struct request request;
    uint32_t members_max;  /* that any node could hold when empty */
    uint32_t members_left; /* of a policy that joins members: at most members_max + 1 */
    struct node_offer *of; /* by node_id */
    uint32_t *
        match; /* from 1, the final, on: the winner, or how many have room; between the matches 2 * i and 2 * i + 1, or,
                        from `width` on, the nodes from 0 on */
    uint32_t width;        /* a power of two, nodes at least */
    uint64_t change_count; /* as of ledger->change_count: what came later is not looked at yet */
    uint64_t asked;        /* as of by_node.asked */
};

struct by_node {
    const struct ledger *ledger;
    uint64_t typical_version; /* as of ledger->typical */
    struct node_offers kinds[BY_NODE_KINDS];
    uint32_t count;
    uint32_t last;  /* index of the kind asked for last */
    uint64_t asked; /* members so far */
};

/* As search_best, without MIG instances and confines, for search->spot.members_left. */
bool by_node_best(struct by_node *memory, struct search *search);

/* Was such a member (search->spot.members_left is looked at) asked for before, and not forgotten?  O(kinds). */
bool by_node_knows(struct by_node *memory, const struct search *search);

void by_node_release(struct by_node *memory);

#endif
