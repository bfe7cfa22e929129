/* policies/eviction/victims.h -- which units may be evicted, and in what order. */
#ifndef POLICIES_EVICTION_VICTIMS_H
#define POLICIES_EVICTION_VICTIMS_H

#include "policies/eviction/plan.h"

struct eviction_log { /* of one queue */
    time_ns *at;      /* a ring of the last evictions_per_queue_h */
    uint32_t next, count;
};

/* Fill plan.units with all units that may be evicted for the preemptor (SLOT_NONE: for no job).  is_ordered: sort them
 * by their keys. */
void victims_collect(struct sched *sched, uint32_t preemptor, enum plan_kind kind, bool is_ordered);
/* The next unit to take, or NULL: by key, or by queue first if the policy says so. */
struct unit *victims_next(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* May the unit be taken in the present trial state?  If not, it is refused and this round does not ask again. */
bool victims_may_take(struct sched *sched, uint32_t preemptor, struct unit *unit, enum plan_kind kind);
/* Does the quota policy let the preemptor take the unit from its queue, in the present trial state? */
bool victims_is_lawful(struct sched *sched, uint32_t preemptor, const struct unit *unit);
/* Within a queue only jobs of lower priority may be evicted, and no job of this queue has a lower priority than the
 * preemptor. */
bool victims_has_no_lower(const struct sched *sched, uint32_t preemptor, queue_id queue);
/* Log that a job of this queue is being evicted, for the queue's disruption budget. */
void victims_log(struct sched *sched, queue_id queue);
void victims_release(struct sched *sched);

/* ---- victim_order.c */

/* Compute the keys and the charge of a unit, once.  O(holdings). */
void victims_rank(struct sched *sched, struct unit *unit);
/* Does the preemption policy spare the unit?  Then it is refused. */
bool victims_spares(struct sched *sched, struct unit *unit);
/* <0 if x is taken before y, by their keys.  Both are ranked. */
int victims_compare(const struct plan_scratch *plan, const struct unit *x, const struct unit *y);
/* Give the unit its terms, with no charge and no cost yet.  Valid until the next call. */
struct unit_terms *victims_new_terms(struct plan_scratch *plan, struct unit *unit);
/* Where the order alone decides within a queue (WITHIN_QUEUE_ORDER): does the preemptor go before the victim in the
 * after-state too?  If not, the victim could take its place back at once. */
bool victims_keep_order(struct sched *sched, uint32_t preemptor, const struct unit *unit);
/* Sort all units of the plan by their keys.  by_queue: the units of each queue stand together. */
void victims_order(struct sched *sched, bool by_queue);

/* Load the job's victim candidate into the cache.  A loop over a list of slots calls it for the slot CANDIDATES_AHEAD
 * further on. */
enum { CANDIDATES_AHEAD = 6 };
static inline void candidates_foresee(const struct sched *sched, uint32_t slot)
{
    if (slot < sched->candidates.job_capacity)
        __builtin_prefetch(&sched->candidates.of_job[slot]);
    __builtin_prefetch(&sched->jobs.jobs[slot]);
}

#endif
