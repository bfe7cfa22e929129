/* deadline.  The earliest deadline first; jobs without one come last.
 * Meets every deadline on one preemptible machine if that can be done at all (Liu and Layland 1973); with load above
 * capacity it is the worst: it spends on jobs that are already late.  Nothing is estimated.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return rank_of_int(view->deadline);
}

const struct order_policy order_deadline = {
    .name = "deadline",
    .version = 1,
    .summary = "earliest deadline first, none last; under overload it works on what is late anyway",
    .is_constant = true,
    .rank = rank,
};
