/* policies/booking/decide.h -- the list of decisions of a cycle, and the notes for the next one.
 *
 *   decided_begin_cycle(sched);
 *   decided_tell_notes(sched);                       REJECTs and RELEASEs noted since the last cycle
 *   sched_decide(sched, DECISION_START, slot);       then sched_tell_piece() for each of its pieces
 *   decided_close_gaps(sched);                       their numbers follow each other
 *   decided_end_cycle(sched);                        decisions point to their pieces
 *
 * Law: the decisions that a scheduler tells have the numbers 1, 2, 3, ... in their order, without gaps.
 * sim/live/decide.c tests it on each decision that it writes, and sim/referee/referee.c on those of other programs that
 * they increase.  It once caught gaps behind STARTs that were recalled in their cycle.
 */
#ifndef POLICIES_BOOKING_DECIDE_H
#define POLICIES_BOOKING_DECIDE_H

#include "policies/state/sched_state.h"

void decided_begin_cycle(struct sched *sched);
void decided_tell_notes(struct sched *sched);
/* Give the decisions the next numbers, if some were taken back.  Observers hear of each that gets another id and whose
 * job is known; the job's holdings have it already. */
void decided_close_gaps(struct sched *sched);
void decided_end_cycle(struct sched *sched);
void decided_release_all(struct sched *sched); /* memory */

/* Append a decision about the job in `slot`. */
struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot);
/* Append a piece to the last decision. */
void sched_tell_piece(struct sched *sched, const struct piece *piece);

/* Remove the piece from its START of this cycle, and the START itself if it has no piece left. */
void decided_untell(struct sched *sched, decision_id start, const struct piece *piece);

/* The RESERVE of this cycle for the job; NULL: there is none.  decided_unreserve removes it.  O(decisions). */
struct decision *decided_reserve(const struct sched *sched, job_id job);
void decided_unreserve(struct sched *sched, job_id job);

/* The request class and the queue of a job that may have no slot. */
struct asking {
    uint32_t request_class;
    queue_id queue;
};
/* Note that the job is rejected; the next cycle decides the REJECT. */
void sched_reject(struct sched *sched, job_id job, struct asking asking, enum reason reason);
/* Note that the claim of the job was given up; the next cycle decides the RELEASE. */
void decided_release(struct sched *sched, job_id job);

/* may: plans may recall each START that is decided from now on in this cycle.  Else they may recall none. */
void decided_allow_recalls(struct sched *sched, bool may);

#endif
