/* policies/eviction/trial.h -- the trial of a plan: units are taken in the ledger, and given back.
 *
 * Law: while a unit is taken, the ledger has its space free, and its queue is not charged for it.
 */
#ifndef POLICIES_EVICTION_TRIAL_H
#define POLICIES_EVICTION_TRIAL_H

#include "policies/eviction/plan_scratch.h"
#include "policies/state/sched_state.h"

/* Take the unit in the trial.  The surplus that cannot stay without it goes too (unit_stands_on). */
void plan_take(struct sched *sched, struct unit *unit);
void plan_give_back(struct sched *sched, struct unit *unit);
/* Take a unit again that was given back; it is listed still. */
void plan_take_again(struct sched *sched, struct unit *unit);
/* How many jobs do the units taken belong to?  A surplus unit that goes without its core counts as one. */
uint32_t plan_count_jobs(const struct sched *sched);
/* Is the core or the set taken without which this surplus unit cannot stay? */
bool plan_is_core_taken(const struct sched *sched, const struct unit *unit);
/* Does the unit stand on a core or a set that the plan takes and that finds no other place?  Then it finds none either:
 * a surplus member alone is no job. */
bool plan_stands_on_lost(const struct sched *sched, const struct unit *unit);
/* The pieces of the unit's job that stay; valid until the next call. */
struct held_pieces plan_staying(struct sched *sched, const struct unit *unit);
/* Charge the unit's queue for what the unit holds, or the preemptor's queue for what the preemptor asks; sign: 1 adds
 * the charge, -1 takes it off. */
void plan_charge(struct sched *sched, const struct unit *unit, int sign);
void plan_charge_preemptor(struct sched *sched, uint32_t preemptor, int sign);
/* What is taken next below this queue and the queues above it is not known any more (struct unit_span). */
void plan_forget_fronts(struct plan_scratch *plan, const struct queue_tree *tree, queue_id queue);

#endif
