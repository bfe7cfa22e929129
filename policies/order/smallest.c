/* smallest.  Who asks the fewest GPUs first.
 * Fills holes and keeps many people content; under load large gangs never find their space together.
 * Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return rank_of_int(view->asks[RESOURCE_GPU]);
}

const struct order_policy order_smallest = {
    .name = "smallest",
    .version = 1,
    .summary = "fewest GPUs requested first; fills holes, large gangs starve under load",
    .is_constant = true,
    .rank = rank,
};
