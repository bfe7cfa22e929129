/* workloads/readers/fill.h -- jobs of a trace in a random order, until they have requested more than the cluster
 * holds.
 *
 * This is the workload of packing experiments: jobs come and none ends, and the question is how full the cluster gets
 * (Weng et al., "Beware of Fragmentation", USENIX ATC 2023).  Only the requests of the jobs are from the trace.
 *
 * Law: first the jobs of the trace are submitted, each once, in an order drawn with the seed (all orders are equally
 * likely); then jobs drawn from the trace with replacement.  The first comes at 0, each other one `interval` after the
 * one before.  The last is the job with which all jobs together ask for at least `load` x the GPUs of the cluster, with
 * shares and pieces as their part (job_asked_milli); that may be before the end of the trace.  Each job, if it starts
 * at once, runs until `interval` after the last submission, and completes.  It has no limit, estimate, deadline,
 * dependency or array, because these depend on the trace's times.
 *
 *   Two GPUs, a trace of the jobs A (1 GPU), B (half a GPU) and C (no GPU), load 1.5, interval 1 s: A, B, C in some
 *   order, which ask 1.5 GPUs; then draws until they ask 3 GPUs or more, such as
 *
 *     at   0 s   1 s   2 s   3 s   4 s   5 s   6 s
 *     job  C     A     B     B     C     B     B        asked 1 + 4 x 0.5 = 3 GPUs; all end at 7 s
 *
 * One random stream draws the order ("fill_order"), another one the jobs after it ("fill_draw").
 *
 * It does not: read the trace; the jobs are held (workloads/readers/held.h) while it is used.
 */
#ifndef WORKLOADS_READERS_FILL_H
#define WORKLOADS_READERS_FILL_H

#include "base/error.h"
#include "topologies/cluster.h"
#include "workloads/readers/held.h"

#define FILL_INTERVAL_DEFAULT TIME_NS_PER_S

struct fill_plan {
    double load;      /* > 0: GPUs that all jobs together ask for / GPUs of the cluster; 0: no filling */
    time_ns interval; /* > 0 */
};

struct fill {
    const struct held *held; /* borrowed */
    uint32_t *order;         /* indices of held jobs, in the order in which they are submitted */
    size_t count, capacity, next;
    time_ns interval;
};

/* Draw the order.  fill: zeroed; must be released on error too.  trace: its name, for messages.  4 bytes a job.
 * ERROR_DATA: the cluster has no GPUs, the held jobs ask for none, or there would be more jobs than a run can have. */
struct error fill_begin(struct fill *fill, const struct held *held, const struct cluster *cluster,
                        const struct fill_plan *plan, const char *trace, uint64_t seed) MUST_CHECK;

/* The next job, without its id; false at the end.  What it points to belongs to `held`. */
bool fill_next(struct fill *fill, struct job *job, struct job_truth *truth);
void fill_rewind(struct fill *fill); /* the first job comes next again */
void fill_release(struct fill *fill);

#endif
