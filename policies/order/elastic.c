/* elastic.  Jobs below their minimum first, then those at it, then those above.
 * Idea: every job runs before any job grows.  Source: KAI-Scheduler's elastic plug-in.  Put it behind
 * priority; otherwise a high-priority job cannot grow until every low-priority job runs.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return view->fill;
}

const struct order_policy order_elastic = {
    .name = "elastic",
    .version = 1,
    .summary = "below the minimum first, above it last; no job grows while another waits to run",
    .is_by_fill = true,
    .rank = rank,
};
