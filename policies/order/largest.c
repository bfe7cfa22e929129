/* largest.  The job that requests the most GPUs first.
 * Gives large gangs the empty space before small jobs break it up.  With "blocking": "skip" small jobs fill the rest;
 * under load they wait behind every gang.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return ~rank_of_int(view->asks[RESOURCE_GPU]);
}

const struct order_policy order_largest = {
    .name = "largest",
    .version = 1,
    .summary = "most GPUs requested first; less fragmentation, small jobs wait behind every gang",
    .is_constant = true,
    .rank = rank,
};
