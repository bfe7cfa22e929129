/* policies/queues/queues.h -- the queue tree: demand, charge and share of each queue.
 *
 * Law: the demand of a queue is what the waiting and running jobs of it and of all queues below ask; it is not counted
 * if the policy never looks at queues.  The charge is in the ledger.  Shares are divided when they are needed: if the
 * demand of its children changes, a parent becomes stale, and it is divided again when two children are compared or a
 * share is read.  The result equals a full division.
 * Each resource is divided by itself.  Amounts are milli-GPUs, milli-CPUs and MiB.
 * Law: no queue holds more of a resource than its limit, whatever the quota policy (queue_tree_forbids).  If all jobs
 * wait in one line, a job beyond the limit of its queue does not stop the jobs behind it: each starts unless a limit
 * forbids it, too.  tests/cases/limits_of_all_presets.json checks both.  Once, limits had no effect under the nine
 * presets whose quota policy is `none`.
 * Source of the second sentence: Slurm passes over a job whose association has used up its GrpTRES.
 */
#ifndef POLICIES_QUEUES_QUEUES_H
#define POLICIES_QUEUES_QUEUES_H

#include "policies/jobs/request_class.h"

struct quota_policy;

enum { QUEUE_SCRATCH_BYTES = 80 };

struct queue_winner {
    uint64_t key;          /* the request_class_table.closed_key for which it won */
    uint32_t class_queue;  /* goes first among this queue and all below; CLASS_QUEUE_NONE */
    bool is_selected_from; /* others competed: another division of shares may change the winner */
};

struct queue_state {
    queue_id parent;
    queue_id first_child, next_sibling; /* QUEUE_NONE; siblings in order of id */
    uint32_t depth;                     /* of the root: 0 */
    int64_t demand[RESOURCE_COUNT];
    int64_t share[RESOURCE_COUNT];       /* as of the last division of its parent */
    bool is_share_stale[RESOURCE_COUNT]; /* its children's shares must be divided again */
    bool has_closed_class_queues;        /* a limit of this queue closed some class queue */
    bool has_winner;            /* false: the queue selection below must be held again, and so must all above */
    struct queue_winner winner; /* of the last queue selection held here */
};

/* What waits in a queue and below it.  A queue selection reads this of all children, so it is kept in its own array. */
struct queue_waits {
    /* request classes asked by class queues that no limit closed; may contain more (policies/jobs/request_class.h) */
    request_class_set asked[ASKER_COUNT];
    uint32_t jobs;
    queue_id first, next, previous; /* the children with waiting jobs, as a list in no order */
};

struct queue_tree {
    const struct queue_table *table;
    struct ledger *ledger;
    const struct quota_policy *quota;
    struct queue_state *queues; /* by queue_id */
    struct queue_waits *waits;  /* by queue_id */
    size_t waits_capacity;
    queue_id *by_age; /* all queues, the oldest first, then by id; the root is among them */
    size_t by_age_capacity;
    queue_id *last_child; /* by queue_id; QUEUE_NONE: it has none */
    size_t last_child_capacity;
    size_t queue_capacity;
    uint32_t count;
    uint32_t closing_count;           /* queues that have closed class queues */
    int64_t capacity[RESOURCE_COUNT]; /* of nodes that are up */
    uint32_t version;                 /* changes when the table or the capacity is set */
    bool is_deep;                     /* some queue has two or more queues between itself and the top of its tree */
    bool has_limits;                  /* some queue has a limit */
    const struct quota_config *config;
    uint8_t *own; /* the quota policy's state, state_size bytes per queue; see queue_tree_own */
    size_t own_capacity;
    time_ns now;                         /* of the last advance */
    const struct policy_own *policy_own; /* of a plug-in's quota policy; NULL: it is built in */
    void *scratch;                       /* for the quota policy's division: QUEUE_SCRATCH_BYTES for each queue */
    int64_t *shares_before;              /* by queue: the shares before a division */
    size_t scratch_capacity;
};

