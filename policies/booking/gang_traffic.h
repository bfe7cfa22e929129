/* policies/booking/gang_traffic.h -- keeps the traffic of booked gangs (policies/placement/traffic.h) up to date.
 *
 * A gang counts where its members run or were told to start, not where they are claimed or leave.
 */
#ifndef POLICIES_BOOKING_GANG_TRAFFIC_H
#define POLICIES_BOOKING_GANG_TRAFFIC_H

#include "policies/state/sched_state.h"

/* Does a placement policy look at what jobs exchange? */
static inline bool gang_traffic_is_asked(const struct policy_config *policy)
{
    return policy->placement->score_place != NULL ||
           (policy->placement_firm != NULL && policy->placement_firm->score_place != NULL);
}

/* Called once, before the first fact. */
void gang_traffic_init(struct sched *sched);

/* The job holds other pieces than before, or none.  O(its pieces), where links are kept. */
void gang_traffic_change(struct sched *sched, uint32_t slot);

#endif
