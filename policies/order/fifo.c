/* fifo.  By time of submission.
 * Fair in the simplest sense and easy to explain; with "blocking": "strict" one large job holds up all
 * behind it.  Cost: O(1). */
#include "policies/order/order.h"

static uint64_t rank(const struct job *job)
{
    return (uint64_t)job->submit;
}

const struct order_policy order_fifo = {
    .name = "fifo",
    .version = 1,
    .summary = "by time of submission; strict blocking lets one large job hold up the rest",
    .rank = rank,
};
