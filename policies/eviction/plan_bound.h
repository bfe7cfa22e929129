/* policies/eviction/plan_bound.h -- refuses a plan whose candidates could never make room, before they are put in
 * order.
 *
 * Law: false only if the preemptor would find no place, or its quota would forbid it, with every candidate of the plan
 * gone.  Then no set of victims suffices, and the search would fail after it had taken and tried them all.
 *
 *   victims_collect(sched, request);
 *   if (!plan_bound_suffices(sched, request)) return false;
 *
 * The quota is asked for a preemption, which takes from the preemptor's own queue alone.  A consolidation needs as much
 * free space as the preemptor asks, and its GPUs wholly free, since its victims move.  Else whole GPUs are counted, and
 * shares only where the preemptor is confined to GPUs of its queue (its home, policies/eviction/plan_fit.h).  Without a
 * home it does not ask where the job may be placed, and never what CPUs and memory are free; so it may be true where
 * the search fails.
 * Cost: O(pieces of the candidates + nodes + GPUs / 32).
 */
#ifndef POLICIES_EVICTION_PLAN_BOUND_H
#define POLICIES_EVICTION_PLAN_BOUND_H

#include "policies/eviction/plan_request.h"
#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

/* Called in the trial of the plan, when the candidates are collected and none is taken. */
bool plan_bound_suffices(struct sched *sched, const struct plan_request *request);

/* In a consolidation: is as much free as the preemptor asks, and could moves open as many GPUs as it asks whole?
 * Called before candidates are collected; debug builds search all the same. */
bool plan_room_suffices(struct sched *sched, uint32_t preemptor);

#endif
