/* workloads/readers/survey.h -- a summary of a stream of jobs: number, sizes, durations, load.
 *
 *   struct survey survey = {0};
 *   offered_begin(&survey.offered, OFFERED_STREAM, cluster, TIME_NEVER);
 *   TRY(survey_read(&survey, source));     (reads the source to its end)
 *   survey_show(&survey, source, &out);    or survey_json
 *   survey_release(&survey);
 *
 * Of a trace as it is, sorted or not, one reading in the order of the file is enough:
 *
 *   struct survey survey = {0};                (with `offered`, as above)
 *   spec.scan = survey_listener(&survey);
 *   spec.is_scanned = true;
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   survey_complete(&survey, job_source_facts(source));
 *
 * Laws
 *  - Both ways give the same survey: sums are of integers, and the times between submissions are found after sorting.
 *  - Quantiles are exact (nearest rank).
 *  - The load is the offered load (workloads/offered_load.h), as of a run.
 *
 * Memory: 8 bytes for each number of a job, which are 24 a job, 32 where waits are recorded.
 */
#ifndef WORKLOADS_READERS_SURVEY_H
#define WORKLOADS_READERS_SURVEY_H

#include "base/buffer.h"
#include "workloads/readers/source.h"

__extension__ typedef __int128 survey_sum;

struct survey_series { /* one number per job */
    int64_t *values;   /* in any order */
    size_t capacity, count;
    survey_sum sum;
};

/* Sum of a series, in units of which each has `scale`. */
double survey_total(const struct survey_series *series, int64_t scale);

/* The value of this percentile by nearest rank, of a series that is not empty; changes the order in it.  O(n). */
int64_t survey_quantile(struct survey_series *series, int percent);

enum { SURVEY_COMMUNICATIONS_MAX = 33 }; /* plan, own and what topologies/communication.h names */

struct survey {
    struct offered_counts offered; /* begun by the caller */
    /* Called for each job that is read; NULL: none. */
    void (*on_job)(void *self, const struct job *job, const struct job_truth *truth);
    void *self;
    struct survey_series duration_ns, gpus_milli;
    struct survey_series gap_ns;  /* between submissions; until the survey is complete, the submissions */
    struct survey_series wait_ns; /* recorded, of the jobs with one */
    struct {
        const char *name; /* communication_name */
        uint64_t jobs;
    } communications[SURVEY_COMMUNICATIONS_MAX]; /* in the order of the first job with each */
    uint32_t communication_count;
    uint64_t by_class[JOB_CLASS_COUNT];
    uint64_t by_outcome[OUTCOME_COUNT];
    uint64_t jobs, shares, gangs, no_gpu;
    int64_t gpu_milli_max; /* of one job */
    time_ns last_submit;   /* of the stream; before the survey is complete, in the time of what was heard */
    bool has_disorder;     /* a job was submitted before the one before */
};

/* survey: {0} but for `offered` and `on_job`.  On error nothing needs to be released. */
struct error survey_read(struct survey *survey, struct job_source *source) MUST_CHECK;

/* survey: {0} but for `offered`, which may be begun until the source is opened; must be released, also if the source
 * cannot be opened. */
struct scan_listener survey_listener(struct survey *survey);

/* Complete a survey whose listener heard a whole trace.  facts: of its source.  O(n log n) if it is not sorted. */
void survey_complete(struct survey *survey, const struct workload_facts *facts);
void survey_release(struct survey *survey);

/* Append a text for readers, or JSON; changes the order in the series.  All GPUs count as in service. */
void survey_show(struct survey *survey, struct job_source *source, struct buffer *out);
void survey_json(struct survey *survey, struct job_source *source, struct buffer *out);

#endif
