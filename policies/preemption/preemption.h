/* policies/preemption/preemption.h -- the seam "who gives way".
 *
 * The engine (policies/eviction/plan.c) finds who may be evicted, grows a victim set in the ledger in the order of the
 * victim keys, validates it, trims it, validates again and books it or rolls back.  Here stand the parts that presets
 * differ in: whether anybody is evicted and how (a preemption policy), and in what order victims are taken (a chain of
 * victim keys, first difference decides; then the order chain reversed, so that who was admitted last goes first; the
 * last key is the later id).
 *
 * A key is one const struct; add it to policies/config/registry.c and to docs/policies.md.
 */
#ifndef POLICIES_PREEMPTION_H
#define POLICIES_PREEMPTION_H

#include "policies/preemption/preemption_config.h"
#include "policies/sched.h"

/* A unit that may be taken: a job's surplus member, or all that it needs to run. */
struct victim_view {
    job_id id;
    int64_t gpu_milli;     /* of the whole job, as it runs */
    int64_t asks_milli;    /* of the whole job, as asked */
    uint32_t member_count; /* of the whole job, as it runs */
    int32_t priority;
    uint8_t class;       /* enum job_class */
    bool is_over_quota;  /* its queue holds more than it is due, and the preemptor's queue is another */
    bool is_surplus;     /* the unit is above the job's minimum: the job goes on without it */
    bool is_evicting;    /* somebody evicts it already */
    bool is_own_queue;   /* of the preemptor's own queue */
    bool is_by_right;    /* the preemptor's queue, or a cohort above it, is entitled to what the unit's queue borrows */
    time_ns running;     /* since its last START */
    int64_t loss_gpu_ns; /* GPU time that evicting the unit would throw away: since the last checkpoint, and
                              the restart */
    uint64_t order_rank; /* its first rank in the order chain: larger goes later */
    const struct policy_own *own; /* of a plug-in's policy; NULL: it is built in */
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
    bool evicts;  /* false: what runs, runs to its end */
    bool is_kill; /* no grace: unsaved work is lost whatever the job could do */
    /* May this unit not be taken now, whichever job is the preemptor?  Asked of a unit that all guards would let go,
     * each time before it is taken in a plan; pure.  NULL: no unit is spared. */
    bool (*spares)(const struct victim_view *view);
};

extern const struct preemption_policy *const preemption_policies[]; /* NULL-terminated */
extern const struct victim_key *const victim_keys[];                /* NULL-terminated */

#endif
