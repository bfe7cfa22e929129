/* policies/placement/by_node.h -- finds the best spot for one member among all nodes; the scores of nodes are kept.
 *
 * It serves policies whose score depends only on the state of the node and the request (is_local).  A score is computed
 * once for each state of a node, and kept until the node changes.  The scores form a tournament tree: each match holds
 * the better of two nodes, or of two matches below it; match 1 holds the best node of all.  For policies that draw
 * nodes (draw), a match holds the number of nodes below it with room instead.
 *
 * Laws
 *  - The choice is that of policies/placement/search.h.  For a policy with joins_members this holds if no member of the
 *    job is on any node.
 *  - A memory belongs to one ledger.  It uses ledger->node_version and ledger->changes to find what has changed.
 *
 *   struct search search = search_of(...);
 *   search.spot.members_left = ...;
 *   if (by_node_best(&memory, &search)) ... search.best ...
 *
 * Cost: O(nodes) the first time that a kind of request is searched.  Later, for each member: a score and O(log nodes)
 * for each change since the last search of that kind, and O(log nodes) for the search itself, or O(nodes of the region)
 * if its domain is scattered.
 * Memory: 20 to 24 bytes a node for each kind of request.  At most BY_NODE_KINDS are kept; the one used longest ago is
 * dropped. */
#ifndef POLICIES_PLACEMENT_BY_NODE_H
#define POLICIES_PLACEMENT_BY_NODE_H

#include "policies/placement/search.h"

enum { BY_NODE_KINDS = 256 };

struct node_offer {
    int64_t score;     /* SPOT_NEVER: no room */
    uint32_t seen;     /* the node's version + 1 when it was scored; 0: never */
    int16_t gpu_index; /* as in struct candidate */
    uint16_t milli;
};

struct node_offers { /* for one kind of request */
    const struct placement_policy *policy;
    struct request request;
    uint32_t members_max;  /* the most members that any node could hold when empty */
    uint32_t members_left; /* with joins_members: at most members_max + 1; else 0 */
    struct node_offer *of; /* by node_id */
    uint32_t *match; /* from 1, the final, on: the winner, or how many nodes have room.  Match i is between 2 * i and
                        2 * i + 1: matches below `width`, nodes from `width` on */
    uint32_t width;  /* a power of two, not less than the number of nodes */
    uint64_t change_count; /* the ledger's changes up to this count are included */
    uint64_t asked;        /* by_node.asked when this kind was searched last */
};

struct by_node {
    const struct ledger *ledger;
    uint64_t typical_version; /* of ledger->typical when the scores were computed */
    struct node_offers kinds[BY_NODE_KINDS];
    uint32_t count;
    uint32_t last;  /* index of the kind searched last */
    uint64_t asked; /* count of searches */
};

/* As search_best, for search->spot.members_left; not for MIG instances or confined members. */
bool by_node_best(struct by_node *memory, struct search *search);

/* Are scores kept for such a member?  search->spot.members_left counts too.  O(kinds). */
bool by_node_knows(struct by_node *memory, const struct search *search);

void by_node_release(struct by_node *memory);

#endif
