/* reports/long_run.h -- one long run without other seeds: means of its steady state, with intervals from batches.
 *
 * Queue times are those of queue_time_mean_s: of the jobs that count in the metrics, from eligible to first start, in
 * the order of submission.  A job that still waits at the end counts with its wait so far; rejected jobs do not count.
 * Of two runs of the same jobs the differences are taken job by job.
 * Allocation is a series of equal steps: of each the part of all GPU time that was allocated, from the first whole step
 * after the scenario's warm-up to the end of measured time.
 *
 * The warm-up of each series is found by MSER-5 and left out, and the interval is by batch means
 * (reports/statistics/series.h).  It comes in addition to the scenario's own, whose jobs do not count.
 *
 *   struct long_run run = {0};
 *   const struct record_sink sink = long_run_sink(&run);
 *   TRY(record_read(folder, &sink));
 *   struct steady mean = long_run_waits(&run.waits, LONG_RUN_ALL, 0.95);
 *   long_run_release(&run);                                     (on error too)
 *
 * Memory: 24 bytes a job, 16 a sample.
 */
#ifndef REPORTS_LONG_RUN_H
#define REPORTS_LONG_RUN_H

#include "base/buffer.h"
#include "reports/show.h"
#include "reports/statistics/series.h"
#include "sim/record/record.h"

enum job_wait_state {
    JOB_WAIT_NONE, /* there is no such job, or it does not count */
    JOB_WAIT_STARTED,
    JOB_WAIT_PENDING,
    JOB_WAIT_REJECTED,
};

struct job_wait {
    time_ns submit, wait;
    uint8_t state; /* enum job_wait_state */
    uint8_t class; /* enum job_class */
};

struct job_waits {
    struct job_wait *jobs; /* by id; owned */
    size_t count, capacity;
};

struct long_run {
    struct job_waits waits;
    struct long_run_sample {
        time_ns time;
        double allocated_gpu_s, absent_gpu_s; /* from the start of the run; absent: of GPUs out of service */
    } * samples;
    size_t sample_count, sample_capacity;
    time_ns warmup, until; /* of the scenario; the end of measured time */
    uint64_t gpu_count;
};

/* A sink that keeps the rows.  The hooks are independent of each other: one that is not needed may be set to NULL. */
struct record_sink long_run_sink(struct long_run *run);
void long_run_release(struct long_run *run);
void job_waits_release(struct job_waits *waits);

/* A series, in seconds or as a ratio. */
struct steady {
    size_t count;    /* values: jobs, or steps */
    size_t pending;  /* jobs among them that have not started (of two runs: on a side) */
    size_t left_out; /* jobs that count, but are rejected, or are only on one side */
    size_t unequal;  /* of two runs: jobs whose queue times differ */
    double mean_all; /* of all values; 0: there are none */
    time_ns from;    /* when the first value comes that is used: submission, or begin of the step */
    time_ns step;    /* of allocation; 0: of jobs */
    struct series_mean mean;
};

#define LONG_RUN_ALL (-1)

/* Seconds.  class: enum job_class, or LONG_RUN_ALL. */
struct steady long_run_waits(const struct job_waits *waits, int class, double level);

/* Seconds, b minus a.  Jobs are the same if they have the same id, so both must have the same arrivals. */
struct steady long_run_differences(const struct job_waits *a, const struct job_waits *b, int class, double level);

/* Ratio.  The step is the longest time between two samples. */
struct steady long_run_allocation(const struct long_run *run, double level);

/* Append why there is no interval; nothing and false if there is one. */
bool steady_write_reason(const struct steady *steady, struct buffer *out);

/* Append an object with all of it.  No interval: low and high are null, and "reason" says why. */
void steady_write_json(const struct steady *steady, struct buffer *out);

/* A row of a table of three columns: the name, the mean, its interval and what it is made of.  is_difference: of two
 * runs, with a mark.  And the notes below such a table: jobs that did not start or are left out. */
void steady_show(struct show *show, const char *name, const struct steady *steady, bool is_difference);
void steady_show_left(struct show *show, const struct steady *steady, const char *why);

/* The section of a report: queue time of all jobs and by class, and allocation; and as the member "steady" of an
 * object. */
void long_run_show(struct show *show, const struct long_run *run, double level);
void long_run_write_json(const struct long_run *run, double level, struct buffer *out);

#endif
