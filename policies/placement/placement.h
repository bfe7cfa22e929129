/* policies/placement/placement.h -- the seam "where": a score per kind of spot.
 *
 * The engine enumerates spots, not nodes: all nodes of a type with the same number of free GPUs are one
 * spot, all GPUs of a type with the same share left another.  It takes the spot of the highest score;
 * among equals, and inside a spot, the lowest node, then the lowest GPU.  Members of a gang are placed
 * one after another, each on the state that the one before left.
 *
 * A policy is one const struct; add it to placement_policies.
 */
#ifndef POLICIES_PLACEMENT_H
#define POLICIES_PLACEMENT_H

#include "policies/ledger.h"
#include "policies/shape.h"

struct spot {
    uint32_t type;     /* node type */
    int32_t node_free; /* whole GPUs free on the node; -1: not known (a shared GPU) */
    int32_t gpu_left;  /* milli free on the GPU that would be used; GPU_MILLI for whole ones */
    int32_t gpus;      /* whole GPUs asked; 0 for a share */
    int32_t milli;     /* share asked; 0 for whole GPUs */
};

struct placement_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    /* Required.  Called once per spot that has room, for every member placed.  Higher is better; pure. */
    int64_t (*score)(const struct spot *spot);
};

extern const struct placement_policy *const placement_policies[]; /* NULL-terminated */

struct piece_list { /* scratch, reused */
    struct piece *pieces;
    size_t capacity;
    uint32_t count;
};

/* Take space for all members of the shape in the ledger, for the job in slot `owner`, and list it.
 * False if they do not all fit; then the ledger and the list hold a part: roll back to a mark of before. */
bool placement_place(const struct placement_policy *policy, struct ledger *ledger,
                     const struct shape *shape, uint32_t owner, struct piece_list *out);

/* The space of a piece of such a shape. */
struct space placement_space(const struct shape *shape, const struct piece *piece, uint32_t owner);

#endif
