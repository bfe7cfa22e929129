/* policies/state/run_times.h -- run times of jobs, and the predictions of an estimate policy that learns from them
 * (policies/estimate).
 *
 * Part of the scheduler's inside.  Kept only where the policy learns and some policy plans in time.
 *
 * Words.  A run is a job from the confirmation of its START to its end, over all its attempts, counted by the work that
 * is kept.  An attempt that was evicted, or failed and is tried again, counts as far as its work was saved: all of it
 * if the world says so, else up to the reported checkpoint, else by the interval that the job declares.  Growing and
 * shrinking do not interrupt a run.
 * Every end counts, whether the job completed, failed, was cancelled or killed at its limit: plans are about space, and
 * each of these runs held its space that long.  A job that never ran does not count.
 * The first of these that is known counts: the user's runs of the same request class; all runs of the user; the job's
 * own limit or estimate; all users' runs of the same request class; all runs.  A job without a user has only the last
 * three.
 *
 * Laws
 *  - A job's estimate is made once: when it first waits for its turn (not held, its dependencies over, its array's
 *    limit not reached), or when it is adopted.  It stays until the job has ended, because a planned start has a length
 *    and the order of plans must not change while the job waits.  So only jobs that ended before count.
 *  - Each attempt is planned with the whole estimate.  The world decides where a job resumes, and so how much of it is
 *    left.
 *
 * An observer (policies/state/observer.h).  Each event costs O(1).
 */
#ifndef POLICIES_STATE_RUN_TIMES_H
#define POLICIES_STATE_RUN_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct run {          /* of a job alive */
    time_ns estimate; /* the estimate in use; 0: not made yet; TIME_NEVER: unknown */
    time_ns since;    /* START of the attempt confirmed; TIME_NEVER: it does not run */
    time_ns kept;     /* run time kept from earlier attempts */
};

struct run_teacher {              /* the runs that a state learns from */
    uint32_t user, request_class; /* request class: RUN_ANY_REQUEST_CLASS for all of them */
};
#define RUN_ANY_REQUEST_CLASS UINT32_MAX
#define RUN_EVERYBODY         UINT32_MAX /* as user: all users; NAMES_NONE means no user */

struct run_times {
    bool is_used;
    struct run *runs; /* by slot */
    size_t run_capacity;
    struct run_teacher *teachers; /* in the order they came */
    size_t teacher_capacity;
    uint32_t teacher_count;
    uint64_t *states; /* of each teacher in turn, `state_words` each */
    size_t state_capacity, state_words;
    uint32_t *slots; /* hash table: index of a teacher + 1; 0: empty */
    size_t slot_count;
};

#endif
