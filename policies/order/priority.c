/* priority.  Higher declared priority first.
 * Works when priorities are scarce; everybody's job at the top makes it fifo, and low ones can starve.
 * Cost: O(1). */
#include "policies/order/order.h"

static uint64_t rank(const struct job *job)
{
    return (uint64_t)((int64_t)INT32_MAX - job->priority);
}

const struct order_policy order_priority = {
    .name = "priority",
    .version = 1,
    .summary = "higher declared priority first; low ones can starve",
    .rank = rank,
};
