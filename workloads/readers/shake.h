/* workloads/readers/shake.h -- a trace with small random changes, so that its replay has seeds.
 *
 *   "shake": {"arrivals_s": "5m", "run_time_sigma": 0.1}
 *
 * Each job of the trace is submitted up to arrivals_s earlier or later, uniformly, but not before the trace begins and
 * not before a job that it depends on; its deadline moves with it.  Its run time is multiplied by a lognormal factor of
 * mean 1, so that the load stays what it is; a run time within its limit stays within it.  Attempts of the job that
 * failed before are multiplied by the same factor.
 *
 * How much another seed changes the metrics then tells how much they depend on accidents of the trace.
 *
 * Law: what happens to a job depends on the seed and on its place in the trace alone (if blocks of the trace are drawn:
 * on its place among the drawn jobs).
 */
#ifndef WORKLOADS_READERS_SHAKE_H
#define WORKLOADS_READERS_SHAKE_H

#include "base/mem.h"
#include "workloads/readers/held.h"

struct shake_plan {
    time_ns arrivals;      /* 0: arrivals are left as they are */
    double run_time_sigma; /* of the factor's logarithm; 0: so are run times */
};                         /* {0}: nothing is shaken */

static inline bool shake_is_on(const struct shake_plan *plan)
{
    return plan->arrivals != 0 || plan->run_time_sigma != 0;
}

/* Shake all jobs, which are in the trace's order; the caller sorts them again.
 * begin: no job is submitted before it.  arena: the new failures are made there. */
void shake_jobs(struct held *held, const struct shake_plan *plan, time_ns begin, uint64_t seed, struct arena *arena);

#endif
