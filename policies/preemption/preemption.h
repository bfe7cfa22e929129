/* policies/preemption/preemption.h -- the seam "which jobs are evicted, and how".
 *
 * A plan (policies/eviction/plan.c) collects the units that may be evicted, grows a victim set in a trial of the
 * ledger, validates it, trims it, validates it again and books it or rolls back.  The seam has two parts.  A preemption
 * policy says whether jobs are evicted, and how.  A chain of victim keys says in what order victims are taken: the
 * first key that differs decides.  After the keys comes the order chain reversed, so that the job admitted last goes
 * first; the last key is the later id.
 *
 * A key is one const struct; add it to policies/config/registry.c and to docs/policies.md.
 */
#ifndef POLICIES_PREEMPTION_H
#define POLICIES_PREEMPTION_H

#include "policies/preemption/preemption_config.h"
#include "policies/sched.h"

/* An eviction unit that may be taken: a job's surplus member or surplus set, or its core. */
struct victim_view {
    job_id id;
    int64_t gpu_milli;     /* of the whole job, as it runs */
    int64_t asks_milli;    /* of the whole job, as asked */
    uint32_t member_count; /* of the whole job, as it runs */
    int32_t priority;
    uint8_t class;       /* enum job_class */
    bool is_over_quota;  /* its queue is over quota: always in a reclaim from another queue, never in a preemption */
    bool is_surplus;     /* the unit is above the job's minimum: the job runs on without it */
    bool is_evicting;    /* another part of the job is being evicted already */
    bool is_own_queue;   /* of the preemptor's own queue */
    bool is_by_right;    /* the preemptor's queue, or a cohort above it, is entitled to what the unit's queue borrows */
    time_ns running;     /* since its last START */
    int64_t loss_gpu_ns; /* GPU time that evicting the unit would throw away: the run time since the last checkpoint,
                            and the restart */
    uint64_t order_rank; /* the job's first rank in the order chain; larger is later */
    const struct policy_own *own; /* of a plug-in's policy; NULL: it is built in */
    time_ns leaves_in;            /* the grace that it is given to save its work; 0: it leaves at once */
    bool is_for_service;          /* the preemptor is of class inference */
};

struct victim_key {
    const char *name;
    const char *summary;
    uint64_t (*rank)(const struct victim_view *view); /* smaller is taken first; pure */
};

struct preemption_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool evicts;  /* false: no job is evicted */
    bool is_kill; /* no grace: unsaved work is lost even if the job could save it */
    /* Is this unit not to be taken now, for any preemptor?  Called for a unit that passed all guards, each time before
     * it is taken in a plan; pure.  NULL: no unit is spared. */
    bool (*spares)(const struct victim_view *view);
};

extern const struct preemption_policy *const preemption_policies[]; /* NULL-terminated */
extern const struct victim_key *const victim_keys[];                /* NULL-terminated */

#endif
