/* workloads/readers/source.h -- jobs as a stream in the order of submission, wherever they come from.
 *
 * A source is a trace reader or a synthesizer, wrapped by transformations (sorting, window,
 * load, filling).  Its consumer sees one job at a time and needs no memory for the rest.
 *
 * Law: submit times never decrease and start at 0 or later; ids are 0, 1, 2, ...; what `job` points
 * to is borrowed until the next call; the same spec and seed give the same stream.
 *
 *   struct job_source *source;
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   TRY(job_source_next(source, &job, &truth, &has));
 */
#ifndef WORKLOADS_READERS_SOURCE_H
#define WORKLOADS_READERS_SOURCE_H

#include "base/error.h"
#include "base/json.h"
#include "base/names.h"
#include "topologies/cluster.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"
#include "workloads/readers/fill.h"

struct synth_spec; /* workloads/synth/synth.h */

/* The "workload" of a scenario.  Built by workload_read or by hand ({0} with trace and format is fine). */
struct workload_spec {
    const char *trace;              /* path; NULL: synth.  Relative to where the scenario stands. */
    const char *format;             /* one of trace_format_names; NULL: guessed from the header, else an error */
    struct synth_spec *synth;       /* NULL: trace */
    double load;                    /* 0: as recorded; else offered GPU load to scale arrivals to */
    double gpu_h_per_day;           /* 0: as recorded; else GPU hours a day to scale arrivals to; not with load */
    uint32_t load_gpus;             /* the GPUs that loads are shares of; 0: those of the cluster that runs */
    time_ns window_from, window_to; /* in the trace's own time (dates: since 1970); both 0: everything */
    double duration_scale;          /* 1: as recorded */
    double processors_per_gpu;      /* SWF: default 1 */
    uint16_t gpus_per_node;         /* how node-less requests are shaped; default 8; 0: flat */
    uint64_t bad_lines_max;         /* unreadable lines to skip at most; default 0: the first is an error */
    time_ns tz_offset;              /* of zone-less dates, to be subtracted; default 0 (UTC) */
    time_ns default_duration;       /* of jobs in a trace that holds no times at all; 0: such a trace is an error */
    /* load 0: jobs come when the trace says; else workloads/readers/fill.h, without load, window and scale */
    struct fill_plan fill;
    struct arena arena; /* owns the strings */
};

#define LOAD_OF_CLUSTER "cluster" /* in place of a number: loads are of the cluster that runs */

/* Read the object.  base: folder that relative paths count from.  Fails through the sticky error. */
void workload_read(struct workload_spec *spec, const struct json_value *value, const char *base);
void workload_release(struct workload_spec *spec);

extern const char *const trace_format_names[]; /* "native", "batsim", "jsonl", "philly", "openb", "swf", NULL */

/* What was found while opening and reading; complete when the stream has ended. */
struct workload_facts {
    uint64_t job_count;
    uint64_t bad_line_count;
    uint64_t skipped_count;            /* jobs of the trace that never ran, e.g. SWF run time -1 */
    time_ns first_submit, last_submit; /* in the trace's own time, before scaling */
    double gpu_s;                      /* sum of duration x GPUs asked, after duration_scale */
    double load_recorded;              /* gpu_s / (span x cluster GPUs); 0 if the span is 0 */
    double arrival_factor;             /* what arrival gaps were multiplied by; 1 if not scaled */
    uint32_t load_gpus;                /* the GPUs that loads are shares of; 0: no load is a share */
    double gpu_h_per_day;              /* GPU hours that the jobs ask a day, after scaling; of synth the mean that is
                                          aimed at; 0: not known, or the jobs fill the cluster */
    bool is_filling;                   /* of the jobs that fill the cluster, which end together */
    char digest[33];                   /* of the trace file; "" for synth */
    const char *format;
};

struct job_source;

enum { WORKLOAD_CLASSES_MAX = 64 }; /* names of struct job_truth.workload_class */

/* Open.  The cluster gives model names and the capacity for `load`.  A trace that is not sorted, or that
 * must be scaled, is read once before (sorting holds it in memory: about 150 bytes a job). */
struct error job_source_open(struct job_source **out, const struct workload_spec *spec, const struct cluster *cluster,
                             uint64_t seed) MUST_CHECK;

/* The same with queues that are there already: jobs that name them belong to them, others are added.  The table is the
 * source's from now on, also after an error. */
struct error job_source_open_with(struct job_source **out, const struct workload_spec *spec,
                                  const struct cluster *cluster, uint64_t seed, struct queue_table *queues) MUST_CHECK;

/* Jobs made by the caller: `next` is called for each (its errors stop the stream), obeys the law above but for
 * ids, which are given here.  For tests and generators of one's own. */
typedef struct error job_source_next_fn(void *self, struct job *job, struct job_truth *truth, bool *has);
struct job_source *job_source_custom(job_source_next_fn *next, void *self);

/* The next job; *has false at the end.  job->queue is an id of job_source_queues, which may have grown. */
struct error job_source_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has) MUST_CHECK;

/* Show some of the jobs that will come, before the first of them does: of a trace the first 100,000 of its rows that
 * are in the window (of one that is held in memory all, in whatever order they come), of a synthesized workload its
 * first 4,000.  Changes nothing of the stream.  A custom source shows none. */
typedef void job_source_seen_fn(void *self, const struct job *job);
struct error job_source_preview(struct job_source *source, job_source_seen_fn *seen, void *self) MUST_CHECK;

struct queue_table *job_source_queues(struct job_source *source); /* owned by the source; the caller may fill
                                                                     in quotas before the first next */
const struct queue_table *job_source_queue_table(const struct job_source *source);
const struct names *job_source_users(const struct job_source *source);
const struct names *job_source_tags(const struct job_source *source);

/* The most jobs that a preview shows, where that is no rule of traces; 0. */
uint32_t job_source_preview_max(const struct job_source *source);

/* Keep the hash of the arrivals (workloads/readers/freeze.h) from now on, of each job that is given. */
void job_source_keep_arrivals(struct job_source *source);
uint64_t job_source_arrivals(const struct job_source *source);
const struct names *job_source_classes(const struct job_source *source); /* WORKLOAD_CLASSES_MAX at most */
const struct workload_facts *job_source_facts(const struct job_source *source);
void job_source_close(struct job_source *source); /* NULL is fine */

#endif
