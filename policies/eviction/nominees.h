/* policies/eviction/nominees.h -- class queues whose heads found their victims in one state, and are booked in their
 * turn.
 *
 * Only where the quota policy has rounds (policies/quota/quota.h); in the queue selection where sched.plans_in_turn.
 */
#ifndef POLICIES_EVICTION_NOMINEES_H
#define POLICIES_EVICTION_NOMINEES_H

#include "policies/state/plan_kind.h"
#include "policies/state/sched_state.h"

enum turn {
    TURN_NONE,    /* of no class queue that must evict */
    TURN_TO_SEEK, /* its victims, with all class queues that may ask */
    TURN_TO_BOOK
};

/* ---- attempts.c */

/* Fill plan.class queues with those that may ask now and did not in this cycle. */
void plan_gather_class_queues(struct sched *sched, enum plan_kind kind);
/* Take the class queue with the best head out of those gathered, of which there are some. */
uint32_t plan_take_best_class_queue(struct sched *sched);
/* Try the head of the class queue: is there a plan, which is booked unless this is a nomination? */
bool plan_attempt(struct sched *sched, uint32_t class_queue, enum plan_kind kind, bool is_nomination);

/* ---- nominees.c */

/* The class queues gathered (plan_gather_class_queues) seek their victims in the present state, and are booked in
 * their order.  Returns the attempts made. */
int64_t nominees_try_all(struct sched *sched, enum plan_kind kind, bool *is_booked);

/* Other class queues are open than before, or fewer. */
void nominees_turn_moved(struct sched *sched);
/* A queue selection begins: nobody is nominated yet. */
void nominees_begin(struct sched *sched);
/* Does a class queue that may ask for a plan of reclaim go before this one (CLASS_QUEUE_NONE: is there any)?  *whose:
 * the class queue, unless TURN_NONE. */
enum turn nominees_turn(struct sched *sched, uint32_t class_queue, uint32_t *whose);
void nominees_seek(struct sched *sched);
void nominees_book(struct sched *sched, uint32_t class_queue);

#endif
