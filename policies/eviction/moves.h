/* policies/eviction/moves.h -- running jobs that move to other places: what that costs, how many may, where they go.
 *
 * Part of the scheduler's inside: what plans (policies/eviction/plan.c) ask about moves, and the moves that empty
 * drained nodes.
 *
 * Law: in no hour are more jobs moved than the policy allows.
 */
#ifndef POLICIES_EVICTION_MOVES_H
#define POLICIES_EVICTION_MOVES_H

#include "policies/jobs/request_class.h"
#include "policies/sched.h"

struct archive;

/* Jobs moved in the last hour, the oldest first; policies/eviction/moves.c. */
struct move_log {
    time_ns *at;
    size_t capacity;
    uint32_t count;
};

/* What a move throws away of the job's time, if it left now: the grace, the restart, and what it cannot save. */
time_ns moves_cost(struct sched *sched, uint32_t slot);
/* It is better left where it is: by its planned end it has less to run than that. */
bool moves_spares(struct sched *sched, uint32_t slot);
void moves_log(struct sched *sched); /* a job is being moved */
/* The moved of the plan, which is booked, claim the places found for them, if the policy says so. */
void moves_hold_places(struct sched *sched);

#endif
