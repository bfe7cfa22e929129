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

/* Take the unit in the trial.  The surplus that cannot stay without it goes too (unit_stands_on). */
void plan_take(struct sched *sched, struct unit *unit);
void plan_give_back(struct sched *sched, struct unit *unit);
/* Is the core or the set taken without which this surplus unit cannot stay? */
bool plan_is_core_taken(const struct sched *sched, const struct unit *unit);
/* Does the unit stand on a core or a set that the plan takes and that finds no other place?  Then it finds none either:
 * a surplus member alone is no job. */
bool plan_stands_on_lost(const struct sched *sched, const struct unit *unit);
/* May victims of such a plan be placed elsewhere? */
bool plan_may_move(const struct sched *sched, enum plan_kind kind);
/* Is the after-state of the units taken valid?  It does not ask whether each unit is needed.  Sets plan.pieces and
 * plan.places. */
bool plan_is_good(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* In a valid plan whose victims move: list the members that need not (plan.stays).  Then plan.pieces and plan.places
 * are those of the trimmed plan. */
void plan_trim_members(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
/* The pieces of the unit's job that stay; valid until the next call. */
struct held_pieces plan_staying(struct sched *sched, const struct unit *unit);
/* How many jobs one plan of this kind may evict now. */
uint32_t plan_job_bound(const struct sched *sched, enum plan_kind kind);

/* Charge the unit's queue for what the unit holds, or the preemptor's queue for what the preemptor asks; sign: 1 adds
 * the charge, -1 takes it off. */
void plan_charge(struct sched *sched, const struct unit *unit, int sign);
void plan_charge_preemptor(struct sched *sched, uint32_t preemptor, int sign);

/* ---- plan_places.c */

/* In the trial, place the taken unit elsewhere (plan.moved) and charge it again.  False: there is no place for it. */
bool plan_seek_place(struct sched *sched, const struct unit *unit);
/* As above, and store the place as the unit's (plan.places). */
bool plan_replace(struct sched *sched, struct unit *unit);
/* In the trial, place the preemptor (plan.pieces) and then the victims (plan.places).  *homeless: the number of victims
 * that have no other place; the search ends with the first beyond `most`, and no more is then known of the others.
 * False: there is no place for the preemptor. */
bool plan_put_all(struct sched *sched, uint32_t preemptor, uint32_t most, uint32_t *homeless);
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
bool plan_recall_next(struct sched *sched, uint32_t preemptor, enum plan_kind kind);
void plan_recall_claims(struct sched *sched, uint32_t preemptor);
/* Does the order put the preemptor before the job whose claim is taken back? */
bool plan_recall_is_last(struct sched *sched, uint32_t preemptor, uint32_t slot);

/* May the job be a victim of a plan of this kind although it is starting?  Yes if the policy allows it and `allocate`
 * of this cycle decided every START that is not confirmed yet; at most once a cycle.  O(holdings). */
bool plan_may_recall(const struct sched *sched, uint32_t slot, enum plan_kind kind);

/* Book the taken units as victims of the preemptor (JOB_NONE: evicted for no job).  Running members are evicted.  The
 * START of members that are starting is recalled: it is not told, and the job waits as before.  Returns where the
 * preemptor's space comes from. */
enum source plan_book(struct sched *sched, job_id preemptor, enum plan_kind kind);

#endif
