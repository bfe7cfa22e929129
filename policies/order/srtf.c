/* srtf.  The least expected remaining run time first: the estimate, else the limit, less what it ran in all its
 * attempts, cut to whole seconds; jobs that declare neither come last.
 * Without evictions it is sjf but for jobs that come again; with preemption by order it is the preemptive rule.
 * An underestimated job counts as nearly done for as long as it runs, work lost in an eviction counts
 * as done, and long jobs starve under load.  Cost: O(1); moves while a job runs. */
#include "policies/order/orders.h"
#include "workloads/job_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    time_ns expected = order_expected(view);
    if (expected == TIME_NEVER)
        return UINT64_MAX;
    return view->ran >= expected ? 0 : (uint64_t)((expected - view->ran) / TIME_NS_PER_S);
}

const struct order_policy order_srtf = {
    .name = "srtf",
    .version = 1,
    .summary = "least estimate or limit left first; needs evictions to matter, long jobs starve",
    .reads_job = JOB_READS(JOB_FIELD_ESTIMATE),
    .moves = true,
    .rank = rank,
};
