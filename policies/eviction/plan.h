/* policies/eviction/plan.h -- plans that make room by evictions. */
#ifndef POLICIES_EVICTION_PLAN_H
#define POLICIES_EVICTION_PLAN_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

/* Is there a plan of this kind that makes room for the preemptor, a job of a class queue?  plan.taken: its victims. */
bool plan_find(struct sched *sched, uint32_t preemptor, enum plan_kind kind);

/* Find a plan of this kind for the preemptor, a job of a class queue, and book it.  True if there was one. */
bool plan_make(struct sched *sched, uint32_t preemptor, enum plan_kind kind);

/* May victims of such a plan be placed elsewhere? */
bool plan_may_move(const struct sched *sched, const struct plan_request *request);
/* Is the after-state of the units taken valid?  It does not ask whether each unit is needed.  Sets plan.pieces and
 * plan.places. */
bool plan_validate(struct sched *sched, const struct plan_request *request);
/* If only the units that are still taken had been taken, would each have been allowed in its round? */
bool plan_is_lawful(struct sched *sched, const struct plan_request *request);
/* In a valid plan whose victims move: list the members that need not (plan.stays).  Then plan.pieces and plan.places
 * are those of the trimmed plan. */
void plan_trim_members(struct sched *sched, const struct plan_request *request);

/* ---- plan_places.c */

/* In the trial, place the preemptor (plan.pieces) and then the victims (plan.places).  *unplaced: the number of victims
 * that have no other place; the search ends with the first beyond `most`, and no more is then known of the others.
 * False: there is no place for the preemptor. */
bool plan_put_all(struct sched *sched, uint32_t preemptor, uint32_t most, uint32_t *unplaced);
/* False only if the preemptor and all taken units together find no places, since there are too few nodes with so many
 * free GPUs: each member of s GPUs takes at least s / g places of g GPUs.  Where GPU models differ it is always true.
 * O(pieces of the taken units + node types * GPUs of a node). */
bool plan_may_hold_all(struct sched *sched, uint32_t preemptor);
/* In a valid plan whose victims move: give back the victims whose new places are on the nodes where they run, if they
 * can stay there while all others have the places found.  True if some stay; then plan.pieces and plan.places are
 * valid. */
bool plan_leave_at_home(struct sched *sched, uint32_t preemptor);

/* Claims of this cycle that a reclaim takes back (plan_recall.c).  In the trial: take back the next one that it may;
 * false: there is none.  When the plan is booked: end them. */
bool plan_recall_next(struct sched *sched, const struct plan_request *request);
void plan_recall_claims(struct sched *sched, uint32_t preemptor);
/* Does the order put the preemptor before the job whose claim is taken back? */
bool plan_recall_is_last(struct sched *sched, uint32_t preemptor, uint32_t slot);

/* Book the taken units as victims of the preemptor (JOB_NONE: evicted for no job).  Running members are evicted.  The
 * START of members that are starting is recalled: it is not told, and the job waits as before.  Returns where the
 * preemptor's space comes from. */
enum source plan_book(struct sched *sched, job_id preemptor, enum plan_kind kind);

#endif
