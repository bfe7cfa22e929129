/* policies/placement/by_node.h -- the best spot for one member, node after node, with a memory of what each has to offer.
 *
 * For policies whose score depends on nothing but the state of the node and what is asked (is_local): it is computed once
 * for each state of a node, and kept until the node changes.
 *
 * Laws
 *  - The choice is that of policies/placement/search.h, with or without the memory.
 *  - A memory belongs to one ledger: it goes by ledger->node_version.
 *
 *   struct search search = search_of(...);
 *   if (by_node_best(&memory, &search, members_left)) ... search.best ...
 *
 * Cost: O(nodes of the region) a member, a few instructions each; a score for each node that changed since such a member was
 * placed last.  Memory: 16 bytes a node for each kind of request, at most BY_NODE_KINDS of them. */
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
    struct node_offer *of; /* by node_id */
};

struct by_node {
    const struct ledger *ledger;
    uint64_t typical_version; /* as of ledger->typical */
    struct node_offers kinds[BY_NODE_KINDS];
    uint32_t count;
    uint32_t last; /* index of the kind asked for last */
};

/* As search_best, without MIG instances and confines. */
bool by_node_best(struct by_node *memory, struct search *search);
void by_node_release(struct by_node *memory);

#endif
