/* policies/order/order_config.h -- the parameters of the order policies; docs/policies.md has the table.
 *
 *   "order": ["multifactor"], "order_config": {"period_s": 300, "weight_age": 1000, ...}
 */
#ifndef POLICIES_ORDER_CONFIG_H
#define POLICIES_ORDER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "workloads/job.h"

enum { ORDER_CHAIN_MAX = 5 }; /* order policies in a chain */

enum { LAS_QUEUES_MAX = 8 };
enum fair_share_kind { FAIR_SHARE_TREE, FAIR_SHARE_CLASSIC };

struct order_config {
    time_ns period; /* between computations of moving ranks */
    /* las */
    uint32_t las_limit_count;                 /* queues - 1 */
    int64_t las_limit_gpu_ns[LAS_QUEUES_MAX]; /* attained GPU time at which a job moves down a queue */
    int64_t las_promote_milli; /* back to the first queue after a wait of this multiple of its run time; 0: never */
    /* multifactor */
    int64_t weight_age, weight_fair_share, weight_size, weight_priority;
    int64_t weight_tres[3]; /* by enum resource */
    time_ns age_max;
    bool favors_small;
    /* accounts */
    time_ns half_life;    /* of usage; 0: no decay */
    bool decays_as_slurm; /* 1 - 0.693/half-life per second, linearised, in place of 2^(-t/half-life) */
    uint8_t fair_share;   /* enum fair_share_kind */
    int64_t billing_milli[RESOURCE_COUNT]; /* usage per GPU, CPU and GiB held; all 0: GPUs alone count, as 1 each */
};

#endif
