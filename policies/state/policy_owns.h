/* policies/state/policy_owns.h -- the state of plug-ins that the policy uses, by seam. */
#ifndef POLICIES_STATE_POLICY_OWNS_H
#define POLICIES_STATE_POLICY_OWNS_H

#include "policies/order/order.h"
#include "policies/own.h"
#include "policies/preemption/preemption.h"

struct policy_owns { /* NULL: the policy at that seam is built in */
    struct owns all;
    const struct policy_own *order[ORDER_CHAIN_MAX], *victim[VICTIM_CHAIN_MAX];
    const struct policy_own *gang, *estimate, *preemption, *backfill;
};

#endif
