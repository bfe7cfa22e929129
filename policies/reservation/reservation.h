/* policies/reservation/reservation.h -- planned starts of waiting jobs, and the backfill passes that use them: the
 * interface of the reservation room.
 *
 * With one queue (easy, conservative, slurm) overtake() is the pass.  Where queues compete:
 *   when reservation_is_due(sched):
 *       reserve_begin(sched), for each class queue = reserve_next(sched): try its head; if that does not start,
 *       reserve_for(sched, class queue);
 *   queue selection: a job that fits on `pieces` starts if reserve_is_clear(), else where reserve_place() finds room;
 *   repeat while reserve_review(sched) drops planned starts.
 */
#ifndef POLICIES_RESERVATION_RESERVATION_H
#define POLICIES_RESERVATION_RESERVATION_H

#include "policies/state/sched_state.h"

/* Is a backfill pass due: jobs wait, the interval is over, and the state has changed since the last pass? */
bool reservation_is_due(const struct sched *sched);
/* When the next pass is due without any fact; TIME_NEVER: none. */
time_ns reservation_wake(const struct sched *sched);
/* Are there planned starts, made in the last cycle or standing, and do all their jobs still wait with that request? */
bool planned_start_is_fresh(const struct sched *sched);
/* In a trial: take the space that planned starts of other jobs need while the job would run if it started now. */
void planned_start_keep(struct sched *sched, uint32_t slot);

/* ---- gaps (policies/reservation/fillers.h) */

/* Find a place for the waiting job, on sched->pieces, that is free now and that only planned starts need later to which
 * the job would give way, if that is worth it.  Takes nothing.  False: there is none, or the policy fills no gaps. */
bool fillers_place(struct sched *sched, uint32_t slot);
/* The waiting job is about to start on that place. */
void fillers_add(struct sched *sched, uint32_t slot);
/* Evict the fillers without which the jobs of planned starts can start now; those claim the space.  True if any did. */
bool fillers_land(struct sched *sched);

/* ---- with one queue */

/* A backfill pass: start the jobs that may overtake, by the backfill policy. */
void overtake(struct sched *sched);

/* ---- where queues compete */

/* Drop all planned starts and list all class queues as candidates for new ones. */
void reserve_begin(struct sched *sched);
uint32_t reserve_next(struct sched *sched); /* the best class queue; CLASS_QUEUE_NONE: no more, or enough */
void reserve_for(struct sched *sched, uint32_t class_queue); /* and remove it from the candidates */
/* If the job starts now on these pieces, does it delay no planned start? */
bool reserve_is_clear(struct sched *sched, uint32_t slot, const struct piece_list *pieces);
/* Take space for the job where it delays no planned start, on sched->pieces.  False: there is none, and nothing is
 * taken. */
bool reserve_place(struct sched *sched, uint32_t slot);
/* Called if the head of the class queue found no such space.  Returns the first job behind it in the same queue that
 * ends before any planned start that may delay the head begins; SLOT_NONE.  O(jobs of the class queue). */
uint32_t reserve_shorter(struct sched *sched, uint32_t class_queue);
/* Drop the planned starts that no longer stand, and open the request classes that they closed.  True if any was
 * dropped; else a pass of this cycle has seen all changes by now. */
bool reserve_review(struct sched *sched);

#endif
