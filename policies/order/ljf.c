/* ljf.  The longest expected run time first: the estimate, else the limit; jobs that declare neither come last,
 * so that a missing declaration is no advantage.
 * Good for the end of a closed batch (the long ones do not trail); bad for every mean wait.  Cost: O(1). */
#include "policies/order/orders.h"
#include "workloads/job_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    time_ns expected = order_expected(view);
    return expected == TIME_NEVER ? UINT64_MAX : ~rank_of_int(expected);
}

const struct order_policy order_ljf = {
    .name = "ljf",
    .version = 1,
    .summary = "longest estimate or limit first; shortens a closed batch, lengthens the mean wait",
    .reads_job = JOB_READS(JOB_FIELD_ESTIMATE),
    .is_constant = true,
    .rank = rank,
};
