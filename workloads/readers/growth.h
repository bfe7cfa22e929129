/* workloads/readers/growth.h -- the jobs of some queues multiplied by a factor.
 *
 *   "growth": {"queues": {"research": 1.5, "batch-*": 0.5}, "jitter_s": "30m"}
 *
 * A job of a queue with the factor f comes floor(f + u) times, where u is uniform in 0..1 and drawn for each job: on
 * average f times.  The first is the job itself, at its own time; it is left out if the number is 0.  The others are
 * copies: each is submitted later than the job, by a time that is uniform in 0..jitter_s, but before the end of the
 * window; its deadline moves with it.  One rule holds for the name of a queue (name_rules.h); jobs of
 * other queues come once.
 *
 *   factor 1.5, u 0.7: the job 17 at 1000 s and the copy 17#2 at, say, 1730 s
 *
 * Laws
 *  - What becomes of a job depends on the seed, its id, its queue and its times alone.
 *  - The jobs of a factor are among those of a larger factor.
 *  - A copy has the queue, user, request, run time, outcome and dependencies of its job; it is in no array, and has no
 *    recorded wait.
 */
#ifndef WORKLOADS_READERS_GROWTH_H
#define WORKLOADS_READERS_GROWTH_H

#include "base/mem.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"
#include "workloads/readers/name_rules.h"

enum { GROWTH_FACTOR_MAX = 1000 };
#define GROWTH_JITTER_DEFAULT (1800 * TIME_NS_PER_S) /* assumed */

struct growth_plan {
    struct name_rules queues; /* to factors; no rule: there is no growth */
    time_ns jitter;
};

/* How often the job comes.  queue: its name. */
uint32_t growth_count(const struct growth_plan *plan, const struct job *job, const char *queue, uint64_t seed);

/* Make the job its copy number `copy`, from 2.  before: the time before which it is submitted, above that of the job,
 * or TIME_NEVER.  What the copy points to is its own, in the arena, where the source may write to it. */
void growth_copy(const struct growth_plan *plan, struct job *job, struct job_truth *truth, uint32_t copy,
                 time_ns before, uint64_t seed, struct arena *arena);

#endif
