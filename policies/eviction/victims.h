/* policies/eviction/victims.h -- who may be evicted, and in what order. */
#ifndef POLICIES_EVICTION_VICTIMS_H
#define POLICIES_EVICTION_VICTIMS_H

#include "policies/eviction/plan.h"

struct eviction_log { /* of one queue */
    time_ns *at;      /* a ring of the last evictions_per_queue_h */
    uint32_t next, count;
};

/* Fill plan.units with all that may be evicted for the preemptor; in the order of the keys if that is wanted. */
void victims_collect(struct sched *sched, uint32_t preemptor, enum plan_kind kind, bool is_ordered);
/* The next unit to take, or NULL: by key, or by queue first if the policy says so. */
struct unit *victims_next(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* May the unit be taken in the present trial state?  If not, it is not asked again in this plan. */
bool victims_may_take(struct sched *sched, uint32_t preemptor, struct unit *unit, enum plan_kind kind);
/* Does the quota policy let its queue lose the unit to the preemptor, in the present trial state? */
bool victims_is_lawful(struct sched *sched, uint32_t preemptor, const struct unit *unit);
/* Within the preemptor's queue only lower priorities give way, and nobody runs at one. */
bool victims_has_no_lower(const struct sched *sched, uint32_t preemptor, queue_id queue);
/* A job of this queue is being evicted. */
void victims_log(struct sched *sched, queue_id queue);
void victims_release(struct sched *sched);

/* ---- victim_order.c */

/* Find the keys of a unit, and what it is charged.  O(holdings). */
void victims_rank(struct sched *sched, struct unit *unit);
/* Does the preemption policy keep the unit from being taken?  Then it is refused. */
bool victims_spares(struct sched *sched, struct unit *unit);
/* <0 if x, ranked, is taken before y, by the keys. */
int victims_compare(const struct plan_scratch *plan, const struct unit *x, const struct unit *y);
/* What a unit is charged and loses: nothing yet.  Good until the next call. */
struct unit_terms *victims_new_terms(struct plan_scratch *plan, struct unit *unit);
/* Where the order alone says who gives way: does the preemptor go before the victim in the after-state too?  Else the
 * victim could take its place back at once. */
bool victims_keep_order(struct sched *sched, uint32_t preemptor, const struct unit *unit);
/* Put all units of the plan in order, of each queue together if that is wanted. */
void victims_order(struct sched *sched, bool by_queue);

/* Its card will be asked for soon: when a list of slots is read, so many further on. */
enum { ROSTER_AHEAD = 6 };
static inline void candidates_foresee(const struct sched *sched, uint32_t slot)
{
    if (slot < sched->candidates_capacity)
        __builtin_prefetch(&sched->candidates[slot]);
    __builtin_prefetch(&sched->jobs.jobs[slot]);
}

#endif
