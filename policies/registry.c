/* The policies there are, by seam.  A new one is a file in its folder, a line in the seam's header and one here. */
#include "policies/order/order.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"

const struct order_policy *const order_policies[] = {&order_fifo, &order_priority, NULL};

const struct quota_policy *const quota_policies[] = {&quota_none, &quota_fairshare, NULL};

const struct placement_policy *const placement_policies[] = {
    &placement_best_fit, &placement_first_fit, &placement_worst_fit, NULL};

const struct preemption_policy *const preemption_policies[] = {&preemption_none,
                                                               &preemption_checkpoint, NULL};
