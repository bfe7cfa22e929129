/* elastic.  Jobs below their minimum first, then those at it, then those above.
 * Idea: everybody runs before anybody grows.  Source: KAI-Scheduler's elastic plug-in.  Put it behind
 * priority, or one's high-priority job waits for its growth until every low one runs.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return view->fill;
}

const struct order_policy order_elastic = {
    .name = "elastic",
    .version = 1,
    .summary = "below the minimum first, above it last; nobody grows while somebody waits to run",
    .is_by_fill = true,
    .rank = rank,
};
