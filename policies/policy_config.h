/* policies/policy_config.h -- which policies stand in which seam, with their parameters.
 *
 * Read from JSON: a preset (policies/presets) or a file of the same shape; every field has a default.
 *
 *   {"order": ["priority", "fifo"],      the chain, first difference wins; the last key is always the id
 *    "blocking": "skip" | "strict",      strict: what does not fit holds up everything behind it in its line
 *    "quota": "none" | "fairshare",
 * *    "placement": "best_fit" | "first_fit" | "worst_fit",
 *    "preemption": {"policy": "none" | "checkpoint", "grace_s": 120, "min_runtime_s": 300,
 *                   "attempts_per_cycle": 4, "victims_max": 64, "evictions_per_job_max": 10}}
 *
 * Gangs are all or nothing: every member of a job starts in the same instant or none does.
 * Law: all budgets count steps, never time spent.
 */
#ifndef POLICIES_POLICY_CONFIG_H
#define POLICIES_POLICY_CONFIG_H

#include "base/json.h"

enum { ORDER_CHAIN_MAX = 3 };

struct order_policy;
struct quota_policy;
struct placement_policy;
struct preemption_policy;

struct preemption_config {
    time_ns grace;                 /* given to a victim to save its work */
    time_ns min_runtime;           /* a job that ran shorter is no victim; counts from its START */
    int64_t attempts_per_cycle;    /* plans tried in one cycle */
    int64_t victims_max;           /* jobs evicted by one plan */
    int64_t evictions_per_job_max; /* a job evicted so often is no victim any more */
};

struct policy_config {
    char name[64];
    const struct order_policy *order[ORDER_CHAIN_MAX];
    uint32_t order_count;
    bool is_strict;
    const struct quota_policy *quota;
    const struct placement_policy *placement;
    const struct preemption_policy *preemption;
    struct preemption_config preempt;
};

/* Strict fifo, no quota, best fit, no preemption. */
struct policy_config policy_config_default(void);

/* Read the object; fails through the sticky error, naming the policies there are. */
void policy_config_read(struct policy_config *config, const struct json_value *value);

#endif
