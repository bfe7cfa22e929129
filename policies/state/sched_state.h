/* policies/state/sched_state.h -- the scheduler's inside, shared by facts.c (facts), booking.c (what jobs hold and wait
 * for), eligible.c (dependencies and arrays), cycle.c (decisions), victims.c and plan.c (evictions), moves.c and
 * drain.c (defragmentation).  No other file includes it. */
#ifndef POLICIES_STATE_SCHED_STATE_H
#define POLICIES_STATE_SCHED_STATE_H

#include "policies/gang/gang.h"
#include "policies/jobs/job_table.h"
#include "policies/jobs/request_class.h"
#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/policy_config.h"
#include "policies/preemption/preemption.h"
#include "policies/queues/pending.h"
#include "policies/queues/queue_selection.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota.h"
#include "policies/sched.h"
#include "policies/state/accounts.h"
#include "policies/state/candidates.h"
#include "policies/state/kept_nodes.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/retry_queue.h"
#include "policies/state/run_times.h"
#include "policies/state/typical.h"

struct archive;
struct drain;
struct planned_start_book;
struct kept_space_scratch;
struct move_log;
struct node_search_scratch;
struct overtake_scratch;
struct plan_scratch;
struct repartition_book;
struct eviction_log;

/* No timer of the policy fires sooner, however short its times are: this bounds how often a job's wait can fail. */
#define SCHED_PATIENCE_MIN TIME_NS_PER_S

struct headroom { /* in amounts of this cluster */
    int64_t gpu_milli, whole_nodes, owners_milli;
    uint16_t node_gpus; /* of its largest node */
    bool is_kept;       /* one of the fields above is not 0 */
};

/* Functions that a room above booking wants called as jobs are booked; NULL: not needed. */
struct booking_listener {
    void (*starts)(struct sched *sched, uint32_t slot);               /* its first START is decided */
    void (*settles)(struct sched *sched, uint32_t slot);              /* its holdings have changed */
    void (*leaves)(struct sched *sched, uint32_t slot, node_id node); /* a piece of it is released for good */
    void (*unwaits)(struct sched *sched, uint32_t slot);              /* it no longer waits */
    void (*forgets)(struct sched *sched, uint32_t slot);              /* it holds nothing, and is forgotten */
};

struct refusal_note { /* a REJECT that is not yet issued */
    job_id job;
    enum reason reason;
    uint32_t request_class; /* its request class, and its queue */
    queue_id queue;
    time_ns at;
    struct wait_times waited; /* up to the rejection; on issue, in total */
};

struct job_array {     /* elements of one array */
    uint32_t limit;    /* 0: none */
    uint32_t eligible; /* waiting or running */
    uint32_t *parked;  /* slots, in order of submission */
    size_t capacity;
    uint32_t first, count;
};

struct dependency { /* slot waits for job */
    job_id waiter, on;
    uint8_t kind; /* enum after_kind */
};

