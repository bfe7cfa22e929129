/* policies/booking/start.h -- jobs start: on free space, or on space that they claimed. */
#ifndef POLICIES_BOOKING_START_H
#define POLICIES_BOOKING_START_H

#include "policies/state/sched_state.h"

/* Start the waiting job on sched->pieces, whose space is free. */
void sched_start(struct sched *sched, uint32_t slot, enum source source);
/* The same, where the ledger has given the space already. */
void book_start(struct sched *sched, uint32_t slot, enum source source);

/* The waiting job claims the pieces: their space is free, or on its way. */
void sched_claim(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum source source);
/* A job that leaves all it holds claims the pieces, to go on there. */
void sched_claim_move(struct sched *sched, uint32_t slot, const struct piece_list *pieces);
/* Has the job a claim that is booked?  O(claims). */
bool claims_has(const struct sched *sched, uint32_t slot);
/* Give up the claim of the job in `slot`; it waits again. */
void sched_drop_claim(struct sched *sched, uint32_t slot);
/* Start the claims whose space has come.  What is claimed draws no job in until it starts: a claim that started just
 * now may have shut another, which goes in the next cycle. */
void claims_start(struct sched *sched);
/* Give up the reservations whose time has passed before their space came; one whose space has come starts in the next
 * cycle, or in this.  is_cycle: and those that rules of tags shut. */
void claims_expire(struct sched *sched, bool is_cycle);
/* When the claim is to be looked at again.  Its space may be there already, where a victim had to go for the sake of a
 * limit only. */
time_ns claim_wake(const struct sched *sched, uint32_t slot);

#endif
