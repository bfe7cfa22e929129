/* policies/eviction/nominees.h -- class queues whose heads all searched their victims in the same state; their plans
 * are booked one after another.
 *
 * Used where the quota policy has rounds (policies/quota/quota.h).  Where sched.plans_in_turn is set, a plan is booked
 * when the queue selection comes to its class queue.
 */
#ifndef POLICIES_EVICTION_NOMINEES_H
#define POLICIES_EVICTION_NOMINEES_H

#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

enum turn {
    TURN_NONE,    /* no class queue that needs a plan goes first */
    TURN_TO_SEEK, /* the first one searches its victims now, and so do all class queues that may ask */
    TURN_TO_BOOK  /* the first one has found its victims: book its plan */
};

/* ---- attempts.c */

/* Fill plan.class_queues with the class queues that may ask for a plan now and did not fail in this cycle. */
void plan_gather_class_queues(struct sched *sched, enum plan_kind kind);
/* Remove the class queue that the queue selection puts first from plan.class_queues, which is not empty. */
uint32_t plan_take_best_class_queue(struct sched *sched);
/* Seek a plan for the head of the class queue.  True: there is one, and it is booked unless this is a nomination. */
bool plan_attempt(struct sched *sched, uint32_t class_queue, enum plan_kind kind, bool is_nomination);

/* ---- nominees.c */

/* Search victims for all class queues gathered (plan_gather_class_queues) in the present state; then book their plans
 * in the order of the queue selection.  Returns the number of attempts. */
int64_t nominees_try_all(struct sched *sched, enum plan_kind kind, bool *is_booked);

/* The set of open class queues has changed. */
void nominees_turn_moved(struct sched *sched);
/* A queue selection begins: there are no nominees yet. */
void nominees_begin(struct sched *sched);
/* Does a class queue that may ask for a plan of reclaim go before this one?  CLASS_QUEUE_NONE: is there any at all?
 * *whose: that class queue, valid unless TURN_NONE. */
enum turn nominees_turn(struct sched *sched, uint32_t class_queue, uint32_t *whose);
void nominees_seek(struct sched *sched);
void nominees_book(struct sched *sched, uint32_t class_queue);

#endif
