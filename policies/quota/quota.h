/* policies/quota/quota.h -- the seam "may this queue have it, is it borrowed, who may take it back".
 *
 * Words.  A charge is what a job or a part of it costs its queue: an amount per enum queue_sum
 * (policies/ledger/ledger.h), the FIRM ones zero when it is preemptible.  tree->ledger->sums[queue] is what a queue
 * and all below it are charged now; in an eviction plan that is the trial state: victims taken so far are
 * uncharged already.
 *
 * Laws
 *  - All hooks are pure functions of the tree (sums, demand, shares, usage, spec, config) but for `divide`,
 *    which writes shares of one resource, and `advance`; these, and `forbids` outside of trials
 *    (tree->ledger->mark_depth 0), may write the policy's own state.
 *  - Comparators are total; the last keys are the older queue, then the id.
 *  - The root (QUEUE_ROOT) has no quota of its own and is never asked.
 *
 * A policy is one const struct; add it to policies/config/registry.c and to docs/policies.md.
 */
#ifndef POLICIES_QUOTA_H
#define POLICIES_QUOTA_H

#include "policies/ledger/ledger.h"

struct queue_tree;
struct request_class;

struct contender { /* a queue and what it would start next, or what would be taken from it */
    queue_id queue;
    const int64_t *ask; /* [QUEUE_SUM_COUNT] */
    queue_id leaf;      /* of the job: `queue` or one below it */
    int32_t priority;   /* of the job */
    time_ns submit;     /* of the job */
};

/* Victims for a preemptor may be sought in rounds.  What a round allows follows from the state before any victim went;
 * the policy alone reads `kind`, `needs` and `entitled`, which it wrote. */
struct quota_round {
    uint8_t kind;
    uint8_t needs;     /* resources that the quota lacks, a bit each; all that is asked if it lacks none */
    bool goes_on;      /* with the victims of the rounds before; false: from nothing */
    bool by_share;     /* the next victim is of the queue that compare_victims names, level by level */
    bool once_a_queue; /* of each queue only the first unit is looked at */
    queue_id entitled; /* with the job this queue, the preemptor's or one above it, stays within its quota: what it
                          takes from beyond, nobody can take back; QUEUE_NONE */
};
enum { QUOTA_ROUNDS_MAX = 2 };

/* A preemptor and one unit of a victim: a job's surplus member, or all that it needs to run. */
struct taking {
    queue_id preemptor, victim;                  /* leaf queues */
    const int64_t *preemptor_ask;                /* [QUEUE_SUM_COUNT] of the whole job that gains */
    const int64_t *victim_unit;                  /* [QUEUE_SUM_COUNT] */
    int32_t preemptor_priority, victim_priority; /* of the jobs */
    const struct quota_round *round;             /* NULL: might it be taken at all, as things stand? */
};

struct archive;

struct quota_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool is_flat;        /* all jobs wait in one line, whatever their queue; only `forbids` is called */
    size_t state_size;   /* bytes per queue that the tree keeps for it, zeroed: queue_tree_own() */
    bool compares_jobs;  /* `compare` looks at leaf, priority and submit of the contenders; else they may be unset */
    bool takes_own;      /* a reclaim may also take from the preemptor's own queue; may_take is asked */
    bool looks_above;    /* in deep trees, `compare` also looks at the charges of queues above the parent of the two */

    /* What is wrong with this queue's quota on this cluster, or NULL; *queue: which.  Called once, by sched_new.
     * NULL: any will do. */
    const char *(*complaint)(struct queue_tree *tree, queue_id *queue);

    /* May this much more be charged to the leaf now?  QUEUE_NONE: yes; else the queue that forbids it; jobs of
     * this kind are then not tried again before less is charged to that queue (or advance says so).
     * Called for every job about to be placed.  NULL: always yes. */
    queue_id (*forbids)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

    /* Where alone may members of this request class be placed for a job of the leaf?  GPUs by node, borrowed until the
     * next call; NULL: anywhere.  Request classes that cannot be preempted, and only those, may be confined: what did
     * not fit is then the queue's affair, and asked again when advance says so.  Called for every job about to be
     * placed, also in trials.  *keeper, QUEUE_NONE before: the queue whose cells (cells_index.h) the answer follows
     * from, if it follows from the nodes where that queue keeps GPUs and from what is free there.  Then it need not be
     * asked again for what happens elsewhere.  NULL: no job is confined. */
    const uint16_t *(*confines)(struct queue_tree *tree, queue_id leaf, const struct request_class *request_class,
                                queue_id *keeper);

    /* Which of two siblings goes first; <0: a.  Called O(siblings) per pick.  Required unless flat. */
    int (*compare)(struct queue_tree *tree, struct contender a, struct contender b);

    /* Of which of two siblings is a victim taken first; <0: a.  `ask` is the unit that would be taken.
     * NULL: of the one that `compare` would let go last. */
    int (*compare_victims)(struct queue_tree *tree, struct contender a, struct contender b);

    /* Set tree->queues[c].share[resource] of all children c of `parent`, whose own share is `total`.  Called
     * when stale, once per resource.  NULL: shares are not used. */
    void (*divide)(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total);

    /* Is the leaf entitled to this much more, so that other queues' jobs may be evicted for it?  Called once per
     * plan.  NULL: never; then jobs of other queues are victims only by priority across queues. */
    bool (*may_reclaim)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

    /* May this unit be taken, in the present trial state, before it is uncharged?  Called once per possible
     * victim unit of another queue.  Required with may_reclaim. */
    bool (*may_take)(struct queue_tree *tree, const struct taking *taking);

    /* In how many rounds are victims sought for this preemptor, and how?  0: nobody is evicted for it, not even a job
     * of its own queue.
     * Where this hook is, a plan of reclaim also takes from the preemptor's own queue what within_queue allows, if
     * both actions are on.  Called once per plan, before any victim goes.  NULL: one round, of which nothing is asked.
     */
    uint32_t (*rounds)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                       struct quota_round rounds[QUOTA_ROUNDS_MAX]);

    /* What is kept, from those behind it, for a job that its quota forbade; false: nothing.  kept: as `ask`.  Asked of
     * the root, of nothing: might it ever keep anything?  Called once for that, then for the heads that a limit closed,
     * when one behind them is tried.  NULL: never. */
    bool (*keeps)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                  int64_t kept[QUEUE_SUM_COUNT]);

    /* The preemptor fits its limits with the victims gone: does it so in the way of this round?  Called whenever
     * `forbids` is asked for a plan.  NULL: always. */
    bool (*suffices)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                     const struct quota_round *round);

    /* The after-state: victims are uncharged, the preemptor is charged.  touched: leaf queues that lost something.
     * Called before and after trimming.  NULL: always good. */
    bool (*is_valid)(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count);

    /* Time has come to `now`: integrate.  Called in every cycle before anything else, and before a charge
     * changes at a later time than the last call.  True if limits or shares may have moved, so that jobs they held up
     * are tried again, and plans that came to nothing too if anything was told or decided since the last call or *next
     * has come: time alone, of which the policy said nothing, is no news.  NULL: time does not matter.
     * *next: when to be called even if nothing is told. */
    bool (*advance)(struct queue_tree *tree, time_ns now, time_ns *next);

    /* Save or load the own state of one queue (policies/util/archive.h), every field of it.  Called once per queue by
     * sched_save and sched_load.  NULL: it keeps none, or, with a state_size, cannot be saved. */
    void (*archive)(struct archive *archive, void *own);
};

extern const struct quota_policy *const quota_policies[]; /* NULL-terminated */

#endif
