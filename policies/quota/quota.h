/* policies/quota/quota.h -- the seam "how much may a queue have, what is borrowed, and which queue may take it back".
 *
 * Words.  A charge is what a job or a part of it costs its queue: an amount for each enum queue_sum
 * (policies/ledger/ledger.h); the FIRM amounts are 0 if the job is preemptible.  tree->ledger->sums[queue] is the
 * present charge of a queue and of all queues below it.  In an eviction plan this is the trial state, without the
 * victims taken so far.
 *
 * Laws
 *  - All hooks are pure functions of the tree (sums, demand, shares, usage, spec, config) but for `divide`,
 *    which writes shares of one resource, `advance`, and the hooks of homes; these, and `forbids` outside of trials
 *    (tree->ledger->mark_depth 0), may write the policy's own state.
 *  - If `forbids` allows a job, it also allows it where less is charged to some queues.
 *  - Comparisons are total orders; the last keys are the older queue, then the id.
 *  - The root (QUEUE_ROOT) has no quota of its own and is never tested.
 *
 * A policy is one const struct; add it to policies/config/registry.c and to docs/policies.md.
 */
#ifndef POLICIES_QUOTA_H
#define POLICIES_QUOTA_H

#include "policies/ledger/ledger.h"

struct queue_tree;
struct request_class;

struct contender { /* a queue, and the job that it would start next or the unit that would be taken from it */
    queue_id queue;
    const int64_t *ask; /* [QUEUE_SUM_COUNT] */
    queue_id leaf;      /* of the job: `queue` or one below it */
    int32_t priority;   /* of the job */
    time_ns submit;     /* of the job */
};

/* Victims for a preemptor may be searched in rounds.  What a round allows follows from the state before any victim was
 * taken.  `kind` and `needs` are for the policy itself; `entitled` is read by plans too. */
struct quota_round {
    uint8_t kind;
    uint8_t needs;     /* resources that the quota lacks, a bit each; if it lacks none, all that are asked */
    bool goes_on;      /* it keeps the victims of the rounds before; false: it begins with none */
    bool by_share;     /* the next victim is from the queue that compare_victims puts first, level by level */
    bool once_a_queue; /* only the first unit of each queue is looked at */
    queue_id entitled; /* this queue, the preemptor's or one above it, stays within its quota with the job: no queue
                          can take back what it takes from outside; QUEUE_NONE: there is none */
};
enum { QUOTA_ROUNDS_MAX = 2 };

/* A preemptor and one eviction unit that it would take. */
struct taking {
    queue_id preemptor, victim;                  /* leaf queues */
    const int64_t *preemptor_ask;                /* [QUEUE_SUM_COUNT] of the whole job that gains */
    const int64_t *victim_unit;                  /* [QUEUE_SUM_COUNT] */
    int32_t preemptor_priority, victim_priority; /* of the jobs */
    const struct quota_round *round;             /* NULL: could it be taken in any round? */
};

/* The hooks of a policy whose queues lend each other quota.  All 0: nothing is lent by its rules. */
struct quota_lending {
    bool compares_jobs; /* `compare` reads leaf, priority and submit of the contenders; else they may be unset */
    bool looks_above;   /* in deep trees, `compare` also looks at the charges of queues above the parent of the two */

    /* Fills the rounds in which victims are searched for this preemptor, and returns their number.  0: no job is
     * evicted for it, not even one of its own queue.  With this hook a plan of reclaim also takes from the preemptor's
     * own queue what within_queue allows, if the policy has both actions.  Called once per plan, before any victim is
     * taken.  NULL: one round without special rules. */
    uint32_t (*rounds)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                       struct quota_round rounds[QUOTA_ROUNDS_MAX]);

    /* With the victims gone, does the preemptor fit as this round requires?  Called before each `forbids` in a plan.
     * NULL: always. */
    bool (*suffices)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                     const struct quota_round *round);

    /* How much is kept for a job that its quota forbids, so that jobs behind it cannot take it?  False: nothing.  kept:
     * amounts as in `ask`.  It is called once with the root and an ask of 0: may it ever keep anything?  Then it is
     * called for the heads that a limit closed, when a job behind them is tried.  NULL: never. */
    bool (*keeps)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                  int64_t kept[QUEUE_SUM_COUNT]);
};

struct home_row { /* the GPUs of one node that one queue keeps */
    node_id node;
    uint16_t gpus;
};

struct home_rows { /* of a queue, by node; borrowed until a home changes */
    const struct home_row *rows;
    uint32_t count;
};

/* The hooks of a policy whose queues have homes: GPUs that a queue keeps, and to which it confines some of its jobs.
 * Where jobs are confined, a reclaim may also take from the preemptor's own queue, if may_take allows it. */
struct quota_homes {
    /* Returns what is wrong with the quota of a queue on this cluster, or NULL; *queue: that queue.  Called once, by
     * sched_new.  NULL: all quotas are accepted. */
    const char *(*complaint)(struct queue_tree *tree, queue_id *queue);

