/* policies/eviction/units.h -- the eviction units of a job: which parts can be taken, and which must go together.
 *
 * A unit (policies/eviction/plan_scratch.h) is a surplus member, a surplus set, or the core: all but the surplus.
 * Law: each member in place is part of exactly one unit of its job.
 */
#ifndef POLICIES_EVICTION_UNITS_H
#define POLICIES_EVICTION_UNITS_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/sched_state.h"

/* Is this holding of the unit's job part of the unit? */
bool unit_has(const struct sched *sched, const struct unit *unit, uint32_t holding);
/* Must the unit go when `base` goes?  All surplus goes with the core; members of a set above its minimum go with the
 * set. */
bool unit_stands_on(const struct sched *sched, const struct unit *unit, const struct unit *base);

/* Give the unit its terms, with no charge and no cost yet.  Valid until the next call. */
struct unit_terms *units_new_terms(struct plan_scratch *plan, struct unit *unit);

/* Add a unit that holds nothing yet.  O(1). */
static inline struct unit *units_add(struct sched *sched, bool is_over_quota, uint32_t slot, uint32_t holding)
{
    struct plan_scratch *plan = sched->plan;
    if (plan->unit_count == plan->unit_capacity)
        MEM_GROW(plan->units, plan->unit_capacity, (size_t)plan->unit_count + 1);
    struct unit *unit = &plan->units[plan->unit_count++];
    *unit = (struct unit){
        .slot = slot, .holding = holding, .queue = sched->jobs.jobs[slot].queue, .is_over_quota = is_over_quota};
    return unit;
}

/* Add a unit for each part of the job above its minimum, in the order in which the parts leave. */
void units_add_surplus(struct sched *sched, uint32_t slot, bool is_over_quota);
/* Add the core as a unit: the job without its surplus, whose units are those from first_surplus on. */
void units_add_core(struct sched *sched, uint32_t slot, bool is_over_quota, const struct victim_candidate *candidate,
                    uint32_t first_surplus);

#endif
