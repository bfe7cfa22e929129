/* policies/state/waits.h -- the reason that each job waits, updated whenever it changes; see
 * policies/jobs/wait_clock.h.
 *
 * A job waits from its submission, and again from an eviction, until the START that gives it its minimum takes effect:
 * while it has fewer members in place, leaving members included.  A job that could grow beyond its minimum does not
 * wait. The reason: why it is held (Held, Dependency, JobArrayTaskLimit); Reserved while it has claimed space;
 * Configuring while it starts; in a class queue WaitingForScheduling until the next cycle has ended, then the reason
 * that closed its class queue, or Priority if it is open.  The reason that closed a request class is that of the last
 * try: see waits_close_request_class.  sched_why reports the same reason. */
#ifndef POLICIES_STATE_WAITS_H
#define POLICIES_STATE_WAITS_H

#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/state/sched_state.h"

void waits_release(struct sched *sched);

/* Add the span since the mark to the job's times.  Not called if the span is 0. */
void waits_book(struct sched *sched, struct sched_job *job);

static inline void waits_end(struct sched *sched, struct sched_job *job)
{
    if (job->wait.kind != WAIT_NOT && job->wait.since != sched->now)
        waits_book(sched, job);
    job->wait.kind = WAIT_NOT;
}

static inline void waits_under(struct sched *sched, struct sched_job *job, enum reason code)
{
    waits_end(sched, job);
    job->wait.since = sched->now;
    job->wait.kind = WAIT_CODE;
    job->wait.code = (uint8_t)code;
}

/* The job begins to wait in its class queue. */
static inline void waits_enter(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct waits *waits = &sched->waits;
    waits_end(sched, job);
    job->wait.since = sched->now;
    job->wait.kind = WAIT_FRESH;
    if (waits->fresh_count == waits->fresh_capacity)
        MEM_GROW(waits->fresh, waits->fresh_capacity, (size_t)waits->fresh_count + 1);
    waits->fresh[waits->fresh_count++] = slot;
}

/* Called before the job leaves its class queue.  Usually because it starts; otherwise a review follows. */
static inline void waits_leave(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct waits *waits = &sched->waits;
    if (waits->fresh_count > 0 && waits->fresh[waits->fresh_count - 1] == slot)
        waits->fresh_count--; /* the newest is often the first to leave */
    if (job->wait.kind != WAIT_NOT)
        waits_under(sched, job, REASON_CONFIGURING);
}

/* Its state, its holdings or its class queue have changed. */
void waits_review(struct sched *sched, uint32_t slot);

/* As above for a job without special cases: all its holdings run, and waits_leave has recorded its start. */
static inline void waits_settle(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_STARTING && job->holding_count == 1 && job->class_queue == CLASS_QUEUE_NONE)
        return;
    if (job->state == SJOB_RUNNING && job->holding_count == 1 && job->fill != FILL_BELOW)
        waits_end(sched, job);
    else
        waits_review(sched, slot);
}

/* As above after STARTs were confirmed, often all of the job's. */
static inline void waits_started(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->holding_count == 1 && job->fill != FILL_BELOW)
        waits_end(sched, job);
    else
        waits_review(sched, slot);
}

void waits_see_fresh(struct sched *sched);

/* A cycle ends: it has examined the newcomers. */
static inline void waits_end_cycle(struct sched *sched)
{
    if (sched->waits.fresh_count > 0)
        waits_see_fresh(sched);
}

/* The job is forgotten. */
static inline void waits_forget(struct sched *sched, struct sched_job *job)
{
    struct waits *waits = &sched->waits;
    if (job->wait.entry == 0)
        return;
    if (waits->free_count == waits->free_capacity)
        MEM_GROW(waits->free, waits->free_capacity, (size_t)waits->free_count + 1);
    waits->free[waits->free_count++] = job->wait.entry;
    job->wait.entry = 0;
}

/* Close the request class as request_class_close does.  If it is blocked, record the reason: too few
 * free GPUs, or free GPUs in the wrong places. */
void waits_close_request_class(struct sched *sched, uint32_t id, uint8_t closed);

/* The rejection of the job that is not yet issued; NULL: none. */
const struct refusal_note *waits_rejection(const struct sched *sched, job_id job);

#endif
