/* policies/booking/decide.h -- the decisions of a cycle are written down here.
 *
 *   decided_begin_cycle(sched);
 *   decided_tell_notes(sched);                       rejections and given-up reservations since the last cycle
 *   sched_decide(sched, DECISION_START, slot);       then sched_tell_piece() for each of its pieces
 *   decided_end_cycle(sched);                        decisions point to their pieces
 */
#ifndef POLICIES_BOOKING_DECIDE_H
#define POLICIES_BOOKING_DECIDE_H

#include "policies/state/sched_state.h"

void decided_begin_cycle(struct sched *sched);
void decided_tell_notes(struct sched *sched);
void decided_end_cycle(struct sched *sched);
void decided_release_all(struct sched *sched); /* memory */
void decided_archive(struct archive *archive, struct sched *sched);

/* Append a decision about the job in `slot`. */
struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot);
/* Append a piece to the last decision. */
void sched_tell_piece(struct sched *sched, const struct piece *piece);

/* Remove the piece from its START of this cycle, and the START itself if it has no piece left. */
void decided_untell(struct sched *sched, decision_id start, const struct piece *piece);

/* `asking`: the request class and the queue of the job, which may be in no slot. */
struct asking {
    uint32_t request_class;
    queue_id queue;
};
/* The next cycle tells that the job is rejected. */
void sched_reject(struct sched *sched, job_id job, struct asking asking, enum reason reason);
/* The next cycle tells that the reservation of the job was given up. */
void decided_release(struct sched *sched, job_id job);

/* Plans may take back each START that is decided from now on in this cycle; or none. */
void decided_allow_recalls(struct sched *sched, bool may);

#endif
