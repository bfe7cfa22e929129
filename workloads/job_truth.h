/* workloads/job_truth.h -- the true run time and outcome of a job; only the simulator may read them. */
#ifndef WORKLOADS_JOB_TRUTH_H
#define WORKLOADS_JOB_TRUTH_H

#include <stdint.h>

#include "base/time.h"

enum job_outcome { OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_CANCELLED, OUTCOME_COUNT };
extern const char *const job_outcome_names[]; /* "completed", "failed", "cancelled", NULL */

/* Attempts of a job that failed before its last: the reference work after which each did, at least one, each above 0.
 * Each begins without any work done.  Lives as long as the source of the jobs. */
struct job_failures {
    uint32_t count;
    time_ns work[];
};

#define SM_ACTIVE_UNKNOWN UINT16_MAX /* the trace does not give it */

struct job_truth {
    time_ns duration; /* reference work: run time on what it asks for, well placed and alone; >= 0 */
    time_ns
        recorded_wait; /* from its submission to its first start where the trace was recorded; TIME_NEVER: not known */
    const struct job_failures *failures; /* before `duration`, which is of its last attempt; NULL: none */
    /* Of a trace that is replayed in a closed loop (workloads/readers/user_loop.h) and tells what job its user waited
     * for: the number of that job + 1 (job.trace_id; 0: it tells none), and the time from its end to this submission
     * (negative: not known). */
    int64_t preceding;
    time_ns think;
    uint8_t outcome;        /* how it ends after that time */
    uint8_t workload_class; /* the workload's own name of the kind: id + 1 in job_source_classes; 0: its class alone */
    /* Mean SM activity of each of its GPUs if it had them whole and alone, 0..1000 (topologies/gpu_demand.h);
     * SM_ACTIVE_UNKNOWN. */
    uint16_t sm_active_milli;
    uint16_t
        bandwidth_milli;     /* mean part of a GPU's memory bandwidth that a member uses on a whole GPU; 0: not known */
    uint16_t would_do_milli; /* GPU share in milli, per GPU that it asks for, that would have sufficed, 1..1000 */
};

/* Reference work of all attempts. */
static inline time_ns job_truth_work(const struct job_truth *truth)
{
    time_ns work = truth->duration;
    for (uint32_t i = 0; truth->failures != NULL && i < truth->failures->count; i++)
        work = time_after(work, truth->failures->work[i]);
    return work;
}

#endif
