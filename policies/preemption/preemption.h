/* policies/preemption/preemption.h -- the seam "who gives way".
 *
 * The engine (policies/eviction.c) finds who may be evicted, builds the smallest set it can in the ledger,
 * validates it and books it.  A policy says in which order victims are taken and how much time they get.
 * It is one const struct; add it to policies/registry.c.
 */
#ifndef POLICIES_PREEMPTION_H
#define POLICIES_PREEMPTION_H

#include "policies/policy_config.h"
#include "policies/sched.h"

struct victim {
    uint32_t slot;
    job_id id;
    int64_t gpu_milli; /* of the whole job */
    int32_t priority;
    time_ns running;  /* since its START */
    bool is_borrower; /* its queue holds more than it is due */
    bool is_taken;    /* in the plan */
    bool is_kept;     /* found necessary when the plan was trimmed */
    bool is_excluded; /* may not be evicted after all */
};

struct preemption_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    /* Which of two possible victims goes first; <0: a.  Must be total: ends with the id.
     * NULL: nobody is ever evicted. */
    int (*compare)(const struct victim *a, const struct victim *b);
};

extern const struct preemption_policy *const preemption_policies[]; /* NULL-terminated */

extern const struct preemption_policy preemption_none;
extern const struct preemption_policy preemption_checkpoint;

#endif
