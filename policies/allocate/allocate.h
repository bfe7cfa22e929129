/* policies/allocate/allocate.h -- waiting jobs start where there is room. */
#ifndef POLICIES_ALLOCATE_ALLOCATE_H
#define POLICIES_ALLOCATE_ALLOCATE_H

#include "policies/state/sched_state.h"

/* Try the head of the class queue; close the class queue if it cannot go. */
void sched_try_head(struct sched *sched, uint32_t class_queue);
/* The allocate action of a cycle. */
void allocate(struct sched *sched);

#endif
