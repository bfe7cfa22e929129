/* priority.  Higher declared priority first.
 * Works if few jobs have a high priority; if all do, it is fifo.  Jobs of low priority can starve.
 * Cost: O(1). */
#include "policies/order/orders.h"
#include "workloads/job_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return (uint64_t)((int64_t)INT32_MAX - view->priority);
}

const struct order_policy order_priority = {
    .name = "priority",
    .version = 2,
    .summary = "higher declared priority first; low ones can starve",
    .reads_job = JOB_READS(JOB_FIELD_PRIORITY),
    .is_constant = true,
    .rank = rank,
};
