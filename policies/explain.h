/* policies/explain.h -- why a job waits: the nodes it may not use and why, what is missing, what must change.
 *
 * For people and reports, on demand; no decision calls it.
 *
 *   struct explanation why;
 *   if (sched_explain(sched, job, &why))
 *       printf("%s: %s\n", reason_name(why.code), why.text);
 *
 * Laws
 *  - Each node is counted once, under the first cause that keeps a member off it, in the order of enum explain_node.
 *    With several kinds of member, the kind that comes furthest counts.  The counts sum to the nodes of the cluster.
 *  - The code is that of sched_why; the nodes are as they are now.  A job whose turn has not come may find nodes that
 *    fit.  A job that was blocked at its last try may fit now.
 *  - Asking changes no later decision: trials in the ledger are rolled back.
 *  - No job waits beside space that it may have: when nothing changes any more, and a cycle and each interval pass has
 *    run, no waiting job is one of which the text says that the next cycle starts it.  What the text says is true:
 *    alone in a copy of the scheduler, a job that is said to lack space, or to be stopped by a limit or the headroom,
 *    does not start.  (tests/property/test_left_waiting.c.  A job said to fit now once waited beside an empty rack.)
 *
 * Cost: O(nodes x groups of the job + what runs), with backfill O(planned starts) more.
 * Known limits: each group of a job is counted as if it had the cluster to itself; with sets within sets the
 * narrowest required domain of a group counts.
 *
 * It does not: say when the job will start, or which jobs an eviction would hit.
 */
#ifndef POLICIES_EXPLAIN_H
#define POLICIES_EXPLAIN_H

#include "base/mem.h"
#include "policies/sched.h"

enum explain_node {
    EXPLAIN_NOT_UP,        /* down, draining, cordoned or absent */
    EXPLAIN_TAINT,         /* a taint that is not tolerated */
    EXPLAIN_NODE_AFFINITY, /* its labels do not match the request */
    EXPLAIN_MISMATCH,      /* another GPU model */
    EXPLAIN_TOO_SMALL,     /* even when empty: too few GPUs, CPUs or MiB, or no such MIG instance */
    EXPLAIN_GPUS_BUSY,     /* fewer milli-GPUs are free in all than a member requests */
    EXPLAIN_FRAGMENTED,    /* enough are free, but not as whole GPUs, on one GPU or as that instance */
    EXPLAIN_CPUS,
    EXPLAIN_MEMORY,
    EXPLAIN_TASKS,    /* the node may take no more members */
    EXPLAIN_KEPT,     /* for a reservation, for a planned start of backfill, or as headroom */
    EXPLAIN_CELLS,    /* its free GPUs belong to cells of other queues */
    EXPLAIN_AFFINITY, /* excluded by rules of tags: the job's own, or those of other jobs on the node */
    EXPLAIN_DOMAIN,   /* a member fits, but its domain has no room for all that must be together */
    EXPLAIN_FITS,     /* at least one member fits */
    EXPLAIN_NODE_COUNT
};
extern const char *const explain_node_names[]; /* "not_up", "mismatch", ..., NULL */
extern const char *const explain_node_words[]; /* "not up", "of another kind", ...: nodes of which this is said */

enum { EXPLAIN_TEXT_MAX = 480 };

struct explanation {
    enum reason code;
    bool is_never;                      /* no state of this cluster could hold it */
    uint32_t nodes[EXPLAIN_NODE_COUNT]; /* sums to the cluster's */

    /* Its next allocation step. */
    uint32_t members, members_fitting; /* fitting: the members that fit now */
    bool fits_now;                     /* all of them fit together, limits and kept space ignored */

    /* The shortfall, for the members that do not fit or for the headroom.  CPUs and MiB: of the node that lacks least,
     * among the nodes where this is the first thing missing. */
    int64_t gpu_milli_short, cpu_milli_short, memory_mib_short;
    uint32_t nodes_short;   /* nodes with as much room as an empty one */
    int64_t gpu_milli_free; /* of GPUs that it may use: their model, node, labels and cells */

    /* The queue that forbids the start: the job's own or one above it. */
    queue_id over_queue; /* QUEUE_NONE: none */
    enum resource over_resource;
    int64_t over_held, over_asked; /* amounts of struct queue_spec */
    int64_t over_bound;            /* its limit or quota; QUOTA_UNLIMITED: it depends on others */
    bool over_is_quota;            /* else a limit */
    bool is_quota_kept;            /* no queue forbids it, but quota is kept for heads that go before it */

    uint32_t ahead; /* jobs of its leaf queue that go before it */
    job_id first;   /* the first of them; JOB_NONE: the job itself is the first */

    char text[EXPLAIN_TEXT_MAX]; /* what must change: a sentence or two */
};

/* False, and nothing is written, if the job is not known or does not wait. */
bool sched_explain(struct sched *sched, job_id job, struct explanation *out);

/* ---- What a decision weighs ---- */

struct weighed_node { /* the job's next member has room here */
    node_id node;
    int64_t score;     /* by the placement policy; higher is better */
    uint8_t why;       /* enum explain_node: EXPLAIN_FITS, or what keeps it off in spite of the room */
    uint8_t free_gpus; /* whole ones */
};

struct weighed_head { /* the head of a class queue */
    job_id job;
    queue_id queue;
    uint32_t waiting;   /* jobs of its class queue */
    enum reason reason; /* why it waits, as of the last cycle */
    /* What puts it behind the head before it: the quota policy (its queue comes later), an order policy, or "job id";
     * NULL: it is the first. */
    const char *behind_by;
};

struct weighing {
    struct explanation why;
    const char *placement;      /* the name of the policy */
    bool is_drawn;              /* it draws a node at random: there are no scores */
    bool has_topology;          /* domains are chosen first, then nodes in them */
    bool has_reservation;       /* its space is claimed already */
    uint32_t members;           /* of the kind that is placed first: the first of them is scored */
    uint32_t taken_count;       /* starts of `before` taken as done: their space is free now */
    struct weighed_node *nodes; /* best first, then by number */
    uint32_t node_count;
    uint32_t refused[EXPLAIN_NODE_COUNT]; /* nodes without room, by cause; EXPLAIN_FITS: the policy refuses them */
    struct weighed_head *heads;           /* in the order of the queue selection, up to the job's own class queue */
    uint32_t head_count;
    uint32_t ahead_in_class; /* jobs of its own class queue that go before it */
    bool inference_first;    /* heads of inference are tried before all others */
    struct arena arena;
};

/* Score every node for a waiting job as the placement would now, after the STARTs of `before` (decisions of the cycle
 * that follows).  Heads are as they are now.  False, and nothing is written, if the job is not known or does not wait.
 * Asking changes no later decision.  Caller: arena_release(&out->arena).  O(nodes + class queues x queues).
 * Preferred rules of tags and preferred domains do not count, nor does what `before` starts of the job itself. */
bool sched_weigh(struct sched *sched, job_id job, const struct decision *before, size_t before_count,
                 struct weighing *out);

#endif
