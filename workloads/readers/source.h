/* workloads/readers/source.h -- jobs as a stream in the order of submission, wherever they come from.
 *
 * A source takes jobs from a feed (feed.h: a trace with its transformations, a mix of classes, a model, a merge of
 * sources), as workload_spec.h says, applies what holds for jobs of any origin, and numbers them.  Its consumer sees
 * one job at a time and needs no memory for the rest.
 *
 * Law: recorded waits are told only if the workload has no more and no other work than the trace (workload_unrecorded);
 * a trace is read once, or twice with the same bytes; submit times never decrease and start at 0 or later; ids are
 * 0, 1, 2, ...; what `job` points to is borrowed until the next call, but job->communication as long as the source
 * lives; the same spec and seed give the same stream.
 *
 *   struct job_source *source;
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   TRY(job_source_next(source, &job, &truth, &has));
 */
#ifndef WORKLOADS_READERS_SOURCE_H
#define WORKLOADS_READERS_SOURCE_H

#include "base/error.h"
#include "base/names.h"
#include "topologies/cluster.h"
#include "workloads/job.h"
#include "workloads/job_fields.h"
#include "workloads/job_truth.h"
#include "workloads/offered_load.h"
#include "workloads/readers/reason_tally.h"
#include "workloads/readers/workload_spec.h"

/* Of a trace of requests. */
struct request_counts {
    uint64_t count, prompt_tokens, output_tokens;
};

/* Found while opening and reading; complete when the stream has ended. */
struct workload_facts {
    uint64_t job_count; /* of the blocks that are drawn */
    uint64_t bad_line_count;
    uint64_t guessed_hours;            /* rows with a date in an hour that comes twice, of which the first was taken */
    struct request_counts requests;    /* count 0: it is a trace of jobs */
    struct reason_tally unread;        /* what rows say and the reader does not keep: "jobs lose their GPU class" */
    bool has_ties;                     /* jobs of a trace may depend on each other */
    struct reason_tally skipped;       /* of rows that are no jobs or never ran, e.g. SWF run time -1 */
    time_ns first_submit, last_submit; /* in the trace's own time, before scaling */
    time_ns origin;                    /* of a trace: its own time that becomes 0 */
    /* Of a trace: what its jobs ask, after duration_scale and before a load is reached; of the blocks that are drawn.
     * Its times are those of the trace. */
    struct offered_load recorded;
    double arrival_factor;  /* factor of the gaps between arrivals; 1 if not scaled; made for the trace as recorded */
    double duration_factor; /* factor of run times by which a load is reached; 1 if not scaled so */
    uint32_t load_gpus;     /* the GPUs to which loads are relative; 0: no load is */
    /* GPU hours that the jobs ask for per day, after scaling; drawn jobs: the intended mean; 0: not known, the jobs
     * fill the cluster, or they are a batch */
    double gpu_h_per_day;
    const char *unrecorded;      /* workload_unrecorded */
    uint64_t dropped_wait_count; /* recorded waits that were left out because of it, so far; not those of parts */
    bool is_filling;             /* of jobs that fill the cluster, and that end together */
    /* What jobs follow, by job id, for as long as the source lives; NULL: the loop is open.  In a closed loop, what a
     * job points to lives as long. */
    const struct loop_link *loop;
    char digest[33];                /* of the trace file as it was read; "" for synth */
    const struct side_files *sides; /* what was read beside it; lives as long as the source */
    const char *format;
    uint64_t unnamed_count;   /* of these, jobs that name no queue although the scenario declares its queues */
    struct job_fields fields; /* that the jobs given so far set */
    /* Of the jobs given so far, those that declare what they exchange: themselves, and by row of the table; the rows
     * live as long as the source. */
    uint64_t declared_count;
    const uint64_t *declared_by_row;
    uint32_t declared_row_count; /* 0: there is no table */
};

struct job_source;

enum { WORKLOAD_CLASSES_MAX = 64 }; /* names of struct job_truth.workload_class */

