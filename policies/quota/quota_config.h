/* policies/quota/quota_config.h -- the parameters of the quota policies in a policy file:
 *
 *   "quota": "fairshare"    or    "quota": {"policy": "fairshare", "half_life_s": "7d", ...}
 *
 * The head of each policy names the fields that it reads; docs/policies.md has the table.  Ratios are in milli.
 */
#ifndef POLICIES_QUOTA_CONFIG_H
#define POLICIES_QUOTA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum within_cohort { RECLAIM_NEVER, RECLAIM_LOWER_PRIORITY, RECLAIM_ANY };
enum { COHORT_STRATEGIES_MAX = 2 };
enum cohort_strategy { STRATEGY_NONE, STRATEGY_FINAL_SHARE, STRATEGY_INITIAL_SHARE };

struct quota_config {
    bool firm_needs_quota;         /* non-preemptible jobs must fit in what is deserved at every level */
    int64_t saturation_milli;      /* a preemptor's saturation times this must stay below its siblings'; >= 1000 */
    time_ns window, half_life;     /* of past usage; 0: none */
    int64_t usage_weight_milli;    /* k: the weight of past usage; 0: it does not count */
    time_ns share_period;          /* past usage enters the division in steps of this length */
    bool fair_sharing;             /* cohort: by dominant resource share; else classical */
    uint8_t reclaim_within_cohort; /* enum within_cohort */
    uint8_t borrow_within_cohort;  /* RECLAIM_NEVER or RECLAIM_LOWER_PRIORITY; classical only */
    int32_t borrow_max_priority;   /* victims of higher priority are safe while borrowing */
    uint8_t strategies[COHORT_STRATEGIES_MAX]; /* enum cohort_strategy, tried in order */
};

#endif