void queue_tree_release(struct queue_tree *tree);
void queue_tree_update(struct queue_tree *tree, const struct queue_table *table); /* new or changed queues; O(queues) */
/* As above, where all queues that were known are as they were.  O(new queues x their depth), if they are not older than
 * the others and the quota policy does not look above in a deep tree; else O(queues) more. */
void queue_tree_add(struct queue_tree *tree, const struct queue_table *table);
void queue_tree_set_capacity(struct queue_tree *tree, const int64_t capacity[RESOURCE_COUNT]);

/* Make all shares and winners of the tree stale. */
void queue_tree_all_stale(struct queue_tree *tree);

/* Something in or below this queue changed: drop the winners of it and of all queues above.  O(depth). */
void queue_tree_touch(struct queue_tree *tree, queue_id queue);

/* The limit of this queue has closed a class queue; those that it closed try again. */
static inline void queue_tree_close(struct queue_tree *tree, queue_id queue)
{
    tree->closing_count += !tree->queues[queue].has_closed_class_queues;
    tree->queues[queue].has_closed_class_queues = true;
}
static inline void queue_tree_reopen(struct queue_tree *tree, queue_id queue)
{
    tree->closing_count -= tree->queues[queue].has_closed_class_queues;
    tree->queues[queue].has_closed_class_queues = false;
}

/* The charge or the demand of this queue changed, so its place among its siblings may have.  O(depth); O(queues) in a
 * deep tree whose policy looks above the queues that compete. */
void queue_tree_touch_standing(struct queue_tree *tree, queue_id queue);

/* May this much more be charged to the leaf now?  QUEUE_NONE: yes; else the queue whose limit, or whose quota by the
 * quota policy, forbids it.  Called for every job about to be placed.  O(depth) and the cost of the policy's hook. */
queue_id queue_tree_forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* The first queue from `leaf` up whose limit does not allow this much more; QUEUE_NONE: all allow it.  O(depth). */
queue_id queue_tree_limit_forbids(const struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);

/* The first queue from `leaf` up that has a limit; QUEUE_ROOT: none has.  O(depth). */
queue_id queue_tree_limited_by(const struct queue_tree *tree, queue_id leaf);

/* Does the quota policy ever look at a queue?  If not, demand is not counted. */
bool queue_tree_is_asked(const struct queue_tree *tree);

/* Add sign (1 or -1) times `ask` to the demand of the queue.  Only if queue_tree_is_asked. */
void queue_tree_demand(struct queue_tree *tree, queue_id queue, const int64_t ask[QUEUE_SUM_COUNT], int sign);

/* The share of a queue; stale shares are divided first.  The root's share is the capacity. */
int64_t queue_tree_share(struct queue_tree *tree, queue_id queue, enum resource resource);

/* Divide stale shares of a queue and its siblings in all resources, so that queues[].share may be read. */
void queue_tree_divide(struct queue_tree *tree, queue_id queue);

static inline const struct queue_spec *queue_tree_spec(const struct queue_tree *tree, queue_id queue)
{
    return &tree->table->queues[queue];
}

/* The charge of the queue and of all queues below.  queue_tree_non_preemptible: the non-preemptible part of it. */
static inline int64_t queue_tree_charged(const struct queue_tree *tree, queue_id queue, enum resource resource)
{
    return tree->ledger->sums[queue][resource];
}

static inline int64_t queue_tree_non_preemptible(const struct queue_tree *tree, queue_id queue, enum resource resource)
{
    return tree->ledger->sums[queue][RESOURCE_COUNT + resource];
}

/* The quota policy's own state of a queue. */
void *queue_tree_own(const struct queue_tree *tree, queue_id queue);

/* Compare by age, the older first, then by id.  <0: a goes first. */
int queue_tree_compare_age(const struct queue_tree *tree, queue_id a, queue_id b);

/* The children of the lowest common ancestor that contain a and b; the queues themselves if they are siblings.
 * If one is above the other, both results are the upper one. */
void queue_tree_below_common(const struct queue_tree *tree, queue_id a, queue_id b, queue_id *below_a,
                             queue_id *below_b);

#endif
