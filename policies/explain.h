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
 *
 * Cost: O(nodes x groups of the job + what runs), with backfill O(planned starts) more.
 * Known limits: each group of a job is counted as if it had the cluster to itself; with sets within sets the
 * narrowest required domain of a group counts.
 *
 * It does not: say when the job will start, or which jobs an eviction would hit.
 */
#ifndef POLICIES_EXPLAIN_H
#define POLICIES_EXPLAIN_H

#include "policies/sched.h"

enum explain_node {
    EXPLAIN_NOT_UP,        /* down, draining, cordoned or absent */
    EXPLAIN_TAINT,         /* a taint that is not tolerated */
    EXPLAIN_NODE_AFFINITY, /* its labels are not those asked */
    EXPLAIN_MISMATCH,      /* another GPU model */
    EXPLAIN_TOO_SMALL,     /* even when empty: too few GPUs, CPUs or MiB, or no such MIG instance */
    EXPLAIN_GPUS_BUSY,     /* fewer milli-GPUs are free in all than a member asks */
    EXPLAIN_FRAGMENTED,    /* enough are, but not as whole GPUs, on one GPU or as that instance */
    EXPLAIN_CPUS,
    EXPLAIN_MEMORY,
    EXPLAIN_TASKS,    /* the node may take no more members */
    EXPLAIN_KEPT,     /* for a reservation, for a planned start of backfill, or as headroom */
    EXPLAIN_CELLS,    /* what is free belongs to other queues' cells */
    EXPLAIN_AFFINITY, /* rules of tags shut it: the job's own, or those of others that are there */
    EXPLAIN_DOMAIN,   /* a member fits, but its domain has no room for all that must be there */
    EXPLAIN_FITS,     /* a member, at least */
    EXPLAIN_NODE_COUNT
};
extern const char *const explain_node_names[]; /* "not_up", "mismatch", ..., NULL */

enum { EXPLAIN_TEXT_MAX = 480 };

struct explanation {
    enum reason code;
    bool is_never;                      /* no state of this cluster could hold it */
    uint32_t nodes[EXPLAIN_NODE_COUNT]; /* sums to the cluster's */

    /* What it waits for: its minimum, or the next part of it. */
    uint32_t members, members_fitting; /* fitting: members that the nodes that fit hold, at most all */
    bool fits_now;                     /* all of them together, but for limits and for what is kept */
    bool is_behind;                    /* jobs before it would take what is kept: policies/allocate/kept_space.h */

    /* Short of: for the members that do not fit, or for the headroom.  CPUs and MiB: on the node that lacks least of
     * those where nothing else is missing before. */
    int64_t gpu_milli_short, cpu_milli_short, memory_mib_short;
    uint32_t nodes_short;   /* with room for as many members as an empty one has */
    int64_t gpu_milli_free; /* of up nodes, anywhere and of any model */

    /* A queue is in the way, here or above the job's. */
    queue_id over_queue; /* QUEUE_NONE: none */
    enum resource over_resource;
    int64_t over_held, over_asked; /* amounts of struct queue_spec */
    int64_t over_bound;            /* its limit or quota; QUOTA_UNLIMITED: it depends on others */
    bool over_is_quota;            /* else a limit */

    uint32_t ahead; /* jobs of its line that go before it */
    job_id first;   /* the first of its line, if another; JOB_NONE */

    char text[EXPLAIN_TEXT_MAX]; /* what must change: a sentence or two */
};

/* False, and nothing is written, if the job is not known or does not wait. */
bool sched_explain(struct sched *sched, job_id job, struct explanation *out);

#endif
