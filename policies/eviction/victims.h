/* policies/eviction/victims.h -- which units may be evicted, and in what order. */
#ifndef POLICIES_EVICTION_VICTIMS_H
#define POLICIES_EVICTION_VICTIMS_H

#include "policies/eviction/plan.h"

/* The GPU-ns that victims may lose for the preemptor at most; INT64_MAX: there is no bound. */
int64_t victims_loss_bound(const struct sched *sched, const struct plan_request *request);
/* Fill plan.units with all units that may be evicted for the preemptor (SLOT_NONE: for no job), in
 * no order. */
void victims_collect(struct sched *sched, const struct plan_request *request);
/* Put the units that were collected in the order in which victims_next returns them. */
void victims_arrange(struct sched *sched, const struct plan_request *request);
/* May a plan of this kind for a preemptor of queue `preemptor` take from `queue` at all? */
bool victims_is_queue_meant(struct sched *sched, queue_id preemptor, queue_id queue, enum plan_kind kind);
/* May the preemptor preempt the job, which is of its own queue, by the policy's within_queue?  The order is not asked.
 */
bool victims_is_within_rule(const struct sched *sched, uint32_t preemptor, uint32_t slot);
/* The run time that protects jobs of queue `victim` from a plan of this kind for a preemptor of queue `preemptor`. */
time_ns victims_min_runtime(const struct sched *sched, queue_id preemptor, queue_id victim, enum plan_kind kind);
/* Was the preemptor evicted a few cycles ago for a job, which it may not evict yet? */
bool victims_has_rival(const struct sched *sched, uint32_t preemptor);
/* May a reclaim take any unit of the queue, in the present trial state? */
bool victims_may_reclaim_from(struct sched *sched, const struct plan_request *request, queue_id queue);
/* The next unit to take, or NULL: by key, or by queue first if the policy says so. */
struct unit *victims_next(struct sched *sched, const struct plan_request *request);
/* May the unit be taken in the present trial state?  If not, it is refused and this round does not ask again. */
bool victims_admit(struct sched *sched, const struct plan_request *request, struct unit *unit);
/* Does the quota policy let the preemptor take the unit from its queue, in the present trial state? */
bool victims_is_lawful(struct sched *sched, const struct plan_request *request, const struct unit *unit);

/* ---- victims_note.c */

/* Note what victims_collect would note for a reclaim or a consolidation: when units may be taken later.  Nothing is
 * collected, unless that takes a look at each job: where guards depend on time or on the preemptor. */
void victims_note(struct sched *sched, const struct plan_request *request);

/* ---- victim_order.c */

/* Compute the keys and the charge of a unit, once.  O(holdings). */
void victims_rank(struct sched *sched, const struct plan_request *request, struct unit *unit);
/* Does the preemption policy spare the unit?  Then it is refused. */
bool victims_refuse_spared(struct sched *sched, const struct plan_request *request, struct unit *unit);
/* <0 if x is taken before y, by their keys.  Both are ranked. */
int victims_compare(const struct plan_scratch *plan, const struct unit *x, const struct unit *y);
/* Where the order alone decides within a queue (WITHIN_QUEUE_ORDER): does the preemptor go before the victim in the
 * after-state too?  If not, the victim could take its place back at once. */
bool victims_keep_order(struct sched *sched, uint32_t preemptor, const struct unit *unit);
/* Put all units of the plan in the order of their keys.  by_queue: the units of each queue stand together.  is_lazy:
 * where no job has surplus, the units stay where they are, and victims_at finds each in its turn. */
void victims_order(struct sched *sched, const struct plan_request *request, bool by_queue, bool is_lazy);
/* The units stand in the order of their keys already, by queue.  Each is ranked when victims_next looks at it.  With
 * debug assertions on, all are ranked and compared. */
void victims_are_in_order(struct sched *sched, const struct plan_request *request);
/* The unit at this place in the order. */
struct unit *victims_at(struct plan_scratch *plan, uint32_t place);

/* Load the job's victim candidate into the cache.  A loop over a list of slots calls it for the slot CANDIDATES_AHEAD
 * further on. */
enum { CANDIDATES_AHEAD = 6 };
static inline void candidates_foresee(const struct sched *sched, uint32_t slot)
{
    if (slot < sched->candidates.job_capacity)
        __builtin_prefetch(&sched->candidates.of_job[slot]);
    __builtin_prefetch(&sched->jobs.jobs[slot]);
}

/* As candidates_get, inline for the loops over such lists. */
static inline struct victim_candidate *candidates_known(struct sched *sched, uint32_t slot)
{
    const bool is_known = slot < sched->candidates.job_capacity && sched->candidates.of_job[slot].is_known;
    return is_known ? &sched->candidates.of_job[slot] : candidates_get(sched, slot);
}

#endif