    /* Returns the only GPUs, by node, where members of this request class may be placed for a job of the leaf; borrowed
     * until the next call.  NULL: anywhere.  Only non-preemptible request classes may be confined.  If a confined job
     * does not fit, its queue blocks it, and it is tried again after the next fact or cycle begins.  Called for every
     * job about to be placed, also in trials.  *keeper is QUEUE_NONE before.  It may be set to a queue if the answer
     * depends only on the nodes where that queue keeps GPUs (struct gpu_keep) and on what is free there.  Then changes
     * on other nodes cannot change the answer.  A NULL hook: no job is confined. */
    const uint16_t *(*confines)(struct queue_tree *tree, queue_id leaf, const struct request_class *request_class,
                                queue_id *keeper);

    /* The home of a queue that `confines` named as keeper.  Required if it names any. */
    struct home_rows (*rows)(struct queue_tree *tree, queue_id keeper);

    /* False only if a job of the request class surely finds no place in the home of the leaf: even if all preemptible
     * jobs leave, or, is_now, as things are.  Called for every job about to be placed, so it should be cheaper than
     * `confines` and a placement.  NULL: never known. */
    bool (*has_room)(struct queue_tree *tree, queue_id leaf, const struct request_class *request_class, bool is_now);

    /* A piece of a job that is never evicted is about to come or go.  Not in trials.  NULL: it does not matter. */
    void (*firm_changes)(struct queue_tree *tree);

    /* NULL: what is known of the homes agrees with the ledger; else what is wrong.  For sched_check. */
    const char *(*check)(const struct queue_tree *tree);
};

struct quota_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool is_flat;        /* all jobs wait in one line, in the root; only `forbids` is called */
    size_t state_size;   /* bytes per queue that the tree keeps for it, zeroed: queue_tree_own() */

    /* The fields of queues and jobs that it reads (topologies/queue_fields.h, workloads/job_fields.h), so that the user
     * is told of fields that no policy reads; fields that firm_needs_quota reads are added.  Both 0: not declared. */
    uint32_t reads_queue, reads_job;

    /* May this much more be charged to the leaf now?  QUEUE_NONE: yes; else the queue that forbids it.  Then its class
     * queue is closed until less is charged to that queue, or `advance` returns true.  Where jobs are confined, only
     * class queues that ask non-preemptible GPUs are; the others are tried again after the next fact or cycle begins.
     * Called for every job about to be placed that no limit of a queue forbids (queue_tree_forbids).  NULL: always
     * yes. */
    queue_id (*forbids)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

    /* Which of two siblings goes first; <0: a.  Called O(siblings) per pick.  Required unless flat. */
    int (*compare)(struct queue_tree *tree, struct contender a, struct contender b);

    /* From which of two siblings is a victim taken first?  <0: a.  `ask` is the unit that would be taken.
     * NULL: from the one that `compare` puts last. */
    int (*compare_victims)(struct queue_tree *tree, struct contender a, struct contender b);

    /* Set tree->queues[c].share[resource] of all children c of `parent`, whose own share is `total`.  Called
     * when stale, once per resource.  NULL: shares are not used. */
    void (*divide)(struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total);

    /* Is the leaf entitled to this much more, so that jobs of other queues may be evicted for it?  Called once per
     * plan.  NULL: never. */
    bool (*may_reclaim)(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

    /* May this unit be taken, in the present trial state?  The unit is still charged.  Called for each candidate unit
     * of another queue and, where jobs are confined, of the preemptor's own.  Of charges it reads those of the queues
     * from the victim's and the preemptor's up to below their common queue; policies with rounds may read others.
     * Required with may_reclaim. */
    bool (*may_take)(struct queue_tree *tree, const struct taking *taking);

    /* Is the after-state valid?  Victims are uncharged, the preemptor is charged.  touched: leaf queues that lost
     * something.  Called before and after trimming.  NULL: always. */
    bool (*is_valid)(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count);

    /* Time has come to `now`: integrate.  Called in every cycle before anything else, and before a charge changes at a
     * later time than the last call.  True: limits or shares may have changed.  Then jobs that they blocked are tried
     * again.  Failed plans are tried again too, if there was a state change since the last call or *next has come; the
     * passing of time alone is no reason.  *next: when to be called again even if no fact comes.  NULL: time does not
     * matter. */
    bool (*advance)(struct queue_tree *tree, time_ns now, time_ns *next);

    /* Write what the policy remembers of the queue's past into its row of the table (usage_ppm), with which
     * another scheduler begins.  Called by sched_describe.  NULL: it remembers nothing. */
    void (*describe)(struct queue_tree *tree, queue_id queue, struct queue_spec *spec);

    struct quota_lending lending;
    struct quota_homes homes;
};

extern const struct quota_policy *const quota_policies[]; /* NULL-terminated */

#endif