/* Open the source.  The cluster gives GPU models, and the capacity for `load`.  A trace is read
 * once in advance, and a long one that is sorted is read again as a stream; a long one that is not sorted needs space
 * for a temporary file (workloads/readers/spill.h), and is read again only if its first HELD_MAX jobs are sorted. */
struct error job_source_open(struct job_source **out, const struct workload_spec *spec, const struct cluster *cluster,
                             uint64_t seed) MUST_CHECK;

/* As above with queues that exist already: jobs that name them belong to them, other queues are added.  The source owns
 * the table from then on, also after an error. */
struct error job_source_open_with(struct job_source **out, const struct workload_spec *spec,
                                  const struct cluster *cluster, uint64_t seed, struct queue_table *queues) MUST_CHECK;

/* Jobs made by the caller, for tests and other generators.  `next` is called for each job (an error ends the stream),
 * and obeys the law above, except for ids, which are assigned here. */
typedef struct error job_source_next_fn(void *self, struct job *job, struct job_truth *truth, bool *has);
struct job_source *job_source_custom(job_source_next_fn *next, void *self);

/* The next job; *has false at the end.  job->queue is an id of job_source_queues, which may have grown. */
struct error job_source_next(struct job_source *source, struct job *job, struct job_truth *truth, bool *has) MUST_CHECK;

/* Was a trace that is read twice the same both times?  If not all of its jobs were taken, this reads the rest of the
 * file, and no job can be taken afterwards.  A trace that changed is ERROR_DATA, here and from job_source_next. */
struct error job_source_check(struct job_source *source) MUST_CHECK;

/* Show some of the jobs before the first one is taken: of a trace those among its first 100,000 rows that are in the
 * window (all, in any order, if it is held in memory); of a synthesized workload or a model its first 4,000.  The
 * stream is unchanged.  A custom source shows none. */
typedef void job_source_seen_fn(void *self, const struct job *job, const struct job_truth *truth);
struct error job_source_preview(struct job_source *source, job_source_seen_fn *seen, void *self) MUST_CHECK;

/* Owned by the source; the caller may fill in quotas before the first job is taken. */
struct queue_table *job_source_queues(struct job_source *source);
const struct queue_table *job_source_queue_table(const struct job_source *source);
const struct names *job_source_users(const struct job_source *source);
const struct names *job_source_tags(const struct job_source *source);

/* The most jobs that a preview shows; 0: the rule for traces holds. */
uint32_t job_source_preview_max(const struct job_source *source);

/* From now on, hash the arrivals (workloads/readers/freeze.h): every job that is taken. */
void job_source_keep_arrivals(struct job_source *source);
uint64_t job_source_arrivals(const struct job_source *source);
const struct names *job_source_arrays(const struct job_source *source);  /* by number - 1; of a merge none */
const struct names *job_source_classes(const struct job_source *source); /* WORKLOAD_CLASSES_MAX at most */
/* What the jobs given so far exchange, and sizes of classes that may come; not what those of parts do. */
const struct communication_set *job_source_communications(const struct job_source *source);
const char *job_source_path(const struct job_source *source); /* of the trace; "workload" without one */
const struct workload_facts *job_source_facts(const struct job_source *source);

/* The load that the workload brings to that many GPUs, known when the source is open: of a trace the offered load of
 * its jobs before `blocks` and `shake`, as `load` sets it; of a mix, a model or a merge the intended mean.  So this is
 * the value of workload.load that changes nothing if load_gpus is `gpus`.  NAN: a batch, jobs that fill the cluster, or
 * jobs of the caller. */
double workload_load(const struct workload_facts *facts, uint32_t gpus);

/* How its jobs come: OFFERED_STREAM, OFFERED_CLOSED_LOOP or OFFERED_FILL; known when the source is open. */
enum offered_kind workload_arrivals(const struct workload_facts *facts);

/* Recorded waits that were left out so far, those of parts included.  O(parts). */
uint64_t job_source_dropped_waits(const struct job_source *source);

/* The source of a part of a merge; NULL: there is none. */
const struct job_source *job_source_part(const struct job_source *source, uint32_t part);
void job_source_close(struct job_source *source); /* NULL is allowed */

#endif
