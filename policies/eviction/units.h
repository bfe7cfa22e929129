/* policies/eviction/units.h -- the eviction units of a job: what of it may be taken, and what must go along.
 *
 * A unit (policies/eviction/plan_scratch.h) is a surplus member, a surplus set, or the core: all that the surplus
 * leaves.
 * Law: of the units of a job each member in place is part of exactly one.
 */
#ifndef POLICIES_EVICTION_UNITS_H
#define POLICIES_EVICTION_UNITS_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/sched_state.h"

/* Is the holding of the job part of the unit? */
bool unit_has(const struct sched *sched, const struct unit *unit, uint32_t holding);
/* Must the unit go when the other goes?  Surplus when the core does, members above the minimum of a set when that
 * does. */
bool unit_stands_on(const struct sched *sched, const struct unit *unit, const struct unit *base);

/* Units for what is above the minimum, the last to come first. */
void units_add_surplus(struct sched *sched, uint32_t slot, bool is_over_quota);
/* What is left of the job without its surplus, whose units are those from first_surplus on. */
void units_add_core(struct sched *sched, uint32_t slot, bool is_over_quota, const struct victim_candidate *candidate,
                    uint32_t first_surplus);

#endif
