/* policies/state/waits.h -- what each job waits for, told whenever that changes; see policies/jobs/wait_clock.h.
 *
 * A job waits from its submission, and again from an eviction, until the START that gives it its minimum takes effect:
 * while the members that are there, those on their way out included, are fewer.  A wish for more than that is no wait.
 * Under which code: why it is held (Held, Dependency, JobArrayTaskLimit); Reserved while its space is promised;
 * Configuring while it starts; in a class queue WaitingForScheduling until the next cycle has ended, then what closed
 * its class queue, and Priority while nothing did.  What closed a request class is said as of the last try: see
 * waits_close_request_class.  Of the jobs that kept space holds up (Headroom, ReservedForOther) only those that it
 * would hold are told so: policies/allocate/kept_space.h. That is also what sched_why says.
 */
#ifndef POLICIES_STATE_WAITS_H
#define POLICIES_STATE_WAITS_H

#include "policies/gang/gang.h"
#include "policies/order/order.h"
#include "policies/state/sched_state.h"

void waits_release(struct sched *sched);

/* The span since the mark goes to the job's times; only if there is one. */
void waits_book(struct sched *sched, struct sched_job *job);

/* A job that the kept space would hold leaves this class queue. */
void waits_left_front(struct sched *sched, uint32_t class_queue);

static inline void waits_end(struct sched *sched, struct sched_job *job)
{
    if (job->wait.kind != WAIT_NOT && job->wait.since != sched->now)
        waits_book(sched, job);
    if (job->wait.kind == WAIT_FRONT)
        waits_left_front(sched, job->class_queue);
    job->wait.kind = WAIT_NOT;
}

/* It waits in its class queue, which says why: to those in front, or to the others. */
void waits_in_class_queue(struct sched *sched, uint32_t slot, bool is_front);

static inline void waits_under(struct sched *sched, struct sched_job *job, enum reason code)
{
    waits_end(sched, job);
    job->wait.since = sched->now;
    job->wait.kind = WAIT_CODE;
    job->wait.code = (uint8_t)code;
}

/* It waits in its class queue, and did not before. */
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

/* It goes out of its class queue; before it does.  Mostly because it starts; if not, it is reviewed. */
static inline void waits_leave(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct waits *waits = &sched->waits;
    if (waits->fresh_count > 0 && waits->fresh[waits->fresh_count - 1] == slot)
        waits->fresh_count--; /* the last to come is often the first to go */
    if (job->wait.kind != WAIT_NOT)
        waits_under(sched, job, REASON_CONFIGURING);
}

/* Its state, its holdings or its class queue have changed. */
void waits_review(struct sched *sched, uint32_t slot);

/* The same, where it has been settled: all that a plain job has runs; that it starts was told by waits_leave. */
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

/* The same, where what was to start has: often all of it. */
static inline void waits_started(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->holding_count == 1 && job->fill != FILL_BELOW)
        waits_end(sched, job);
    else
        waits_review(sched, slot);
}

void waits_see_fresh(struct sched *sched);

/* A cycle ends: the newcomers have been seen. */
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

/* What blocks a request class that does not fit, in the present trial state: too few GPUs are free, or they are in the
 * wrong places. */
enum clock_hand waits_blocked_by(struct sched *sched, const struct request_class *request_class);
/* Close the request class as request_class_close does; if it is blocked, say by what: as above, or by what
 * reservations hold, if it would fit without them. */
void waits_close_request_class(struct sched *sched, uint32_t id, uint8_t closed);

/* The rejection of the job that is still to be told; NULL. */
const struct refusal_note *waits_rejection(const struct sched *sched, job_id job);

/* Save or load (policies/util/archive.h); what is loaded into is empty, the jobs are known. */
void waits_archive_times(struct archive *archive, struct wait_times *times);
void waits_archive(struct archive *archive, struct sched *sched);

#endif