/* The most used fields come first: the compiler has shorter instructions for offsets within 128 bytes. */
struct sched {
    struct job_table jobs;
    time_ns now; /* of the last fact or cycle */
    struct ledger *ledger;
    struct request_class_table request_classes;
    struct pending pending;
    struct queue_tree tree;
    struct policy_config policy;
    const struct cluster *cluster;
    struct ledger *empty; /* an empty cluster, to see what can ever fit; NULL until needed */
    struct accounts accounts;
    time_ns ranked_at;      /* when all ranks were last computed */
    uint64_t ranked_change; /* as of which state change */
    time_ns quota_at;       /* when the quota policy must be asked again; TIME_NEVER */
    uint64_t quota_change;  /* the state change of its last answer */
    bool ranks_move, ranks_fixed, ranks_by_fill, needs_accounts;
    bool notes_service;        /* some policy reads how long jobs ran */
    bool overtakes;            /* jobs may overtake in a class queue that stops: policies/reservation/overtake.c */
    bool reserves;             /* jobs may be delayed where class queues are skipped: policies/reservation/reserve.c */
    bool has_own_times;        /* some queue sets its own preemption delay or stale time */
    bool has_patience;         /* some job has waited before evictions; false: no job had to */
    bool keeps_quota;          /* the quota policy may keep quota for blocked heads: policies/state/kept_quota.c */
    bool plans_in_turn;        /* the queue selection books plans of reclaim: policies/eviction/nominees.c */
    bool takes_both;           /* reclaim also takes from the preemptor's own queue: policies/eviction/plan_rounds.c */
    struct slot_list *running; /* by queue_id: jobs that hold something and may be evicted, in no order */
    size_t running_capacity;
    time_ns reclaim_least_runtime;       /* of all queues */
    time_ns least_loss;                  /* least run time that is lost with each GPU of a victim */
    struct victim_candidate *candidates; /* by slot */
    size_t candidates_capacity;
    struct queue_candidates *candidate_queues; /* by queue_id */
    size_t candidate_queue_capacity;
    uint32_t leaving_count; /* holdings on their way out */
    struct retry_queue retry_queues[PLAN_KIND_COUNT];
    uint8_t acts[ACTIONS_MAX], act_count; /* the actions of the policy that can have an effect */
    struct queue_selection_scratch queue_selection;
    struct kept_space_scratch *kept;
    uint32_t *claims; /* slots with claimed holdings, in the order of their plans */
    size_t claim_capacity;
    uint32_t claim_count;
    time_ns claims_until;        /* no claim expires before this */
    int64_t claimed_piece_milli; /* total of their claimed holdings */
    uint32_t *below;             /* slots that hold something, but less than their minimum */
    size_t below_capacity;
    uint32_t below_count;
    struct waits waits;
    struct refusal_note *rejects; /* to be issued in the next cycle */
    size_t reject_capacity;
    uint32_t reject_count;
    job_id *releases; /* reservations given up, to be issued in the next cycle */
    size_t release_capacity;
    uint32_t release_count;
    struct dependency *dependencies;
    size_t dependency_capacity;
    uint32_t dependency_count;
    struct job_array *arrays; /* by id */
    size_t array_capacity;
    struct decision *decisions;
    size_t decision_capacity;
    uint32_t decision_count;
    struct piece_list told; /* the pieces of the decisions of this cycle */
    uint64_t decision_sequence;
    uint64_t recalls_after; /* a START of a later sequence may be recalled; UINT64_MAX: none */
    uint64_t cycle;
    uint64_t changes;     /* facts and decisions by now; the unit of back-off */
    uint32_t held_count;  /* jobs in SJOB_HELD */
    uint64_t rest_change; /* the state change since which nothing runs, and its time */
    time_ns rest_since;
    uint64_t starts;         /* confirmed */
    uint32_t booked_running; /* jobs that hold something other than claims and leaving pieces */
    uint64_t attempts, plans, plans_tried;
    struct headroom headroom;
    uint64_t headroom_retry; /* no eviction for the headroom before this state change */
    int64_t evicted_in_cycle;
    struct piece_list pieces;      /* scratch of placement */
    struct piece_list held_pieces; /* scratch: the pieces that the job being placed has already */
    struct plan_scratch *plan;
    struct node_search_scratch *offers;
    struct booking_listener listener;
    struct planned_start_book *planned_starts;
    struct overtake_scratch *overtake;
    struct run_times run_times;               /* where the estimate policy learns */
    struct typical_book typical;              /* where the placement policy needs the typical jobs */
    struct preemption_bound preemption_bound; /* when the policy evicts */
    struct kept_nodes kept_nodes;             /* written by the drain */
    struct drain *drain;                      /* when the policy drains */
    struct move_log *moves;                   /* when they are bounded */
    struct repartition_book *repartitions;    /* when the policy cuts GPUs anew */
    struct eviction_log *evictions;           /* by queue, for disruption budgets; policies/eviction/victims.c */
    size_t eviction_capacity;
    struct owns owns; /* state of plug-ins that the policy uses */
    const struct policy_own *order_own[ORDER_CHAIN_MAX], *victim_own[VICTIM_CHAIN_MAX];
    const struct policy_own *gang_own, *estimate_own, *preemption_own, *backfill_own;
};

static inline struct request_class *sched_request_class(struct sched *sched, const struct sched_job *job)
{
    return &sched->request_classes.at[job->request_class];
}

static inline struct request_class *sched_ask(struct sched *sched, const struct sched_job *job)
{
    return &sched->request_classes.at[job->ask];
}

static inline int64_t piece_milli(const struct piece *piece)
{
    return (int64_t)bits_count16(piece->gpu_mask) * piece->gpu_milli;
}

#endif
