/* policies/state/sched_state.h -- the state of a scheduler, put together from the state of its rooms.
 *
 * A room whose state no other room reads keeps it behind a pointer to a struct that it alone knows.  State that other
 * rooms read has a header of its own in policies/state.
 */
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
#include "policies/state/claims.h"
#include "policies/state/decided.h"
#include "policies/state/job_lists.h"
#include "policies/state/observer.h"
#include "policies/state/policy_owns.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/ranks.h"
#include "policies/state/retry_queue.h"
#include "policies/state/run_times.h"
#include "policies/state/victim_lists.h"

struct eligible_books;
struct eviction_state;
struct planned_start_book;
struct move_log;
struct plan_scratch;
struct repartition_book;

/* The shortest time of any timer of the policy.  It bounds how often a job's wait can fail. */
#define SCHED_PATIENCE_MIN TIME_NS_PER_S

struct headroom { /* in amounts of this cluster */
    int64_t gpu_milli, whole_nodes, owners_milli;
    uint16_t node_gpus; /* of its largest node */
    bool is_kept;       /* one of the fields above is not 0 */
    bool is_by_queue;   /* in one line over all queues: jobs in quota and over quota are in other class queues */
};

/* Times of a quota policy that moves with time. */
struct quota_advance {
    time_ns at;      /* when it must be asked again; TIME_NEVER */
    uint64_t change; /* the state change of its last answer */
};

/* The past of a job that is told next. */
struct told_history {
    job_id id;
    uint64_t change; /* of the fact; 0: none */
    struct job_history of;
};

/* Since when nothing runs. */
struct rest {
    uint64_t change; /* the state change since which nothing runs */
    time_ns since;
};

/* Each member has one room that writes it, named in its section; tools/lint/writers checks it.  Books are written by
 * the functions of their own headers; where a comment names a writer, that room alone writes them besides.  Scratch is
 * written by each caller.  The most used members come first: the compiler has shorter instructions for offsets within
 * 128 bytes. */
/* All pieces that one job holds: the job for which members were placed last.  When that job gets more pieces, they are
 * appended. */
struct grown_list {
    struct piece_list pieces;
    job_id job;
    uint64_t number; /* of the list, from 1 */
    uint32_t unheld; /* of the job, when it was listed */
    bool keeps_all;  /* nothing of it was claimed or leaving */
};

struct sched {
    /* ---- books ---- */
    struct job_table jobs;
    time_ns now; /* of the last fact or cycle; writer: booking */
    struct ledger *ledger;
    struct request_class_table request_classes;
    struct pending pending; /* writer: state */
    struct queue_tree tree;
    struct policy_config policy;   /* constant */
    const struct cluster *cluster; /* constant */
    struct queue_selection_scratch queue_selection;

    /* ---- state ---- */
    struct ledger *empty;     /* an empty cluster, to see what can ever fit; NULL until needed */
    struct accounts accounts; /* when some order policy needs them */
    struct ranks ranks;
    struct candidates candidates;
    struct victim_lists victim_lists; /* where the order chain alone decides who loses first */
    struct waits waits;
    struct headroom headroom;
    struct run_times run_times;               /* where the estimate policy learns */
    struct preemption_bound preemption_bound; /* when the policy evicts */
    struct retry_queue retry_queues[PLAN_KIND_COUNT];
    struct policy_owns own; /* of plug-ins that the policy uses; writer: cycle */
    bool keeps_quota;       /* the quota policy may keep quota for blocked heads */

    /* ---- booking ---- */
    uint64_t changes; /* facts and decisions by now; the unit of back-off */
    struct claim_list claims;
    struct job_lists lists;
    struct decided decided;
    struct quota_advance quota_advance;
    struct eligible_books *eligible;
    struct refused_facts refused;
    bool has_own_times; /* some queue sets its own preemption delay or stale time */
    bool has_patience;  /* some job has a preemption delay; false: no job had one */
    bool trusts_jobs;   /* writer: cycle */

    /* ---- eviction ---- */
    bool plans_in_turn; /* the queue selection books plans of reclaim: policies/eviction/nominees.c */
    struct eviction_state *eviction;
    struct plan_scratch *plan;
    struct move_log *moves; /* when they are bounded */

    /* ---- reservation ---- */
    bool overtakes; /* jobs may overtake in a class queue that stops: policies/reservation/overtake.c */
    bool reserves;  /* jobs may be delayed where class queues are skipped: policies/reservation/reserve.c */
    struct planned_start_book *planned_starts;

    /* ---- allocate ---- */
    uint64_t attempts; /* placements tried for heads */

    /* ---- repartition ---- */
    struct repartition_book *repartitions; /* when the policy cuts GPUs anew */

    /* ---- cycle ---- */
    struct observers observers;
    uint64_t cycle;  /* its number */
    uint64_t starts; /* confirmed */
    struct rest rest;
    struct told_history told_history;
    const volatile int *stop;             /* NULL: none */
    uint8_t acts[ACTIONS_MAX], act_count; /* the actions of the policy that can have an effect */

    /* ---- scratch ---- */
    struct piece_list pieces;      /* of placing, for the time of one call */
    struct piece_list held_pieces; /* likewise: the pieces that the job has already */
    struct grown_list grown;
};

static inline bool sched_is_stopped(const struct sched *sched)
{
    return sched->stop != NULL && *sched->stop != 0;
}

static inline struct request_class *sched_request_class(struct sched *sched, const struct sched_job *job)
{
    return &sched->request_classes.at[job->request_class];
}

static inline struct request_class *sched_ask(struct sched *sched, const struct sched_job *job)
{
    return &sched->request_classes.at[job->ask];
}

#endif
