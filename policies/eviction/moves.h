/* policies/eviction/moves.h -- running jobs that move to other places: what that costs, and where they go.
 *
 * Plans (policies/eviction/plan.c) use it. */
#ifndef POLICIES_EVICTION_MOVES_H
#define POLICIES_EVICTION_MOVES_H

#include "policies/jobs/request_class.h"
#include "policies/sched.h"
#include "policies/state/plan_kind.h"

/* Is the job better left where it is?  True if what is left of its run is no longer than moves_cost and the policy
 * spares such jobs (spares_ending). */
bool moves_spares(struct sched *sched, uint32_t slot);
/* How many jobs one plan of this kind may evict now. */
uint32_t plan_job_bound(const struct sched *sched, enum plan_kind kind);
/* After a plan was booked: the jobs that it moves claim the places it found for them, if the policy says so
 * (holds_places).  If it does not, but replaces victims, others keep off these places until the cycle ends.
 *
 * Law: after a cycle, space is claimed only for jobs that were told RESERVE.  Checked in random worlds by the rule
 * `sums` of tests/support/honest_world.h (tests/property/test_defrag.c). */
void moves_hold_places(struct sched *sched);

#endif
