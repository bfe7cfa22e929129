/* fairtree.  The higher fair-share factor first (policies/state/accounts.h): jobs of the queue, and of the user in it,
 * with the least usage relative to their shares.
 * It is one link of a chain; multifactor adds the same factor to others.  Works over days, with a half-life longer
 * than jobs.  A queue that was idle for long then goes before all others until it has caught up.  Cost: O(1). */
#include "policies/order/orders.h"
#include "topologies/queue_fields.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return UINT32_MAX - (uint64_t)view->fair_share_ppm;
}

const struct order_policy order_fairtree = {
    .name = "fairtree",
    .version = 1,
    .summary = "least decayed usage of queue and user first; users who were idle for long go before all",
    .reads_queue = QUEUE_READS(QUEUE_WEIGHT) | QUEUE_READS(QUEUE_USERS),
    .moves = true,
    .needs_accounts = true,
    .rank = rank,
};
