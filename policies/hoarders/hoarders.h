/* policies/hoarders/hoarders.h -- jobs that hold GPUs and leave them idle: told or evicted, as the policy says
 * (policies/idle/idle.h).
 *
 * Laws
 *  - Measurements are no state changes: they retry no plan.  Only what this room decides counts as one.
 *  - A job loses members only if all that it has run, it may be preempted, and it was told before.
 *  - An evicted job rests: it waits for nothing (REASON_IDLE) until its rest is over.  So it cannot take its place back
 *    at once.
 *
 * sched->hoarders is NULL if the policy does nothing; then no function but hoarders_init may be called.
 *
 *   if (sched->hoarders != NULL)
 *       hoarders_started(sched, slot);
 */
#ifndef POLICIES_HOARDERS_H
#define POLICIES_HOARDERS_H

#include "policies/state/sched_state.h"

void hoarders_init(struct sched *sched);
void hoarders_release(struct sched *sched);

/* Facts.  Each is called when the books have it; O(1) but for the lists of jobs to be told and of those that rest. */
void hoarders_enroll(struct sched *sched, uint32_t slot);  /* a job has got this slot */
void hoarders_started(struct sched *sched, uint32_t slot); /* a START of it took effect */
void hoarders_left(struct sched *sched, uint32_t slot);    /* members have left, and it is settled */
void hoarders_refused(struct sched *sched, uint32_t slot); /* an EVICT of it was refused; before it is settled */
void hoarders_forget(struct sched *sched, uint32_t slot);  /* it has ended, or is cancelled */
void hoarders_observed(struct sched *sched, uint32_t slot, const struct observation *observation,
                       time_ns now); /* a measurement of it came; the books need not be at `now` yet */

/* A cycle begins: the jobs whose rest is over wait again. */
void hoarders_rouse(struct sched *sched);
/* Decide what is due. */
void hoarders_act(struct sched *sched);
/* When the next rest is over; TIME_NEVER: no job rests. */
time_ns hoarders_wake(const struct sched *sched);
/* Is a job to be told, or does one rest?  If not, a cycle has nothing to do for this room. */
bool hoarders_are_due(const struct sched *sched);
const char *hoarders_check(const struct sched *sched); /* NULL: its laws hold */

#endif
