/* workloads/readers/shake.h -- a trace with small random changes, so that its replay has seeds.
 *
 *   "shake": {"arrivals_s": "1m", "run_time_sigma": 0.01}
 *
 * One replay of a trace is one draw: in a busy cluster a job that comes a second later moves every queue after it.  How
 * much the metrics change between seeds tells how much of them is such an accident (D. Tsafrir, K. Ouaknine, D. G.
 * Feitelson, "Reducing Performance Evaluation Sensitivity and Variability by Input Shaking", MASCOTS 2007).
 *
 * Arrivals.  A job moves by u x room, where u is uniform in -1..1, and room is arrivals_s, or less near the begin of
 * the run: as far as the job is from it.  So no job comes before the begin, and none comes later on average.  Its
 * deadline moves with it.  Jobs that are joined by dependencies move together, by the u and the room of the one that
 * comes first.
 *
 * Run times.  The run time, the attempts that failed before, the limit and the estimate of a job are multiplied by one
 * lognormal factor of mean 1: a job within its limit keeps its part of the limit, and one that ran into its limit does
 * so again.
 *
 * A cluster that is filled (fill.h): jobs move as above, but not beyond the last submission either, and each ends when
 * it would have ended.  Run times are not multiplied: they say that no job ends before all have come.
 *
 * Laws
 *  - The mean of a job's move is 0, and that of its factor is 1.
 *  - What happens to a job depends on the seed, its times, and its place in the trace alone (if blocks of the trace are
 *    drawn: among the drawn jobs), and for a job with dependencies on those of the first job of its group.  So jobs
 *    that are held in memory and jobs that are streamed are shaken alike.
 *  - Jobs come in the order of submission; those of equal submission in the order in which they came before.  A job
 *    does not come before one that it depends on, if it did not do so before.
 *
 * Memory: the jobs of twice arrivals_s, some 150 bytes each, and 4 bytes for each job if one depends on another.  Cost:
 * O(log jobs in twice arrivals_s) a job.
 */
#ifndef WORKLOADS_READERS_SHAKE_H
#define WORKLOADS_READERS_SHAKE_H

#include "base/error.h"
#include "base/mem.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"

struct shake_plan {
    time_ns arrivals;      /* 0: arrivals are left as they are */
    double run_time_sigma; /* of the factor's logarithm; 0: so are run times */
};                         /* {0}: nothing is shaken */

static inline bool shake_is_on(const struct shake_plan *plan)
{
    return plan->arrivals != 0 || plan->run_time_sigma != 0;
}

/* A job before it is shaken. */
struct shake_job {
    struct job job; /* its dependencies name jobs by the order of submission */
    struct job_truth truth;
    uint64_t place; /* in the trace */
    uint64_t group; /* the place that moves it: its own, or that of one job of those joined with it */
    time_ns first;  /* the submission of the first of the group; its own if it is alone */
};

struct shake_from {
    void *self;
    /* The next job in the order of submission, from 0 on; what it points to is borrowed until the next call, but its
     * constraint on nodes, its communication and its failures until the end. */
    struct error (*next)(void *self, struct shake_job *out, bool *has);
    struct arena *kept;    /* the new failures are made there */
    bool has_dependencies; /* some job may have one */
    time_ns last;          /* of a cluster that is filled: its last submission; else TIME_NEVER */
};

struct shake; /* opaque */

/* from: copied; what it points to is borrowed. */
struct shake *shake_new(const struct shake_plan *plan, const struct shake_from *from, uint64_t seed);
void shake_free(struct shake *shake); /* NULL is allowed */

/* The next job; what it points to is borrowed until the next call.  *has false at the end. */
struct error shake_next(struct shake *shake, struct job *job, struct job_truth *truth, bool *has) MUST_CHECK;

/* Where the job that was given last stood in the order of submission before. */
uint64_t shake_order(const struct shake *shake);

#endif
