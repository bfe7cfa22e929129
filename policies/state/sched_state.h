/* policies/state/sched_state.h -- the scheduler's inside, shared by facts.c (facts), booking.c (what jobs hold and
 * wait for), eligible.c (dependencies and arrays), cycle.c (decisions), victims.c and plan.c (evictions), moves.c and
 * drain.c (defragmentation).  Nobody else includes it. */
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

/* No timer of the policy asks again sooner, however short its times are: a job cannot wait in vain more often. */
#define SCHED_PATIENCE_MIN TIME_NS_PER_S

struct headroom { /* in amounts of this cluster */
    int64_t gpu_milli, whole_nodes, owners_milli;
    uint16_t node_gpus;            /* of its largest node */
    bool is_kept;                  /* one of the former is not 0 */
    uint32_t request_classes_seen; /* so many have been looked at, and of those */
    request_class_set spared;      /* these it is kept from */
};

/* What a room above booking is told as it is booked; NULL: it does not mind. */
struct booking_listener {
    void (*starts)(struct sched *sched, uint32_t slot);               /* its first START is decided */
    void (*settles)(struct sched *sched, uint32_t slot);              /* what it holds has changed */
    void (*leaves)(struct sched *sched, uint32_t slot, node_id node); /* a piece of it goes for good */
    void (*unwaits)(struct sched *sched, uint32_t slot);              /* it waits no more */
    void (*forgets)(struct sched *sched, uint32_t slot);              /* it holds nothing, and is forgotten */
};

struct refusal_note { /* a REJECT to be told */
    job_id job;
    enum reason reason;
    uint32_t request_class; /* and what it asked, in which queue */
    queue_id queue;
    time_ns at;
    struct wait_times waited; /* until then; when it is told, in all */
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

/* What is used most comes first: the compiler has shorter instructions for what is within 128 bytes. */
struct sched {
    struct job_table jobs;
    time_ns now; /* of the last fact or cycle */
    struct ledger *ledger;
    struct request_class_table request_classes;
    struct pending pending;
    struct queue_tree tree;
    struct policy_config policy;
    const struct cluster *cluster;
    struct ledger *empty; /* of an empty cluster, to see what can ever fit; NULL until needed */
    struct accounts accounts;
    time_ns ranked_at;      /* when all ranks were last computed */
    uint64_t ranked_change; /* as of which state change */
    time_ns quota_at;       /* when the quota policy wants to be asked again; TIME_NEVER */
    uint64_t quota_change;  /* the state change as of which it was asked last */
    bool ranks_move, ranks_fixed, ranks_by_fill, needs_accounts;
    bool notes_service; /* somebody asks how long jobs ran */
    bool overtakes;     /* somebody may overtake in a line that stops: policies/reservation/overtake.c */
    bool reserves;      /* somebody may be held up where class queues are skipped: policies/reservation/reserve.c */
    bool has_own_times; /* some queue says its own preemption delay, or when its gangs are stale */
    bool has_patience;  /* some job waits before others are evicted for it: no job had to, if not */
    bool keeps_quota;   /* the quota policy may keep quota for jobs that it forbids: policies/state/kept_quota.c */
    bool plans_in_turn; /* the queue selection books plans of reclaim: policies/eviction/nominees.c */
    bool takes_both;    /* reclaim also takes from the preemptor's own queue: policies/eviction/plan_rounds.c */
    struct slot_list *running; /* by queue_id: jobs that hold something and may be evicted, in no order */
    size_t running_capacity;
    time_ns reclaim_least_runtime;       /* of all queues */
    time_ns least_loss;                  /* run time that is lost with each GPU of a victim, at the least */
    struct victim_candidate *candidates; /* by slot */
    size_t candidates_capacity;
    struct queue_candidates *candidate_queues; /* by queue_id */
    size_t candidate_queue_capacity;
    uint32_t leaving_count; /* holdings on their way out */
    struct retry_queue retry_queues[PLAN_KIND_COUNT];
    uint8_t acts[ACTIONS_MAX], act_count; /* the actions of the policy that can do anything */
    struct queue_selection_scratch queue_selection;
    struct kept_space_scratch *kept;
    uint32_t *claims; /* slots with claimed holdings, in the order of their plans */
    size_t claim_capacity;
    uint32_t claim_count;
    time_ns claims_until;        /* none of them expires before */
    int64_t claimed_piece_milli; /* what their claimed holdings take in all */
    uint32_t *below;             /* slots that hold less than their minimum, but something */
    size_t below_capacity;
    uint32_t below_count;
    struct waits waits;
    struct refusal_note *rejects; /* to be told in the next cycle */
    size_t reject_capacity;
    uint32_t reject_count;
    job_id *releases; /* reservations given up, to be told in the next cycle */
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
    uint64_t changes;     /* facts and decisions so far; what back-off counts */
    uint32_t held_count;  /* jobs in SJOB_HELD */
    uint64_t rest_change; /* the state change since which nothing runs, at... */
    time_ns rest_since;
    uint64_t starts;         /* confirmed */
    uint32_t booked_running; /* jobs that hold something not on its way out, claims alone not counted */
    uint64_t attempts, plans, plans_tried;
    struct headroom headroom;
    uint64_t headroom_retry; /* no eviction for the headroom before so many state changes */
    int64_t evicted_in_cycle;
    struct piece_list pieces;      /* scratch of placement */
    struct piece_list held_pieces; /* scratch: what the job being placed has already */
    struct plan_scratch *plan;
    struct node_search_scratch *offers;
    struct booking_listener listener;
    struct planned_start_book *planned_starts;
    struct overtake_scratch *overtake;
    struct run_times run_times;               /* where the estimate policy learns */
    struct typical_book typical;              /* where the placement policy asks which jobs usually come */
    struct preemption_bound preemption_bound; /* when the policy evicts */
    struct kept_nodes kept_nodes;             /* written by the drain */
    struct drain *drain;                      /* when the policy drains */
    struct move_log *moves;                   /* when they are bounded */
    struct repartition_book *repartitions;    /* when the policy cuts GPUs anew */
    struct eviction_log *evictions;           /* by queue, for disruption budgets; policies/eviction/victims.c */
    size_t eviction_capacity;
    struct owns owns; /* of plug-ins that the policy uses */
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
