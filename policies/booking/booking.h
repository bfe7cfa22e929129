/* policies/booking/booking.h -- what jobs hold and wait for, written into the books. */
#ifndef POLICIES_BOOKING_BOOKING_H
#define POLICIES_BOOKING_BOOKING_H

#include "policies/booking/start.h"
#include "policies/state/sched_state.h"

/* Append a decision about the job in `slot`. */
struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot);
/* Say that the holding is part of the last decision. */
void sched_tell_piece(struct sched *sched, const struct piece *piece);

/* Charge the queue of the job (amounts may be negative); outside of trials reopens what that lets go, and the job is
 * settled or forgotten before the next queue selection. */
void sched_charge(struct sched *sched, uint32_t slot, const int64_t amounts[QUEUE_SUM_COUNT]);

void sched_advance_quota(struct sched *sched, time_ns now); /* of a policy that wants it */

/* At the beginning of each fact: what depends on time alone is integrated before anything changes. */
void sched_begin_fact(struct sched *sched, time_ns now);

static inline void sched_pass_time(struct sched *sched, time_ns now)
{
    if (sched->kept_nodes.count > 0)
        kept_nodes_count_time(sched, now);
    sched->now = sched->request_classes.now = now;
    if (sched->claim_count > 0 && now > sched->claims_until)
        claims_expire(sched, false);
    if (sched->policy.quota->advance != NULL)
        sched_advance_quota(sched, now);
}

/* All class queues that a quota closed may try again. */
void sched_reopen_quotas(struct sched *sched);

/* Hold the pieces, whose space the ledger has given already, in this phase; charge them.  Pieces of jobs that may
 * shrink are split into single members. */
void sched_hold(struct sched *sched, uint32_t slot, const struct piece_list *pieces, enum holding_phase phase,
                decision_id decision);
/* The holding leaves the books altogether: space free (or arrived), uncharged unless it was leaving. */
void sched_unhold(struct sched *sched, uint32_t slot, uint32_t holding);
/* After holdings came or went: state, fill, lists and ranks of the job, and whether and for what it waits. */
void sched_settle(struct sched *sched, uint32_t slot);

void sched_wait(struct sched *sched, uint32_t slot); /* for its next allocation step, if there is one */
void sched_unwait(struct sched *sched, uint32_t slot);
/* Take space in the ledger for the allocation step that the job asks; false if it does not fit: roll back. */
bool sched_place(struct sched *sched, uint32_t slot, struct piece_list *pieces);
/* `asking`: the request class and the queue of the job, which may be in no slot. */
struct asking {
    uint32_t request_class;
    queue_id queue;
};
void sched_reject(struct sched *sched, job_id job, struct asking asking, enum reason reason);
void sched_forget(struct sched *sched, uint32_t slot); /* it is over */
/* The holding is on its way out: its space is coming, its charge is gone. */
void sched_let_leave(struct sched *sched, uint32_t slot, uint32_t holding, decision_id decision);

#endif
