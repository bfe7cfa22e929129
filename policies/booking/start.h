/* policies/booking/start.h -- jobs start: on free space, or on space that they claimed. */
#ifndef POLICIES_BOOKING_START_H
#define POLICIES_BOOKING_START_H

#include "policies/state/sched_state.h"

/* Take the space of sched->pieces, which is free, for the waiting job. */
void sched_take(struct sched *sched, uint32_t slot);
/* Start the waiting job on sched->pieces: take their space, and append the START. */
void sched_start(struct sched *sched, uint32_t slot, enum source source);
/* As above, for space that was taken in the ledger already. */
void book_start(struct sched *sched, uint32_t slot, enum source source);

/* The waiting job claims the pieces, whose space is free or coming. */
void sched_claim(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum source source);
/* A job that leaves all that it holds claims the pieces, where it will go on. */
void sched_claim_move(struct sched *sched, uint32_t slot, const struct piece_list *pieces);
/* The same until the end of the cycle, and not told.  sched_drop_hold ends it. */
void sched_hold_move(struct sched *sched, uint32_t slot, const struct piece_list *pieces);
void sched_drop_hold(struct sched *sched, uint32_t slot);
/* Give up the claim of the job in `slot`; it waits again. */
void sched_drop_claim(struct sched *sched, uint32_t slot);
/* The same for a claim of this cycle: its RESERVE is not told. */
void sched_recall_claim(struct sched *sched, uint32_t slot);
/* Start the claims whose space has arrived.  Rules of tags count a claimed piece as staying only from its start.  So a
 * claim that starts may shut the nodes of another claim; claims_expire drops that one in the next cycle. */
void claims_start(struct sched *sched);
/* Drop the claims that expired before their space arrived.  A claim whose space has arrived starts in this cycle or the
 * next.  is_cycle: also drop the claims whose nodes rules of tags shut. */
void claims_expire(struct sched *sched, bool is_cycle);
/* When to look at the claim again.  Its space may have arrived already, if a victim had to leave only because of a
 * limit. */
time_ns claim_wake(const struct sched *sched, uint32_t slot);

/* Called at the beginning of each fact: brings what depends on time alone up to `now` before anything changes. */
void sched_begin_fact(struct sched *sched, time_ns now);

#endif
