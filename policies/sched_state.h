/* policies/sched_state.h -- the scheduler's inside, shared by sched.c (facts), cycle.c (decisions) and
 * eviction.c (plans).  Nobody else includes it. */
#ifndef POLICIES_SCHED_STATE_H
#define POLICIES_SCHED_STATE_H

#include "policies/contest.h"
#include "policies/job_table.h"
#include "policies/ledger.h"
#include "policies/order/order.h"
#include "policies/pending.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/queues.h"
#include "policies/quota/quota.h"
#include "policies/sched.h"
#include "policies/shape.h"

/* Room for choosing victims; grows to the largest case and is reused. */
struct eviction_scratch {
    struct victim *victims;
    size_t victim_capacity;
    uint32_t victim_count;
    uint32_t *first_on_node; /* by node: index + 1 into links, or 0 */
    struct victim_link *links;
    size_t link_capacity;
    uint32_t link_count;
    int64_t *cost_on_node; /* by node: of its cheapest offer, or COST_STALE */
    uint32_t *lanes;       /* that may ask for a plan in this cycle */
    size_t lane_capacity;
    uint32_t lane_count;
    int64_t smallest_milli; /* the least that any victim holds */
    bool saw_starting;      /* a victim was refused only because its START is not confirmed */
    time_ns ripe_at; /* when the first victim refused only for its youth may be taken; TIME_NEVER */
};

struct sched {
    const struct cluster *cluster;
    struct policy_config policy;
    struct ledger *ledger;
    struct ledger *empty; /* of an empty cluster, to see what can ever fit; NULL until needed */
    struct queue_tree tree;
    struct shape_table shapes;
    struct job_table jobs;
    struct pending pending;
    struct slot_list *
        running; /* by queue_id: SJOB_STARTING and SJOB_RUNNING jobs that may be evicted, in no order */
    size_t running_capacity;
    uint32_t *claims; /* slots in SJOB_CLAIMING, in the order of their plans */
    size_t claim_capacity;
    uint32_t claim_count;
    int64_t claimed_piece_milli; /* what their pieces take in all */
    job_id *rejects;             /* to be told in the next cycle */
    size_t reject_capacity;
    uint32_t reject_count;
    job_id *releases; /* reservations given up, to be told in the next cycle */
    size_t release_capacity;
    uint32_t release_count;
    struct decision *decisions;
    size_t decision_capacity;
    uint32_t decision_count;
    uint64_t decision_sequence;
    uint64_t cycle;
    uint64_t changes;        /* facts and decisions so far; what back-off counts */
    uint32_t held_count;     /* jobs in SJOB_HELD */
    uint64_t starts;         /* confirmed */
    uint32_t booked_running; /* starting and running jobs */
    uint64_t attempts, plans;
    struct piece_list pieces; /* scratch of placement */
    struct eviction_scratch eviction;
};

static inline struct shape *sched_shape(struct sched *sched, const struct sched_job *job)
{
    return &sched->shapes.shapes[job->shape];
}

/* Milli-GPUs of the job's pieces; what it asks may differ (memory on GPUs of several models). */
static inline int64_t sched_held_milli(const struct sched_job *job)
{
    int64_t held = 0;
    for (uint32_t i = 0; i < job->piece_count; i++)
        held += (int64_t)__builtin_popcount(job->pieces[i].gpu_mask) * job->pieces[i].gpu_milli;
    return held;
}

/* Append a decision about the job in `slot`; a START or EVICT becomes its open one. */
struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot);

/* What is done to every piece of a job's placement. */
typedef void ledger_move_fn(struct ledger *ledger, const struct space *space);
void sched_move_pieces(struct sched *sched, uint32_t slot, ledger_move_fn *move);

/* Charge (sign 1) or uncharge (-1) the job to its queue. */
void sched_charge(struct sched *sched, uint32_t slot, int sign);

/* The job runs, or does no more: it is, or is no longer, a possible victim. */
void sched_list_running(struct sched *sched, uint32_t slot);
void sched_unlist_running(struct sched *sched, uint32_t slot);

/* Put the job into its lane, or take it out (it must be the head unless O(lane) is fine). */
void sched_wait(struct sched *sched, uint32_t slot);
void sched_unwait(struct sched *sched, uint32_t slot);

/* Open or close what depends on a shape fitting now. */
void sched_block_shape(struct sched *sched, uint32_t shape, bool is_blocked);

/* Give up the reservation of the job in `slot`; it waits again. */
void sched_drop_claim(struct sched *sched, uint32_t slot);

/* Try to make room for the head of `lane` by eviction.  True if a plan was booked. */
bool eviction_plan(struct sched *sched, uint32_t lane, time_ns now);

/* The attempts of one cycle; true if a plan was booked. */
bool eviction_cycle(struct sched *sched, time_ns now);

/* When to try again if nothing is told: for victims too young, or because the attempts were used up. */
time_ns eviction_wake(const struct sched *sched, time_ns now);

#endif
