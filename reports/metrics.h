/* reports/metrics.h -- the metrics of a run, from its rows.
 *
 * Law: the same rows give the same metrics, whether they come from the run or from its files; sums are kept as
 * integers where the rows are integers.  A job still waiting at the end counts in every wait percentile with the wait
 * it has so far (censored), never left out; a rejected one counts in jobs_rejected only. Percentiles are exact,
 * nearest rank: the ceil(p n)-th smallest.
 * Law: observing changes no metric: more rows of the timeline, checks, events, or a report made later.  The only
 * exceptions are sampled means, whose definitions begin with these words.  Test: tests/property/test_observing.c.
 * Only rows with is_counted and integrals after the warm-up enter.  16 bytes a job that waited, 32 while finishing.
 *
 * What each one is, is said in the table of reports/metric_table.c, which `windtunnel metrics` prints.  Its words:
 * "the window" is from the warm-up's end (between two samples: on the straight line) to the last sample; "the jobs"
 * are those counted and not rejected; GPUs are those of all members.
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
#include "base/error.h"
#include "sim/record/record.h"

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NEITHER };

struct metric {
    const char *name; /* "queue_time_p95_s" */
    double value;     /* NAN: not defined for this run (e.g. no job started); left out of outputs */
    const char *unit; /* "s", "ratio", "jobs", "gpu_h", "usd" */
    enum better better;
    const char *definition; /* in words: what it measures, in which window, and when it is not defined */
};

struct metrics; /* opaque */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
struct record_sink metrics_sink(struct metrics *metrics);

/* The prices of GPU hours, for what the jobs of a queue, a class or another cut cost; before the first row.  A GPU
 * model whose pools have several prices has their mean over its GPUs.  If a pool has no price, nothing has a cost. */
void metrics_set_prices(struct metrics *metrics, const struct record_pool *pools, uint32_t count);

/* Compute all metrics.  Call it once, after on_finished. */
void metrics_finish(struct metrics *metrics);

/* All metrics of the whole run, in a fixed order.  Cuts have those from queue_time_p50_s on. */
const struct metric *metrics_all(const struct metrics *metrics, size_t *count);
double metrics_value(const struct metrics *metrics, const char *name); /* NAN if there is none */

/* What a metric is, from the table: its value is NAN.  NULL: there is no such metric. */
const struct metric *metric_find(const char *name);

/* Describe metrics, from the table that also names them in result.json: name, unit, which direction is better, the cuts
 * that have it, its definition; as text or JSON.  name NULL: all; ERROR_USAGE if the name is not known. */
struct error metrics_explain(const char *name, bool is_json, struct buffer *out) MUST_CHECK;

/* "wait_resources_job_h" for REASON_RESOURCES; NULL for a reason for which jobs do not wait. */
const char *metrics_wait_name(enum reason reason);

/* The name of the metric at this index of that table; NULL past the end. */
const char *metrics_name_at(size_t index);

/* A cut: "class" (training, interactive, inference), "workload_class" (the workload's own classes, such as "small
 * training"; a job without one has its class), "class_size" ("small training/5-8": workload class and size), "tenant"
 * (the queue of the highest level with several queues that the job's queue lies under, or is: metric_tenants.c; none
 * if the tree is not known), "queue" (the job's), "size" (GPUs asked for, in powers of two: "0", "<1", "1", "2", "3-4",
 * "5-8", ...), "gpu_model" (of the last attempt; if the job never started, the only model that it can get, or "any").
 * Keys have a fixed order.  NULL past the end. */
extern const char *const metrics_cut_names[]; /* NULL-terminated */
const char *metrics_cut_key(const struct metrics *metrics, const char *cut, size_t index);
const struct metric *metrics_cut(const struct metrics *metrics, const char *cut, size_t index, size_t *count);

/* The state of a cluster that is being filled, a group of metrics per percent of its GPUs that jobs asked for, in
 * result.json alone.  Other workloads have none. */
#define METRICS_ARRIVED "arrived_pct"

/* The parts of the offered load by GPU model (workloads/offered_load.h); RECORD_ANY: of jobs that several models would
 * do for, of all GPUs.  0: the cluster has one model.  In result.json: by.gpu_model_asked. */
struct model_load {
    const char *name;
    uint64_t gpus;
    double asked_gpu_h, ratio; /* NAN: there is no load */
};
enum { METRICS_MODEL_LOADS_MAX = OFFERED_PARTS_MAX };
size_t metrics_model_loads(const struct metrics *metrics, struct model_load loads[METRICS_MODEL_LOADS_MAX]);

#define METRICS_MODELS_ASKED "gpu_model_asked"

/* "metrics": {...}, "by": {...} as in result.json, without the outer braces. */
void metrics_write_json(const struct metrics *metrics, struct buffer *out);

/* GPU time that jobs ask which never fit, those of the warm-up included. */
double metrics_never_fit_gpu_s(const struct metrics *metrics);

/* Counted jobs that were rejected for this reason. */
uint64_t metrics_rejected(const struct metrics *metrics, enum reason reason);

/* GPUs that jobs held by the record of the trace: the mean from one time to a later one; 0 without such a record.
 * Exact from hour to hour; within one the mean of the hour holds. */
double metrics_recorded_gpus(const struct metrics *metrics, time_ns from, time_ns to);

/* Points for plots: the samples, thinned to at most METRICS_SAMPLES_MAX by keeping every k-th and the last; and the
 * waits as a cumulative distribution of at most `max` (>= 2) points: the part ratio[i] of the jobs waited at most
 * wait_s[i]. */
enum { METRICS_SAMPLES_MAX = 2000 };
const struct timeline_row *metrics_samples(const struct metrics *metrics, size_t *count);
size_t metrics_wait_cdf(const struct metrics *metrics, int class /* -1: all */, double *wait_s, double *ratio,
                        size_t max);
time_ns metrics_until(const struct run_facts *facts); /* end of the window of GPU time */
const struct run_facts *metrics_facts(const struct metrics *metrics);
/* Of the window of GPU time: GPU seconds in service, and the mean of GPUs.  That is all of the cluster but for nodes
 * out of service (world.capacity). */
double metrics_gpu_s(const struct metrics *metrics);
double metrics_gpus(const struct metrics *metrics);

#endif
