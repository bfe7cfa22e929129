/* policies/reservation/reservation.h -- planned starts of waiting jobs, and the passes in which backfill policies use
 * them: the reservation room as others see it.
 *
 * In one line (easy, conservative, slurm) overtake() is the pass.  Where queues compete:
 *   as soon as reserve_is_due(sched):
 *       reserve_begin(sched), for each class queue = reserve_next(sched): try it, and if it is closed then,
 *       reserve_for(sched, class queue);
 *   queue selection: who fits on `pieces` may go if reserve_is_clear(), or else where reserve_place() finds room;
 *   as long as planned starts fell, reserve_review(sched), again;
 *   reserve_end_selection(sched);
 */
#ifndef POLICIES_RESERVATION_RESERVATION_H
#define POLICIES_RESERVATION_RESERVATION_H

#include "policies/state/sched_state.h"

void reservation_init(struct sched *sched); /* as the backfill policy wants it */
void reservation_release(struct sched *sched);
void planned_start_archive(struct archive *archive, struct sched *sched);
/* What the node is has changed. */
void planned_start_node_changed(struct sched *sched, node_id node);
/* Starts that were promised so far, and those of them that were late. */
void reservation_count(const struct sched *sched, uint64_t *promised, uint64_t *late);

/* Do the planned starts hold still: those that stand, or of one line those of the last cycle, all of jobs that wait? */
bool planned_start_is_fresh(const struct sched *sched);
/* Keep, in a trial, what those of others need while the job would run if it started now. */
void planned_start_keep(struct sched *sched, uint32_t slot);
/* In a trial: as if there were no planned starts where queues compete; returns what brings them back. */
uint32_t planned_start_set_aside(struct sched *sched);
void planned_start_bring_back(struct sched *sched, uint32_t count);
bool planned_start_is_any(const struct sched *sched); /* where queues compete */

/* ---- in one line */

/* Start who may go before those in front of him, by the backfill policy. */
void overtake(struct sched *sched);
/* When a pass is wanted though nothing is told. */
time_ns overtake_wake(const struct sched *sched);

/* ---- where queues compete */

bool reserve_is_due(const struct sched *sched);
time_ns reserve_wake(const struct sched *sched); /* when a pass is wanted though nothing is told */
/* All planned starts fall; all class queues are in the queue selection for new ones. */
void reserve_begin(struct sched *sched);
uint32_t reserve_next(struct sched *sched); /* the best class queue; CLASS_QUEUE_NONE: no more, or enough */
void reserve_for(struct sched *sched, uint32_t class_queue); /* and it leaves the queue selection */
/* Sets aside, until this is asked of another, the planned starts that do not hold up this job. */
void reserve_look_ahead(struct sched *sched, uint32_t slot);
/* Is the job, there and now, in nobody's way? */
bool reserve_is_clear(struct sched *sched, uint32_t slot, const struct piece_list *pieces);
/* It was not: take space for it where it is in nobody's way, on sched->pieces; false: there is none, and nothing is
 * taken. */
bool reserve_place(struct sched *sched, uint32_t slot);
/* Nor was there space for the class queue's head: the first of its jobs behind the head and of its queue that is over
 * before any planned start which may hold up the head begins; SLOT_NONE.  O(jobs of the class queue). */
uint32_t reserve_shorter(struct sched *sched, uint32_t class_queue);
/* Those that stand no more fall; did any?  Who waited for them may try again. */
bool reserve_review(struct sched *sched);
void reserve_end_selection(struct sched *sched);

#endif
