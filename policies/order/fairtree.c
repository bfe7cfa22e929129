/* fairtree.  The higher fair-share factor first (policies/state/accounts.h): whose queue, and who in it, used least of
 * what it is due goes first.
 * As one link of a chain; multifactor adds the same factor to others.  Works over days, with a half-life longer
 * than jobs; a queue that was idle for long is then served before all others until it has caught up.  Cost: O(1). */
#include "policies/order/orders.h"

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    return UINT32_MAX - (uint64_t)view->fair_share_ppm;
}

const struct order_policy order_fairtree = {
    .name = "fairtree",
    .version = 1,
    .summary = "least decayed usage of queue and user first; who was idle for long is served before all",
    .moves = true,
    .needs_accounts = true,
    .rank = rank,
};
