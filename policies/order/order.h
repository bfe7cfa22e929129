/* policies/order/order.h -- the seam that orders the jobs within a queue.
 *
 * A policy gives a job a rank; smaller goes first.  Policies are chained: the first difference decides,
 * and the last key is always the job's id, so that the order is total.
 *
 * When ranks are computed: when the job begins to wait, when its holdings change, and, for all jobs that wait
 * or run, every order_config.period if some policy of the chain `moves` (with time).  Between those moments a
 * rank does not change, so that every comparison sees the same order.
 *
 * A policy is one const struct; add it to policies/config/registry.c and to docs/policies.md.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "policies/order/order_config.h"
#include "policies/own.h"
#include "workloads/job.h"

/* A job holds less than its minimum, exactly its minimum, or more. */
enum job_fill { FILL_BELOW, FILL_MINIMUM, FILL_ABOVE };

/* The view of a job that a policy gets. */
struct order_view {
    time_ns now;
    time_ns submit;
    int32_t priority;
    uint8_t class; /* enum job_class */
    uint8_t fill;  /* enum job_fill */
    bool is_running;
    uint32_t user; /* NAMES_NONE: unknown */
    queue_id queue;
    uint32_t member_count;             /* of the whole job */
    int64_t asks[RESOURCE_COUNT];      /* request of the whole job */
    int64_t holds[RESOURCE_COUNT];     /* now */
    int64_t capacity[RESOURCE_COUNT];  /* of the nodes that are up */
    uint32_t node_count;               /* of the cluster */
    time_ns limit, estimate, deadline; /* as declared; TIME_NEVER */
    time_ns ran;                       /* in all its attempts */
    int64_t attained_gpu_ns;           /* GPU time in all its attempts, exact */
    time_ns waiting_since;             /* when it last began to wait; now while it runs */
    uint32_t fair_share_ppm;      /* 0..1000000, higher deserves more; of (queue, user); policies/state/accounts.h */
    const struct policy_own *own; /* of a plug-in; NULL: the policy is built in */
};

struct order_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool is_constant;    /* the rank depends on the declaration alone: computed once */
    bool is_by_fill;     /* the rank depends on the declaration and `fill` alone: computed when `fill` changes */
    bool moves;          /* the rank changes with time alone */
    bool needs_accounts; /* reads fair_share_ppm */
    uint32_t reads_queue, reads_job;                                                    /* as of struct quota_policy */
    uint64_t (*rank)(const struct order_view *view, const struct order_config *config); /* pure */
    /* Of a policy that moves: is the rank of a job that waits and holds nothing always the one that it had when it
     * began to wait?  Then only jobs that hold something are ranked anew.  NULL: no. */
    bool (*rests_waiting)(const struct order_config *config);
};

extern const struct order_policy *const order_policies[]; /* NULL-terminated */

/* 0..UINT64_MAX in the order of a signed value. */
static inline uint64_t rank_of_int(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

#endif
