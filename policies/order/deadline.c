/* deadline.  The earliest deadline first; jobs without one come last.
 * Meets every deadline on one preemptible machine if any order can (Liu and Layland 1973).  With load above
 * capacity it is the worst order: it runs jobs that are already late.  It uses no estimates.  Cost: O(1). */
#include "policies/order/orders.h"
#include "workloads/job_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return rank_of_int(view->deadline);
}

const struct order_policy order_deadline = {
    .name = "deadline",
    .version = 1,
    .summary = "earliest deadline first, none last; under overload it runs jobs that are already late",
    .reads_job = JOB_READS(JOB_FIELD_DEADLINE),
    .is_constant = true,
    .rank = rank,
};
