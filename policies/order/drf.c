/* drf.  The smallest dominant share first: the largest ratio, over GPUs, CPUs and memory, of the job's holdings to the
 * cluster's capacity, as an integer multiple of 2^-32.
 * Source: dominant resource fairness (NSDI'11), per job as in Volcano's drf plug-in.  Evens out jobs that grow member
 * by member.  Jobs that hold nothing are all equal: the chain needs another link.  Departure: rounded down to 2^-32.
 * Cost: O(resources). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    uint64_t dominant = 0;
    (void)config;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        if (view->holds[r] <= 0)
            continue;
        if (view->capacity[r] <= 0)
            return UINT64_MAX; /* no node with that resource is up */
        unsigned __int128 share = ((unsigned __int128)view->holds[r] << 32) / (uint64_t)view->capacity[r];
        if (share > dominant)
            dominant = share > UINT64_MAX ? UINT64_MAX : (uint64_t)share;
    }
    return dominant;
}

const struct order_policy order_drf = {
    .name = "drf",
    .version = 1,
    .summary = "smallest dominant share held first; evens out growing jobs, does not order jobs "
               "that hold nothing",
    .rank = rank,
};
