/* policies/eviction/plan.h -- plans that make room by evictions. */
#ifndef POLICIES_EVICTION_PLAN_H
#define POLICIES_EVICTION_PLAN_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

/* Is there a plan of this kind that makes room for the preemptor, who waits in a class queue?  plan.taken: its
 * victims. */
bool plan_find(struct sched *sched, uint32_t preemptor, enum plan_kind kind);

/* Make room for the preemptor, who waits in a class queue, by a plan of this kind.  True if it is booked. */
bool plan_make(struct sched *sched, uint32_t preemptor, enum plan_kind kind);

/* Take the unit in the trial; the surplus of a core goes with it. */
void plan_take(struct sched *sched, struct unit *unit);
void plan_give_back(struct sched *sched, struct unit *unit);
/* Does the core of this surplus member go?  Then it cannot stay. */
bool plan_is_core_taken(const struct sched *sched, const struct unit *unit);
/* Jobs that one plan of this kind may evict now. */
uint32_t plan_job_bound(struct sched *sched, enum plan_kind kind);

/* Charge, sign times, what the unit holds; what the preemptor asks. */
void plan_charge(struct sched *sched, const struct unit *unit, int sign);
void plan_charge_preemptor(struct sched *sched, uint32_t preemptor, int sign);

/* ---- plan_places.c */

/* Put the unit, which is taken, elsewhere in the trial (plan.moved), and charge it again; false: it has no place. */
bool plan_seek_place(struct sched *sched, const struct unit *unit);
/* The same, and remember the place as its own (plan.places). */
bool plan_replace(struct sched *sched, struct unit *unit);
/* In the trial, put the preemptor in its place (plan.pieces) and then the victims in theirs (plan.places); *homeless:
 * victims that have no other place.  False: the preemptor has none. */
bool plan_put_all(struct sched *sched, uint32_t preemptor, uint32_t *homeless);
/* Of a plan that is good, where victims move: give back those put on their own nodes that can stay with what they
 * have, while all others have the places found.  True if there are some; plan.pieces and plan.places hold then. */
bool plan_leave_at_home(struct sched *sched, uint32_t preemptor);

/* May the job be a victim of such a plan though it starts: the policy says so, and `allocate` of this cycle decided
 * every START not confirmed yet?  Once a cycle only.  O(holdings). */
bool plan_may_recall(const struct sched *sched, uint32_t slot, enum plan_kind kind);

/* Let the taken units go in the books, for the preemptor's sake (JOB_NONE: nobody's).  Members that run are evicted;
 * the START of those that start is recalled: it is not told, and the job waits as before.  Returns what the
 * preemptor's space is owed to. */
enum source plan_book(struct sched *sched, job_id preemptor, enum plan_kind kind);

#endif
