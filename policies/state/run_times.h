/* policies/state/run_times.h -- how long jobs ran, and what an estimate policy that learns makes of it
 * (policies/estimate).
 *
 * Part of the scheduler's inside.  Kept only where the policy learns and something plans in time; else nothing is
 * called, and a flag is looked at.
 *
 * Words.  A run is a job from the confirmation of its START to its end, over all its attempts, by what its user has of
 * it: an attempt that was evicted counts as far as its work was saved: all of it if the world says so, up to the
 * checkpoint that was told, or else by the interval that the job declares; so does one that failed and is tried again.
 * Growing and shrinking do not interrupt it.
 * Every end counts, whether it completed, failed, was cancelled or killed at its limit: space is planned with, and
 * each of them held it so long.  A job that never ran teaches nothing.
 * Whose runs are asked, until one knows: the user's of the same request class; all the user's; then what the job
 * declares counts; where it declares neither limit nor estimate, everybody's of the same request class, and
 * everybody's.  A job without a user has only the last three.
 *
 * Laws
 *  - A job's estimate is made once, when it first comes to wait for its turn (held by nobody, its dependencies over,
 *    its array's limit not reached) or is adopted, and stands until it is over: a promise holds a length, and an order
 *    of plans must not change under a job that waits.  So what jobs ended before that alone decides it.
 *  - An attempt is planned with all of that again: where a job resumes, and so what is left of it, is the world's
 *    business.
 *
 *   run_times_enroll(sched, slot);       submitted
 *   run_times_expect(sched, slot);       it comes to wait, each time
 *   run_times_started(sched, slot, now); run_times_interrupted(sched, slot, false, now); ...
 *   run_times_ended(sched, slot);        for good
 */
#ifndef POLICIES_STATE_RUN_TIMES_H
#define POLICIES_STATE_RUN_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct archive;
struct sched;

struct run {          /* of a job alive */
    time_ns estimate; /* the one that counts; 0: not made yet; TIME_NEVER: nobody knows */
    time_ns since;    /* when the attempt's START was confirmed; TIME_NEVER: it does not run */
    time_ns kept;     /* of earlier attempts */
};

struct run_teacher {              /* whose runs a state is of */
    uint32_t user, request_class; /* request class: RUN_ANY_REQUEST_CLASS for all of them */
};
#define RUN_ANY_REQUEST_CLASS UINT32_MAX
#define RUN_EVERYBODY         UINT32_MAX /* as user: NAMES_NONE is nobody's */

struct run_times {
    bool is_used;
    struct run *runs; /* by slot */
    size_t run_capacity;
    struct run_teacher *teachers; /* in the order they came */
    size_t teacher_capacity;
    uint32_t teacher_count;
    uint64_t *states; /* of each teacher in turn, `state_words` */
    size_t state_capacity, state_words;
    uint32_t *slots; /* hash table: index of a teacher + 1; 0: empty */
    size_t slot_count;
};

void run_times_init(struct sched *sched); /* by its policy */
void run_times_release(struct run_times *times);
void run_times_archive(struct archive *archive, struct sched *sched);

/* What follows is called only if run_times.is_used.  Each is O(1). */
void run_times_enroll(struct sched *sched, uint32_t slot);
void run_times_expect(struct sched *sched, uint32_t slot);
void run_times_started(struct sched *sched, uint32_t slot, time_ns at);
/* All it held is gone, and it will start again.  is_saved: with all its work. */
void run_times_interrupted(struct sched *sched, uint32_t slot, bool is_saved);
void run_times_ended(struct sched *sched, uint32_t slot);

#endif
