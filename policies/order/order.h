/* policies/order/order.h -- the seam "who is next" within one line of jobs.
 *
 * A policy gives a job a rank when it comes to wait; smaller goes first.  Policies are chained: the first
 * difference decides, and the last key is always the job's id, so that the order is total.
 *
 * A policy is one const struct; add it to orders.h and to policies/registry.c.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "workloads/job.h"

struct order_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    /* Required.  Called once, when the job is submitted; pure.  Kept through evictions, so that an evicted
     * job comes back to its old place. */
    uint64_t (*rank)(const struct job *job);
};

extern const struct order_policy *const order_policies[]; /* NULL-terminated */

extern const struct order_policy order_fifo;
extern const struct order_policy order_priority;

#endif
