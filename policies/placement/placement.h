/* policies/placement/placement.h -- the seam "where members are placed": a score for each spot.
 *
 * The search goes over spots, not nodes.  All nodes of a type with the same number of free GPUs are one spot; all GPUs
 * of a type with the same share left are one spot.  It takes the spot with the highest score; among equals, and inside
 * a spot, the lowest node, then the lowest GPU.  Members of a gang are placed one after another, each in the state that
 * the one before left.
 *
 * A policy that needs to know more of a node scores node by node (`looks_at_nodes`).  A policy that chooses at random
 * returns the number of the node to take (`draw`).
 *
 * The policy does not deal with topology: what a job and its sets ask (struct topology_ask) confines the members to
 * domains first (policies/placement/domains.h), and the policy scores the spots inside.
 *
 * Nor does it deal with rules of tags (struct job_tags).  They shut nodes first (policies/ledger/ledger_tags.h).  Then
 * the members go where all of them meet the most preferred rules.
 *
 * A policy may also compare whole places of a gang (`score_place`).
 *
 * A policy is one const struct; add it to placement_policies.
 */
#ifndef POLICIES_PLACEMENT_H
#define POLICIES_PLACEMENT_H

#include "policies/jobs/request_class.h"
#include "policies/ledger/ledger.h"
#include "topologies/links.h"

struct spot {
    uint32_t type;     /* node type */
    int32_t node_free; /* whole GPUs free on the node; -1: not known (a shared or partitioned GPU) */
    int32_t gpu_left;  /* milli free on the GPU that would be used; GPU_MILLI for whole ones */
    int32_t gpus;      /* whole GPUs asked; 0 for a share or an instance */
    int32_t milli;     /* the share asked, or the size of the MIG instance; 0 for whole GPUs */
    /* For policies that look at nodes. */
    node_id node;          /* NODE_NONE: any node of the spot (in `bound`) */
    uint32_t members_here; /* members of this job that are on the node already */
    uint32_t members_left; /* members of the group still to be placed, this one included */
    const struct ledger *ledger;
    const struct request *request;
    const struct allowed_space *allowed; /* NULL: all of the cluster */
    uint32_t owner;                      /* slot of the job */
    const struct policy_own *own;        /* of a plug-in's policy; NULL: it is built in */
};

#define SPOT_NEVER INT64_MIN /* a score: not here */

/* A place of all members of a job. */
struct place {
    const struct cluster *cluster;
    const struct traffic *traffic;             /* of the booked gangs: policies/placement/traffic.h; NULL: not known */
    struct arena *scratch;                     /* for the time of the call */
    const struct communication *communication; /* topologies/communication.h */
    struct link_place *gpus;                   /* of the members held and placed; the hook may sort them */
    uint32_t gpu_place_count;
    uint32_t member_gpus;         /* GPUs of a member, of the smallest if they differ */
    const struct policy_own *own; /* of a plug-in's policy; NULL: it is built in */
};

#define PLACE_BEST INT32_MAX /* a score: no other place of the job is better */

enum one_node { ONE_NODE_NO, ONE_NODE_PREFERRED, ONE_NODE_REQUIRED };

