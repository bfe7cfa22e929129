/* workloads/fit/fit.h -- a model (workloads/load_model/load_model.h) that looks like a trace.
 *
 * What is fitted, for all jobs or for those of each queue:
 *
 *   arrivals   a trace of FIT_DAYS_MIN days or more: a factor for each day of it, and for each hour of the day, or
 *              (has_no_days) for each hour of the week; a shorter one: hours of the day alone.  Gaps: the empirical
 *              distribution of the times between submissions, in the time that these factors make even
 *   kinds      size (GPUs, nodes) x outcome, with the empirical distribution of run times; a kind of fewer than
 *              FIT_KIND_MIN jobs has that of the nearest size with the same outcome
 *   memory     repeat: by how much more often than by chance a job is of the kind before; strength and jobs: the
 *              autocorrelations of the run times' normal scores within their kinds, by least squares; the same of gaps
 *   users      their number, and the exponent of Zipf's law by maximum likelihood
 *   request    share of jobs with a limit, and the empirical distribution of limit / run time
 *
 * Laws: the model's share of each kind, and the number of jobs of the trace, are exact; means and medians are those of
 * the trace up to the points of the empirical distributions (distribution_of_values).  Dates count from their Monday.
 *
 *   struct fit_jobs jobs;
 *   TRY(fit_read(&jobs, source));
 *   const struct load_model *model = fit_model(&jobs, &plan, &arena);
 *   fit_release(&jobs);
 *
 * It does not: keep who submits what together, GPU types, priorities, dependencies.  Memory: 64 bytes a job.
 */
#ifndef WORKLOADS_FIT_FIT_H
#define WORKLOADS_FIT_FIT_H

#include "workloads/load_model/load_model.h"
#include "workloads/readers/source.h"

enum { FIT_DAYS_MIN = 14, FIT_KIND_MIN = 30, FIT_QUEUE_MIN = 200 };

struct fit_job {
    double submit_s;            /* since the Monday, 00:00, before the first submission */
    double run_time_s, limit_s; /* limit_s 0: none */
    uint32_t gpu_milli;         /* of all members */
    uint32_t nodes;             /* members */
    uint32_t queue, user;       /* user: NAMES_NONE: unknown */
    uint32_t kind;              /* used by the fit */
    uint8_t outcome;
};

struct fit_jobs {
    struct fit_job *jobs; /* in the order of submission; owned */
    size_t count, capacity;
    const struct queue_table *queues; /* borrowed from the source */
};

struct fit_plan {
    bool by_queue;
    bool has_no_days; /* the days of a long trace are taken for equal */
    time_ns run;      /* of days, as in load_arrivals.h; TIME_NEVER: as recorded */
    uint32_t points;  /* of the distribution of a kind, at most; 0: FIT_POINTS_DEFAULT */
};
enum { FIT_POINTS_DEFAULT = 300 };

/* Read the source to its end, which must outlive *jobs.  On error nothing needs to be released. */
struct error fit_read(struct fit_jobs *jobs, struct job_source *source) MUST_CHECK;
void fit_release(struct fit_jobs *jobs);

/* jobs: at least two, not all at one time (else NULL).  O(n log n). */
const struct load_model *fit_model(struct fit_jobs *jobs, const struct fit_plan *plan, struct arena *arena);

#endif
