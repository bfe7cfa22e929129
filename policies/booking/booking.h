/* policies/booking/booking.h -- writes into the books what jobs hold and what they wait for. */
#ifndef POLICIES_BOOKING_BOOKING_H
#define POLICIES_BOOKING_BOOKING_H

#include "policies/booking/decide.h"
#include "policies/booking/start.h"
#include "policies/state/sched_state.h"

void booking_init(struct sched *sched);
void booking_release(struct sched *sched);
void booking_queues_changed(struct sched *sched, uint32_t queue_count);

/* Charge the job's queue; amounts may be negative.  Outside of trials a lower charge reopens the class queues that a
 * limit closed.  The caller settles or forgets the job before the next queue selection. */
void sched_charge(struct sched *sched, uint32_t slot, const int64_t amounts[QUEUE_SUM_COUNT]);

/* Time has come to `now`; called if the quota policy has `advance`. */
void sched_advance_quota(struct sched *sched, time_ns now);

/* A fact or a decision has changed the state; retries count them. */
static inline void sched_count_change(struct sched *sched)
{
    sched->changes++;
}

static inline void sched_pass_time(struct sched *sched, time_ns now)
{
    sched->now = sched->request_classes.now = now;
    if (sched->claims.count > 0 && now > sched->claims.until)
        claims_expire(sched, false);
    if (sched->policy.quota->advance != NULL)
        sched_advance_quota(sched, now);
}

/* Reopen all class queues that a quota closed. */
void sched_reopen_quotas(struct sched *sched);
/* Reopen the class queues that a limit of this queue, or of a queue above it, closed.  Called when less is charged to
 * the queue. */
void sched_reopen_below(struct sched *sched, queue_id queue);
/* Reopen the class queues that pending_block_briefly closed (policies/queues/pending.h). */
void sched_reopen_brief(struct sched *sched);

/* Add the pieces to the job's holdings in this phase and charge them.  The caller has taken their space in the ledger.
 * Pieces of jobs that can grow or shrink are split into single members. */
void sched_hold(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum holding_phase phase,
                decision_id decision);
/* Remove the holding: its space becomes free, and its charge is taken off unless it was leaving. */
void sched_unhold(struct sched *sched, uint32_t slot, uint32_t holding);
/* Called after holdings were added or removed: updates the job's state, fill, lists and ranks, and puts it into the
 * class queue of its next allocation step if it asks for one. */
void sched_settle(struct sched *sched, uint32_t slot);

void sched_wait(struct sched *sched, uint32_t slot); /* enter the class queue of its next step, if any */
void sched_unwait(struct sched *sched, uint32_t slot);
/* The limits of queues have changed: where all jobs wait in one line, each moves to the class queue of the queue that
 * limits it now.  O(jobs). */
void sched_enter_lines_again(struct sched *sched);
/* What sched_place asks of the placement.  allowed: storage for it; both are borrowed until the next call. */
struct placement_request sched_placement_request(struct sched *sched, uint32_t slot, struct allowed_space *allowed);
/* Take space in the ledger for the job's allocation step; *pieces: where.  False: it does not fit, and the caller rolls
 * back. */
bool sched_place(struct sched *sched, uint32_t slot, struct piece_list *pieces);
void sched_forget(struct sched *sched, uint32_t slot); /* its slot is free; called by policies/booking/eligible.c */
/* The holding begins to leave: its space becomes coming, and its charge is taken off. */
void sched_let_leave(struct sched *sched, uint32_t slot, uint32_t holding, decision_id decision);
/* The holding, on its way out, stays and runs; adds its charge to `amounts`. */
void sched_let_stay(struct sched *sched, uint32_t slot, uint32_t holding, int64_t amounts[QUEUE_SUM_COUNT]);
/* Has the job a booked claim?  O(claims). */
bool claims_has(const struct sched *sched, uint32_t slot);
/* Remove the claim of the job and what is held for it; the caller settles the job. */
void sched_unclaim(struct sched *sched, uint32_t slot);

#endif
