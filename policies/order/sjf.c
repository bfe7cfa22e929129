/* sjf.  The shortest expected run time first: the estimate, else the limit; jobs that declare neither come last.
 * Gives the smallest mean wait on one machine if the times are true (Smith's rule with equal weights); long jobs
 * starve under load, and padded limits decide in place of run times.  It does not weigh by size: a
 * short job of a thousand GPUs goes before a longer one of a single GPU.  Cost: O(1). */
#include "policies/order/orders.h"
#include "workloads/job_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    time_ns expected = order_expected(view);
    return expected == TIME_NEVER ? UINT64_MAX : rank_of_int(expected);
}

const struct order_policy order_sjf = {
    .name = "sjf",
    .version = 1,
    .summary = "shortest estimate or limit first; smallest mean wait if they are true, long jobs starve",
    .reads_job = JOB_READS(JOB_FIELD_ESTIMATE),
    .is_constant = true,
    .rank = rank,
};
