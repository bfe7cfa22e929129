/* fifo.  By time of submission.
 * Fair in the simplest sense and easy to explain; with "blocking": "strict" one large job blocks all jobs
 * behind it.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return rank_of_int(view->submit);
}

const struct order_policy order_fifo = {
    .name = "fifo",
    .version = 2,
    .summary = "by time of submission; with strict blocking one large job blocks the rest",
    .is_constant = true,
    .rank = rank,
};