struct placement_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    /* Required.  Called once per spot that has room, for every member placed; if the policy looks at nodes,
     * once per node (and GPU, if it is shared or partitioned) that has room.  Higher is better; pure. */
    int64_t (*score)(const struct spot *spot);
    bool looks_at_nodes; /* or score may not return SPOT_NEVER */
    /* Of a policy that looks at nodes: its score depends only on the request and on the state of the node and its GPUs.
     * So it is computed once for each state of a node (policies/placement/by_node.h).  A policy with a bound uses that
     * only if the bound leaves many nodes to score. */
    bool is_local;
    /* As is_local, for a policy that looks at where members of the job are.  A node with such members scores higher
     * than any node without.  On a node without, the score depends on what is_local names and on members_left; all
     * values of members_left that no empty node could hold give the same score. */
    bool joins_members;
    /* It reads ledger->typical (policies/jobs/fragmentation.h).  If it finds no room for a job whose members differ,
     * the job is placed as best_fit does: else the typical jobs could keep a job off an empty cluster for ever. */
    bool uses_typical;
    /* Of spots that differ in nothing else, the one with more free whole GPUs scores lower, so it is not scored if the
     * other has room.  Not for a policy that looks at nodes. */
    bool prefers_full;
    /* An upper bound of the scores of a spot's nodes.  Called once per spot, with node NODE_NONE, for policies that
     * look at nodes; a spot whose bound cannot win is skipped.  NULL: all nodes are scored. */
    int64_t (*bound)(const struct spot *spot);
    enum one_node one_node; /* are nodes that hold all members tried first, or only these? */
    /* Called once per member that asks whole GPUs: returns which of the node's free GPUs it gets, `gpus` of them.  At
     * least that many are free.  NULL: as `gpu_choice` of the policy file says. */
    uint16_t (*choose_gpus)(uint16_t free_mask, uint32_t gpus);
    /* Only for policies that look at nodes.  NULL: the highest score wins.  Else draw alone decides, and score is not
     * called.  Called once per member, with node NODE_NONE: returns which of the `count` nodes with room, in their
     * order, is taken.  For a share or an instance, if several GPUs of that node have room, it is called again to
     * choose one.  Returns a number below count; pure. */
    uint32_t (*draw)(const struct spot *spot, uint32_t count);
    /* How good a place of all members is; higher is better, PLACE_BEST is the most there is.  Called for jobs of
     * several GPUs that declare communication, once for each way that is tried (policies/placement/ways.h).  NULL:
     * such a job is placed like any other. */
    int32_t (*score_place)(const struct place *place);
};

extern const struct placement_policy *const placement_policies[]; /* NULL-terminated */

struct by_node;

struct piece_list { /* reused; {0} is empty */
    struct piece *pieces;
    size_t capacity;
    uint32_t count;
    uint32_t *here; /* scratch: members by node; between calls those of the first here_count pieces of here_list */
    size_t here_capacity;
    uint64_t here_list; /* a placement_request.held_list; 0: `here` is zero */
    uint32_t here_count;
    struct by_node *by_node; /* kept scores of nodes; NULL: none yet */
    struct arena scratch;
};

void piece_list_release(struct piece_list *list);

/* The pieces that a job holds already and keeps; their `group` is that of the job's request class. */
struct held_pieces {
    const struct piece *pieces;
    uint32_t count;
};

/* Pieces that the job's own rules of tags ignore: the last `claimed` pieces of those held are claimed, and `leaving`
 * pieces stand behind them in the array. */
struct passing_pieces {
    uint32_t claimed, leaving;
};

/* Members to place, and where they may go. */
struct placement_request {
    const struct placement_policy *policy;
    const struct request_class *request_class; /* all of its members are placed */
    uint32_t owner;                            /* slot of the job */
    struct held_pieces held; /* a set that requires (or prefers) one domain may only go to the domain of these */
    uint64_t held_list;      /* not 0: later requests with this number hold these pieces, in this order, and more */
    struct passing_pieces passing;
    const struct allowed_space *allowed; /* NULL: all of the cluster */
    bool ignores_warm;                   /* no node is preferred because it is warm (prefer_warm.h) */
    const volatile int *stop;            /* looked at every PLACEMENT_LOOK members; NULL: none */
};

enum { PLACEMENT_LOOK = 64 }; /* a member takes 0.3 ms where a policy looks at each of 125,000 nodes */

/* Take space for all members of the request in the ledger and list it in `out`.  False: they do not all fit, or *stop
 * is not 0.  Then some may have been taken, and the caller rolls back to an earlier mark.  O(node types * GPUs of a
 * node) a member, without topology and rules of tags and with a policy that does not look at nodes. */
bool placement_place(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out);

/* A cheap test: false only if the request class cannot be placed now.  O(node types * GPUs of a node). */
bool placement_may_fit(const struct ledger *ledger, const struct request_class *request_class);

/* The GPUs that the pieces of a job use on its first node; 0 if that is `node`.  The pieces of one node stand together.
 */
uint16_t pieces_rails(const struct piece *pieces, uint32_t count, node_id node);

#endif
