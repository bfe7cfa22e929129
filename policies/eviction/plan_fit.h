/* policies/eviction/plan_fit.h -- does the preemptor of a plan fit once the units taken so far are gone?
 *
 * Words.  Where the quota policy confines the preemptor to GPUs that its queue keeps (quota_policy.confines), the
 * nodes of these GPUs are its home.
 *
 * Law: a preemptor that found no place finds none before something changes at home.  This holds if its members are
 * alike and its place depends neither on jobs elsewhere nor on domains.
 *
 *   struct misfit misfit = {.keeper = QUEUE_NONE};
 *   do plan_take(sched, ...); while (!plan_try_fit_again(sched, request, &misfit));
 *
 * Cost: a placement; for plan_try_fit_again O(changes) if nothing changed at home.
 */
#ifndef POLICIES_EVICTION_PLAN_FIT_H
#define POLICIES_EVICTION_PLAN_FIT_H

#include "policies/eviction/plan_request.h"
#include "policies/state/sched_state.h"

struct misfit {       /* remembers that the preemptor found no place */
    queue_id keeper;  /* the queue that keeps its home; QUEUE_NONE: not tried yet, or its home alone does not decide */
    uint64_t changes; /* the ledger's changes up to this count are known not to matter */
};

/* Does the preemptor fit, within the limits of its queue and of the queues above?  plan.pieces: where.  The ledger is
 * left as it was. */
bool plan_try_fit(struct sched *sched, const struct plan_request *request);

/* As above, called after each unit that is taken.  `misfit` keeps what is known from one call to the next. */
bool plan_try_fit_again(struct sched *sched, const struct plan_request *request, struct misfit *misfit);

/* The group that is confined to the home, and the queue that keeps it (*keeper).  NULL: no home alone decides. */
const struct job_group *plan_home_of(struct sched *sched, uint32_t preemptor, queue_id *keeper);

/* False only if the home would be too small for the preemptor even if every job that may ever be evicted had left it.
 * O(nodes of the home).  It only spares work: without it, h100-500x8 of 8 h under hived takes 9.3 * 10^9 instructions
 * instead of 2.2 * 10^9. */
bool plan_home_suffices(struct sched *sched, uint32_t preemptor);

#endif
