/* policies/eviction/eviction.h -- evicts running jobs to make room for others: the room as the cycle sees it.
 *
 *   while (...) plan_cycle(sched, kind);        an action of the cycle
 *   time_ns wake = plan_wake(sched);
 */
#ifndef POLICIES_EVICTION_EVICTION_H
#define POLICIES_EVICTION_EVICTION_H

#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

/* Make the attempts of one kind in this cycle.  True if a plan was booked. */
bool plan_cycle(struct sched *sched, enum plan_kind kind);
/* When to try again if no fact comes before: a victim that was too young may be evicted then, or the attempts of this
 * cycle were used up. */
time_ns plan_wake(struct sched *sched);

/* If the job's allocation step fits in free and leaving space together, claim both before the jobs behind it can.
 * False: it does not fit, or the policy does not place victims again (replaces_victims). */
bool plan_await(struct sched *sched, uint32_t slot);
/* If the job's shares would open more wholly free GPUs now than when all leaving space is free, claim the latter place
 * (sharing.awaits_shared).  Two placements. */
bool plan_await_shared(struct sched *sched, uint32_t slot);
/* Evict jobs where that costs least until the headroom has one of the GPUs or nodes it lacks.  True: evictions were
 * booked. */
bool headroom_refill(struct sched *sched);

/* How many jobs one plan may move. */
int64_t moves_bound(const struct sched *sched);
/* The cycle ends: the new places of moved victims are free for others again, unless the policy holds them. */
void moves_drop_holds(struct sched *sched);
/* From when on a reclaim for the preemptor might evict the whole job, if nothing else changes; TIME_NEVER: it may not.
 */
time_ns victims_eligible_at(struct sched *sched, uint32_t preemptor, uint32_t slot);

/* ---- Jobs that fill a gap (policies/reservation/fillers.h) */

/* May the policy ever evict the whole job in `slot`, which waits or runs, for the preemptor?  By preemption in its own
 * queue, by reclaim from another.  What time alone decides is not asked: minimum run times, delays, costs.  O(depth of
 * the queue tree). */
bool eviction_is_ever(struct sched *sched, uint32_t preemptor, uint32_t slot);
/* The run time that would protect the job from an eviction for the preemptor. */
time_ns eviction_protects_for(const struct sched *sched, uint32_t preemptor, uint32_t slot);
/* Evict the whole job, all of which runs, for the preemptor.  Its space is coming, and for nobody yet.  Returns the
 * source of that space. */
enum source eviction_take(struct sched *sched, uint32_t slot, uint32_t preemptor, enum reason reason);

/* A job that may become a victim was added, or its checkpoint was told. */
void preemption_cost_know(struct sched *sched, uint32_t slot);

#endif
