/* policies/placement/search.h -- finds the best spot for one member, in a part of the cluster.
 *
 * Law: the result is the first node and GPU of the region, in order, with the highest score; the node index only makes
 * the search faster.  For a policy that draws it is the node whose number is drawn, among the nodes with room in their
 * order, and then the GPU.
 */
#ifndef POLICIES_PLACEMENT_SEARCH_H
#define POLICIES_PLACEMENT_SEARCH_H

#include "policies/placement/placement.h"

/* The nodes first..last that are in the domain. */
struct region {
    node_id first, last;
    const struct cluster_level *level; /* NULL: all nodes first..last */
    uint32_t id;                       /* domain of that level */
};

struct candidate {
    int64_t score;
    node_id node;      /* NODE_NONE: none yet */
    int32_t gpu_index; /* the GPU of a share or an instance; -1: whole GPUs, or none */
    uint32_t milli;    /* taken of that GPU; 0: whole GPUs, or none */
};

struct search {
    const struct placement_policy *policy;
    const struct ledger *ledger;
    const struct request *request;
    struct region region;
    const uint32_t *here; /* members of the job by node; NULL unless the policy looks at nodes */
    bool is_plain;        /* the region is everywhere, and no node is looked at by itself */
    uint32_t looks_left;  /* how many nodes and GPUs may still be looked at one by one; 0: the search was given up */
    struct spot spot;     /* the one being scored */
    struct candidate best;
};

static inline bool region_contains(const struct region *region, node_id node)
{
    return node >= region->first && node <= region->last &&
           (region->level == NULL || region->level->domain[node] == region->id);
}

static inline bool region_is_one_node(const struct region *region)
{
    return region->first == region->last;
}

static inline struct region region_everywhere(const struct ledger *ledger)
{
    return (struct region){.first = 0, .last = ledger->cluster->node_count - 1};
}

/* The part of a region that is in a domain of a level (NULL: a node). */
struct region region_part(const struct region *region, const struct cluster_level *level, uint32_t id);

/* Does it matter which of a node's GPUs are free, not only how many? */
static inline bool search_needs_island(const struct ledger *ledger, const struct request *request)
{
    return request->one_island && ledger->cluster->has_split_nodes;
}

/* A search for members of the request, which is one of `asked`.  The ledger, the request and `here` are borrowed for
 * the life of the search. */
struct search search_of(const struct placement_request *asked, const struct ledger *ledger,
                        const struct request *request, const struct region *region, const uint32_t *here);

/* Find search->best.  False: no spot has room, or looks_left was used up.  members_left: see struct spot. */
bool search_best(struct search *search, uint32_t members_left);

/* Look at one more node, if it is in the region; search->best changes if the node is better.  search->spot describes
 * the member.  Not for a policy that draws. */
void search_node(struct search *search, node_id node);

#endif
