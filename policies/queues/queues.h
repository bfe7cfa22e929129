/* policies/queues/queues.h -- the queue tree at work: demand, charge, and the share each queue is due.
 *
 * Law: demand of a queue = what its jobs ask, waiting and running, itself and all below, unless the policy never
 * looks at a queue; charge is the ledger's.  Shares are divided where they are used: a parent whose children's
 * demand changed is stale and is divided again when two children are compared or a share is asked for; the result
 * equals a full division.
 * Each resource is divided by itself.  Amounts are milli-GPUs, milli-CPUs and MiB.
 */
#ifndef POLICIES_QUEUES_QUEUES_H
#define POLICIES_QUEUES_QUEUES_H

#include "policies/jobs/request_class.h"

struct quota_policy;

enum { QUEUE_WINNERS_MAX = 8, QUEUE_SCRATCH_BYTES = 80 };

struct queue_winner {
    uint64_t key;          /* of what was closed: request_class_table.closed_key */
    uint32_t class_queue;  /* that goes next then, of this queue and all below; CLASS_QUEUE_NONE */
    bool is_selected_from; /* others could have gone: another division of shares may make it another */
};

struct queue_state {
    queue_id parent;
    queue_id first_child, next_sibling; /* QUEUE_NONE; siblings in order of id */
    uint32_t depth;                     /* of the root: 0 */
    int64_t demand[RESOURCE_COUNT];
    int64_t share[RESOURCE_COUNT];       /* as of the last division of its parent */
    bool is_share_stale[RESOURCE_COUNT]; /* its children's shares must be divided again */
    bool has_closed_class_queues;        /* some class queue waits for headroom here */
    uint8_t winner_count, winner_next;   /* 0: the queue selection below must be held again; then so must all above */
    struct queue_winner winners[QUEUE_WINNERS_MAX]; /* those of late */
};

/* Who waits in a queue and below it: what a queue selection looks at in all children, and so kept apart. */
struct queue_waits {
    /* by class queues that no limit closed, or more: see policies/jobs/request_class.h */
    request_class_set asked[ASKER_COUNT];
    uint32_t jobs;
    queue_id first, next, previous; /* of the children where some wait, in no order */
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
    size_t queue_capacity;
    uint32_t count;
    uint32_t closing_count;           /* queues that have closed class queues */
    int64_t capacity[RESOURCE_COUNT]; /* of nodes that are up */
    uint32_t version;                 /* of table and capacity: moves when either is set */
    bool is_deep;                     /* some queue has two or more between itself and the top of its tree */
    const struct quota_config *config;
    uint8_t *own; /* the quota policy's state, state_size bytes per queue; see queue_tree_own */
    size_t own_capacity;
    time_ns now;                         /* of the last advance */
    const struct policy_own *policy_own; /* of a plug-in's quota policy; NULL: it is built in */
    void *scratch;                       /* of the quota policy's division: QUEUE_SCRATCH_BYTES for each queue */
    int64_t *shares_before;              /* by queue: of a division */
    size_t scratch_capacity;
};

void queue_tree_release(struct queue_tree *tree);
/* Save or load (policies/util/archive.h), the quota policy's state by its own hook; what is loaded into has table,
 * ledger, policy and config, and no queues.  O(queues). */
struct archive;
void queue_tree_archive(struct archive *archive, struct queue_tree *tree);
void queue_tree_update(struct queue_tree *tree, const struct queue_table *table); /* new or changed queues */
void queue_tree_set_capacity(struct queue_tree *tree, const int64_t capacity[RESOURCE_COUNT]);

/* Shares and winners all over the tree must be found again. */
void queue_tree_all_stale(struct queue_tree *tree);

/* Something below or in this queue changed: the queue that was next may no longer be.  O(depth). */
void queue_tree_touch(struct queue_tree *tree, queue_id queue);

/* What this queue is charged or asks changed: where it stands among its siblings.  Without children of its own it has
 * no queue selection that this could turn; where all jobs wait in one line there is none.  O(depth); O(queues) in a
 * deep tree whose policy looks above the queues that compete. */
void queue_tree_touch_standing(struct queue_tree *tree, queue_id queue);

/* Does the quota policy ever look at a queue?  If not, demand is not counted. */
bool queue_tree_is_asked(const struct queue_tree *tree);

/* sign (1 or -1) times `ask` more is asked by jobs of this queue.  Only where it is_asked. */
void queue_tree_demand(struct queue_tree *tree, queue_id queue, const int64_t ask[QUEUE_SUM_COUNT], int sign);

/* The share of a queue, divided first where stale.  The root's share is the capacity. */
int64_t queue_tree_share(struct queue_tree *tree, queue_id queue, enum resource resource);

/* Make the shares of a queue and its siblings fresh in all resources: then queues[].share may be read. */
void queue_tree_divide(struct queue_tree *tree, queue_id queue);

static inline const struct queue_spec *queue_tree_spec(const struct queue_tree *tree, queue_id queue)
{
    return &tree->table->queues[queue];
}

/* What the queue and all below it are charged; firm: the part that cannot be preempted. */
static inline int64_t queue_tree_charged(const struct queue_tree *tree, queue_id queue, enum resource resource)
{
    return tree->ledger->sums[queue][resource];
}

static inline int64_t queue_tree_non_preemptible(const struct queue_tree *tree, queue_id queue, enum resource resource)
{
    return tree->ledger->sums[queue][RESOURCE_COUNT + resource];
}

/* May a change anywhere turn a queue selection of queues that it does not touch?  */
bool queue_tree_looks_above(const struct queue_tree *tree);

/* The quota policy's own state of a queue. */
void *queue_tree_own(const struct queue_tree *tree, queue_id queue);

/* The older of two queues, then the one of the smaller id; <0: a. */
int queue_tree_compare_age(const struct queue_tree *tree, queue_id a, queue_id b);

/* The children of the lowest common ancestor on each one's way up; equal to the queues themselves when
 * they are siblings.  a != b, neither above the other. */
void queue_tree_below_common(const struct queue_tree *tree, queue_id a, queue_id b, queue_id *below_a,
                             queue_id *below_b);

#endif
