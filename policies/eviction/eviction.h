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

/* A cycle begins: no eviction yet in this one. */
void eviction_begin_cycle(struct sched *sched);

/* The attempts of one kind in one cycle; true if a plan was booked. */
bool plan_cycle(struct sched *sched, enum plan_kind kind);
/* When to try again if nothing is told: for victims too young, or because the attempts were used up. */
time_ns plan_wake(struct sched *sched);

/* The allocation step fits what is free and is leaving together: claim both, before those behind it.  False: it does
 * not. */
bool plan_await(struct sched *sched, uint32_t slot);
/* Free what the headroom lacks.  True if a job was evicted. */
bool headroom_refill(struct sched *sched);

/* Jobs that one plan may move now; notes when it may be more. */
int64_t moves_bound(struct sched *sched);
/* For the preemptor's sake move jobs off the nodes that are kept, as far as they find other places.  True if one is. */
bool moves_vacate(struct sched *sched, uint32_t preemptor);
/* From when on a reclaim for the preemptor might take all of this job, as it stands; TIME_NEVER: it may not. */
time_ns victims_eligible_at(struct sched *sched, uint32_t preemptor, uint32_t slot);

/* A job that may be a victim one day is there, or was told to have saved; the queues changed. */
void preemption_cost_know(struct sched *sched, uint32_t slot);
void preemption_cost_queues_changed(struct sched *sched);

/* Save or load (policies/util/archive.h); what is loaded into is empty, the queues are known. */
void eviction_archive(struct archive *archive, struct sched *sched);
/* NULL: what is used within a plan alone is as the next expects it. */
const char *eviction_check(const struct sched *sched);

#endif
