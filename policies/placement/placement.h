/* policies/placement/placement.h -- the seam "where": a score per kind of spot.
 *
 * The engine enumerates spots, not nodes: all nodes of a type with the same number of free GPUs are one spot, all GPUs
 * of a type with the same share left another.  It takes the spot of the highest score; among equals, and inside a
 * spot, the lowest node, then the lowest GPU.  Members of a gang are placed one after another, each on the state that
 * the one before left.
 *
 * A policy that must know more of a node than that has it looked at one by one (`looks_at_nodes`).  One that leaves it
 * to chance is asked for the number of the node it takes (`draw`).
 *
 * Topology is not the policy's affair: what a job and its sets ask (struct topology_ask) confines the members to
 * domains first (policies/placement/domains.h), the policy scores the spots inside.
 *
 * Nor are rules of tags (struct job_tags): they shut nodes first (policies/ledger/ledger_tags.h), and of what is left
 * the members go where the most of the preferred rules are met by all of them.
 *
 * A policy is one const struct; add it to placement_policies.
 */
#ifndef POLICIES_PLACEMENT_H
#define POLICIES_PLACEMENT_H

#include "policies/jobs/request_class.h"
#include "policies/ledger/ledger.h"

struct spot {
    uint32_t type;     /* node type */
    int32_t node_free; /* whole GPUs free on the node; -1: not known (a shared or partitioned GPU) */
    int32_t gpu_left;  /* milli free on the GPU that would be used; GPU_MILLI for whole ones */
    int32_t gpus;      /* whole GPUs asked; 0 for a share or an instance */
    int32_t milli;     /* share asked, or what the MIG instance is of its GPU; 0 for whole GPUs */
    /* For policies that look at nodes. */
    node_id node;          /* NODE_NONE: any of them (in `bound`) */
    uint32_t members_here; /* of this job, on the node already */
    uint32_t members_left; /* of the member's group, still to be placed, this one included */
    const struct ledger *ledger;
    const struct request *request;
    uint32_t owner;               /* slot of the job */
    const struct policy_own *own; /* of a plug-in's policy; NULL: it is built in */
};

#define SPOT_NEVER INT64_MIN /* a score: not here */

enum one_node { ONE_NODE_NO, ONE_NODE_PREFERRED, ONE_NODE_REQUIRED };

struct placement_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    /* Required.  Called once per spot that has room, for every member placed; if the policy looks at nodes,
     * once per node (and GPU, if it is shared or partitioned) that has room.  Higher is better; pure. */
    int64_t (*score)(const struct spot *spot);
    bool looks_at_nodes; /* or score may not return SPOT_NEVER */
    /* Of a policy that looks at nodes: its score depends on the request and on what is on the node and its GPUs alone,
     * so that it is computed once for each state of a node (policies/placement/by_node.h).  With a bound that is done
     * only where the bound leaves many nodes to look at. */
    bool is_local;
    /* The same of a policy that cares where members of the job are: a node where some are scores higher than any where
     * none is; where none is, the score depends, beside what is_local names, on members_left, and no more on that
     * where it is more than any node could hold when empty. */
    bool joins_members;
    /* It reads ledger->typical (policies/jobs/fragmentation.h).  Unlike members of a job for whom it finds no room
     * together are placed as best_fit does, so that what came before keeps no job off an empty cluster. */
    bool uses_typical;
    /* Of spots that differ in nothing else, the one with more whole GPUs free scores lower: it is not asked about
     * where the other has room.  Not of a policy that looks at nodes. */
    bool prefers_full;
    /* Called once per spot, of policies that look at nodes, with node NODE_NONE: no node of it scores higher, and
     * none is looked at if that cannot win.  NULL: all are looked at. */
    int64_t (*bound)(const struct spot *spot);
    enum one_node one_node; /* are nodes that hold all members tried first, or alone? */
    /* Called once per member of whole GPUs: which of the node's free ones it gets: `gpus` of them; at least
     * that number is free.  NULL: as `gpu_choice` of the policy file says. */
    uint16_t (*choose_gpus)(uint16_t free_mask, uint32_t gpus);
    /* Of policies that look at nodes; NULL: the highest score wins.  Else it alone decides, and score is not called.
     * Called once per member: which of the `count` nodes with room, in their order, is taken; the spot has node
     * NODE_NONE.  Once more for a share or an instance, if the node that was taken has several GPUs with room for it:
     * which of these. Below count; pure. */
    uint32_t (*draw)(const struct spot *spot, uint32_t count);
};

extern const struct placement_policy *const placement_policies[]; /* NULL-terminated */

struct by_node;

struct piece_list { /* reused; {0} is empty */
    struct piece *pieces;
    size_t capacity;
    uint32_t count;
    uint32_t *here; /* scratch: members by node, zero between calls */
    size_t here_capacity;
    struct by_node *by_node; /* what is remembered of nodes; NULL: nothing yet */
    struct arena scratch;
};

void piece_list_release(struct piece_list *list);

/* What a job holds already, and keeps: `group` of a piece counts in the groups of its request class. */
struct held_pieces {
    const struct piece *pieces;
    uint32_t count;
};

/* Take space for all members of the request class in the ledger, for the job in slot `owner`, and list it. False if
 * they do not all fit; then the ledger and the list hold a part: roll back to a mark of before. Without topology and
 * rules of tags, and with a policy that does not look at nodes, O(node types * GPUs of a node) a member. */
bool placement_place(const struct placement_policy *policy, struct ledger *ledger,
                     const struct request_class *request_class, uint32_t owner, struct piece_list *out);

/* The same for a job that holds members already: a set that requires (or prefers) one domain goes only where
 * those of them are that belong to it. */
bool placement_extend(const struct placement_policy *policy, struct ledger *ledger,
                      const struct request_class *request_class, struct held_pieces held, uint32_t owner,
                      struct piece_list *out);

/* The same where the last of what is held is claimed, and behind it stands what is on its way out: pieces that the
 * job's own rules of tags do not mind. */
struct passing_pieces {
    uint32_t claimed, leaving;
};
bool placement_extend_leaving(const struct placement_policy *policy, struct ledger *ledger,
                              const struct request_class *request_class, struct held_pieces held,
                              struct passing_pieces passing, uint32_t owner, struct piece_list *out);

/* An upper bound that costs a few counts per type: false only if the request class cannot be placed now. */
bool placement_may_fit(const struct ledger *ledger, const struct request_class *request_class);

/* The GPUs of the first node among the pieces, all of a job, if it is another than `node`; else 0.  Those of one node
 * stand together. */
uint16_t pieces_rails(const struct piece *pieces, uint32_t count, node_id node);

#endif
