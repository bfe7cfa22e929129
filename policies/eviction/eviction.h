/* policies/eviction/eviction.h -- running jobs give way: the eviction room as the cycle sees it.
 *
 *   eviction_init(sched);                       once
 *   while (...) plan_cycle(sched, kind);        an action of the cycle
 *   time_ns wake = plan_wake(sched);
 */
#ifndef POLICIES_EVICTION_EVICTION_H
#define POLICIES_EVICTION_EVICTION_H

#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

void eviction_init(struct sched *sched); /* which kinds and actions the policy uses */
void eviction_release(struct sched *sched);

/* The attempts of one kind in one cycle; true if a plan was booked. */
bool plan_cycle(struct sched *sched, enum plan_kind kind);
/* When to try again if nothing is told: for victims too young, or because the attempts were used up. */
time_ns plan_wake(struct sched *sched);

#endif
