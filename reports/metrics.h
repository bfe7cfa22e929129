/* reports/metrics.h -- the metrics of a run, from its rows.
 *
 * Law: the same rows give the same metrics, whether they come from the run or from its files; sums are
 * kept as integers where the rows are integers.  A job still waiting at the end counts in every wait percentile
 * with the wait it has so far (censored), never left out; a rejected one counts in jobs_rejected only.
 * Percentiles are exact, nearest rank: the ceil(p n)-th smallest.
 * Only rows with is_counted and integrals after the warm-up enter.  16 bytes a job that waited, 32 while finishing.
 *
 * What each says.  "The window" is from the warm-up's end (between two samples: on the straight line) to the last sample;
 * "the jobs" are those counted and not rejected.
 *   allocation_ratio, sm_active_ratio (not defined if some job's activity is not known), idle_reserved_ratio,
 *   down_ratio: of all GPU time of the cluster in the window.  Allocated: to jobs that run; reserved: held for jobs
 *                            whose other space is being freed, and by gangs below their minimum, which idle
 *   idle_reserved_gpu_h      the reserved; partial_gang_gpu_h: the part of it held by gangs below their minimum
 *   queue_time_*_s           eligible to first start
 *   admission_p99_s          submission to first start; of the whole run: inference jobs only; in a cut: all its jobs
 *   asked_gpu_h              sum(GPUs x reference work asked): the demand.  GPUs of all members: work counts on those
 *   allocated_gpu_h          sum over attempts of (GPUs held x run time)
 *   goodput_ratio            sum(GPUs x work kept) / allocated
 *   preemptions              jobs evicted, or cut below their minimum, each time
 *   lost_gpu_h               GPU time of work thrown away, of checkpoints made to leave, and of restarts
 *   lost_by_preemption_gpu_h the part of it owed to evictions for the sake of other jobs (preemption, reclaim,
 *                            consolidation, headroom); the rest: stale gangs, nodes that went down
 *   lost_per_eviction_s      lost_gpu_h / preemptions, in GPU seconds
 *   evictions_wasted         evictions decided for a job that had no use of them: its reservation was given up, or it
 *                            never started; counted where the gainer counts
 *   admissions_free, _headroom, _grace_0, _eviction   jobs that started, by what their space was: free; free because
 *                            kept for them; left by victims that needed no grace; left by victims (of a gang that
 *                            starts in parts: the last of these)
 *   jain_fairness            (sum x)^2 / (n sum x^2) over the n queues that asked for GPUs, x = allocated / asked GPU time
 *                            (Jain, Chiu, Hawe: DEC-TR-301, 1984)
 *   cost_usd                 price x all GPUs of the cluster x the time after warm-up, used or not
 *   cost_per_job_usd         cost_usd / jobs_completed
 *   slowdown_bounded_mean    over completed jobs, max(1, (all waits + run) / max(work, 10 s))
 *                            (Feitelson, JSSPP 2001)
 *   makespan_s               first submission to last end
 *   queue_length_mean        pending jobs, over the window
 *   gang_link_gb_per_s_mean, _p10   of each GPU over the narrowest link of its gang (topologies/links.h), by GPU time of the
 *                            attempts with more than one GPU in all, warm-up included; a tenth of that time has the p10
 *                            or less.  gang_link_{tier}_ratio: the part of that time whose farthest tier it is
 *   wait_{reason}_job_h      time that the jobs waited for that reason (sched_why of policies/sched.h), all their waits
 *                            from the submission on together; not defined if none did, or the run did not keep it
 *   little_error_ratio       |L - lambda W| / L over the whole run, warm-up included: L T is the integral of pending
 *                            jobs, lambda W T the sum of all waits; 1 if jobs waited and L is 0
 *
 *   struct metrics *metrics = metrics_new();
 *   struct record_sink sink = metrics_sink(metrics);
 *   ... rows ...
 *   metrics_finish(metrics);
 *   double p99 = metrics_value(metrics, "queue_time_p99_s");
 */
#ifndef REPORTS_METRICS_H
#define REPORTS_METRICS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "sim/record.h"

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

struct metric {
    const char *name; /* "queue_time_p95_s" */
    double value;     /* NAN: not defined for this run (e.g. no job started); left out of outputs */
    const char *unit; /* "s", "ratio", "jobs", "gpu_h", "usd" */
    enum better better;
};

struct metrics; /* opaque */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
struct record_sink metrics_sink(struct metrics *metrics);

/* Compute everything; once, after on_finished. */
void metrics_finish(struct metrics *metrics);

/* All metrics of the whole run, in a fixed order; those of a cut are its last ones, from queue_time_p50_s on. */
const struct metric *metrics_all(const struct metrics *metrics, size_t *count);
double metrics_value(const struct metrics *metrics, const char *name); /* NAN if there is none */

/* "wait_resources_job_h" of REASON_RESOURCES; NULL of a reason that nobody waits for. */
const char *metrics_wait_name(enum reason reason);

/* A cut: "class", "queue", "size" (GPUs asked, in powers of two: "0", "<1", "1", "2", "3-4", "5-8", ...),
 * "gpu_model".  Keys in a fixed order.  NULL past the end. */
extern const char *const metrics_cut_names[]; /* NULL-terminated */
const char *metrics_cut_key(const struct metrics *metrics, const char *cut, size_t index);
const struct metric *metrics_cut(const struct metrics *metrics, const char *cut, size_t index,
                                 size_t *count);

/* The state of a cluster that is being filled, by percent of its GPUs asked; element i is of i + 1 percent.  None of
 * another workload.  In result.json by.arrived_pct, a group of metrics of these values per percent. */
const struct arrived_row *metrics_arrived(const struct metrics *metrics, size_t *count);

#define METRICS_ARRIVED "arrived_pct"

/* "metrics": {...}, "by": {...} as they stand in result.json (without the outer braces). */
void metrics_write_json(const struct metrics *metrics, struct buffer *out);

/* Counted jobs that were rejected for this reason. */
uint64_t metrics_rejected(const struct metrics *metrics, enum reason reason);

/* Points of the run's curves for plots: the samples, thinned to at most METRICS_SAMPLES_MAX by keeping every
 * k-th and the last, and the waits as a cumulative distribution of at most `max` (>= 2) points: ratio[i] of the
 * jobs waited wait_s[i] or less. */
enum { METRICS_SAMPLES_MAX = 2000 };
const struct timeline_row *metrics_samples(const struct metrics *metrics, size_t *count);
size_t metrics_wait_cdf(const struct metrics *metrics, int class /* -1: all */, double *wait_s,
                        double *ratio, size_t max);
time_ns metrics_until(const struct run_facts *facts); /* where the window of GPU time ends */
const struct run_facts *metrics_facts(const struct metrics *metrics);

#endif
