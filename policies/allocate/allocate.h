/* policies/allocate/allocate.h -- starts waiting jobs where there is space. */
#ifndef POLICIES_ALLOCATE_ALLOCATE_H
#define POLICIES_ALLOCATE_ALLOCATE_H

#include "policies/state/sched_state.h"

/* Try to place the head of the class queue.  If it cannot start, its class queue or its request class is closed, unless
 * it claims leaving space (plan_await). */
void sched_try_head(struct sched *sched, uint32_t class_queue);
/* The allocate action of a cycle. */
void allocate(struct sched *sched);

#endif
