/* policies/policy_config.h -- which policies stand in which seam, with their parameters.
 *
 * Read from JSON: a preset (policies/presets) or a file of the same fields; every field has a default, and
 * docs/policies.md has the table of them all.
 *
 *   {"order": ["priority", "fifo"],      the chain, first difference wins; the last key is always the id
 *    "blocking": "skip" | "strict",      strict: what does not fit holds up everything behind it in its line
 *    "quota": "fairshare",               or {"policy": "fairshare", parameters of quota_config.h}
 *    "gang": {"policy": "all_or_nothing" | "hoard", "stale_after_s": 60},
 *    "placement": "best_fit", "gpu_choice": "lowest" | "near",
 *    "topology": {"mode": "as_asked", "domains": "best_fit"},
 *    "preemption": {"policy": "checkpoint", parameters of preemption_config.h},
 *    "defrag": {"policy": "consolidation", parameters of defrag/defrag.h},
 *    "sharing": {"policy": "trust", parameters of sharing/sharing.h},
 *    "geometry": {"policy": "on_demand", parameters of geometry/geometry.h},
 *    "idle": {"policy": "reclaim", parameters of idle/idle.h},
 *    "actions": ["allocate", "consolidation", "reclaim", "preempt", "stale_gang"],
 *    "reservation_expiry_s": 600,
 *    "guarantees": ["gang", "reclaim", "no_loop", "minimal"]}
 *
 * Law: all budgets count steps, never time spent.
 */
#ifndef POLICIES_POLICY_CONFIG_H
#define POLICIES_POLICY_CONFIG_H

#include "base/json.h"
#include "policies/backfill/backfill.h"
#include "policies/defrag/defrag.h"
#include "policies/estimate/estimate.h"
#include "policies/geometry/geometry.h"
#include "policies/idle/idle.h"
#include "policies/order/order_config.h"
#include "policies/own.h"
#include "policies/placement/placement_config.h"
#include "policies/preemption/preemption_config.h"
#include "policies/quota/quota_config.h"
#include "policies/sharing/sharing.h"

enum { ACTIONS_MAX = 8 };

struct order_policy;
struct quota_policy;
struct placement_policy;
struct preemption_policy;
struct gang_policy;
struct plugin_set;

enum action {
    ACTION_ALLOCATE,
    ACTION_CONSOLIDATION, /* move running jobs together so that a waiting one fits */
    ACTION_RECLAIM,       /* evict borrowers of other queues */
    ACTION_PREEMPT,       /* evict within the queue, or by priority where queues do not matter */
    ACTION_STALE_GANG,    /* evict what is left of gangs below their minimum */
    ACTION_COUNT
};

/* What a preset promises; property tests run over all presets that declare the promise. */
enum guarantee {
    GUARANTEE_GANG = 1,    /* no job runs below its minimum, but a stale one within its grace */
    GUARANTEE_RECLAIM = 2, /* what a queue deserves and borrowers hold comes back in bounded time */
    GUARANTEE_NO_LOOP = 4, /* no two jobs evict each other in turn */
    GUARANTEE_MINIMAL = 8, /* no victim of a plan can be spared */
};
extern const char *const guarantee_names[]; /* "gang", "reclaim", "no_loop", "minimal", NULL */

/* Free space that floats over the cluster, so that the jobs it is kept for start at once and no job is evicted for
 * them.  Latency-critical inference may use all of it; other jobs must leave these amounts free: */
struct headroom_config {
    int64_t gpu_milli;                       /* GPUs */
    int64_t whole_nodes;                     /* nodes wholly free */
    int64_t owners_milli;                    /* GPUs, in addition, if their queue goes beyond what it deserves */
    int64_t gpus_ppm, nodes_ppm, owners_ppm; /* the same as parts of the cluster, added; GPUs are rounded down to
                                                whole nodes */
};

#define POLICY_UNNAMED "custom" /* the name of a policy whose text gives none */

struct policy_config {
    char name[64];
    const struct order_policy *order[ORDER_CHAIN_MAX];
    uint32_t order_count;
    struct order_config order_config;
    bool is_strict;
    bool inference_first; /* before all queues: latency-critical inference, in the order of the chain */
    const struct quota_policy *quota;
    struct quota_config quota_config;
    const struct estimate_policy *estimate; /* for what plans in time */
    const struct backfill_policy *backfill;
    struct backfill_config backfill_config;
    struct defrag_config defrag_config;
    const struct geometry_policy *geometry;
    struct geometry_config geometry_config;
    const struct sharing_policy *sharing;
    struct sharing_config sharing_config;
    const struct idle_policy *idle;
    struct idle_config idle_config;
    const struct gang_policy *gang;
    time_ns stale_after; /* a gang below its minimum for so long loses the rest; TIME_NEVER: never */
    const struct placement_policy *placement;
    const struct placement_policy *placement_firm; /* of jobs that are never evicted */
    struct placement_config placement_config;
    const struct preemption_policy *preemption;
    struct preemption_config preempt;
    uint8_t actions[ACTIONS_MAX]; /* enum action, in their order */
    uint32_t action_count;
    time_ns reservation_expiry; /* space held for a job that does not come to start is given up */
    struct headroom_config headroom;
    uint32_t guarantees; /* of enum guarantee */
    uint32_t plugin_count;
    struct plugin_use plugins[OWNS_MAX]; /* whose policies stand above, in the order of the set */
};

/* Strict fifo, no quota, all-or-nothing gangs, best fit, no preemption. */
struct policy_config policy_config_default(void);

/* Does placement ask which members usually come (sched_typical_told)? */
bool policy_uses_typical(const struct policy_config *config);

/* Fail through the sticky error, at the "actions" of the policy read from `value`, if no job can ever start under it.
 * All other actions serve jobs that `allocate` could not place: without it they do nothing. */
void policy_config_need_allocate(const struct policy_config *config, const struct json_value *value);

/* Is the job not preemptible because of its priority, since its submitter did not say (preempt.firm_priority)? */
struct job;
bool policy_makes_firm(const struct policy_config *config, const struct job *job);

/* Do all jobs wait in one line that stops at its head? */
bool policy_has_one_line(const struct policy_config *config);

/* Read the object; fails through the sticky error, naming the policies there are. */
void policy_config_read(struct policy_config *config, const struct json_value *value);

/* The same, where the policies of plug-ins may be named too.  "plugins", which says what files they came from, is then
 * the caller's to read.  The set's policies are borrowed for the config's life. */
void policy_config_read_with(struct policy_config *config, const struct json_value *value,
                             const struct plugin_set *plugins);

#endif
