/* policies/allocate/allocate.h -- starts waiting jobs where there is space. */
#ifndef POLICIES_ALLOCATE_ALLOCATE_H
#define POLICIES_ALLOCATE_ALLOCATE_H

#include "policies/state/sched_state.h"

/* The allocate action of a cycle. */
void allocate(struct sched *sched);

#endif
