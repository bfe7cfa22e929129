/* workloads/readers/survey.h -- a summary of a stream of jobs: number, sizes, durations, load.
 *
 *   struct survey survey;
 *   TRY(survey_read(&survey, source));     (reads the source to its end)
 *   survey_show(&survey, source, cluster, &out);     or survey_json
 *   survey_release(&survey);
 *
 * A trace that is sorted need not be read again for it:
 *
 *   struct survey survey = {0};
 *   spec.scan = survey_listener(&survey);
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   TRY(survey_complete(&survey, source));
 *
 * Quantiles are exact (nearest rank).  Memory: 8 bytes for each number of a job, which are 24 a job, 32 where waits are
 * recorded.
 */
#ifndef WORKLOADS_READERS_SURVEY_H
#define WORKLOADS_READERS_SURVEY_H

#include "base/buffer.h"
#include "workloads/readers/source.h"

struct survey_series { /* one number per job */
    double *values;    /* in any order */
    size_t capacity, count;
    double sum;
};

enum { SURVEY_COMMUNICATIONS_MAX = 33 }; /* plan, own and what topologies/communication.h names */

struct survey {
    struct survey_series duration_s, gpus, gap_s;
    struct survey_series wait_s; /* recorded, of the jobs with one */
    struct {
        const char *name; /* communication_name */
        uint64_t jobs;
    } communications[SURVEY_COMMUNICATIONS_MAX]; /* in the order of the first job with each */
    uint32_t communication_count;
    uint64_t by_class[JOB_CLASS_COUNT];
    uint64_t by_outcome[OUTCOME_COUNT];
    uint64_t jobs, shares, gangs, no_gpu;
    int64_t gpu_milli_max; /* of one job */
    double gpu_s;          /* sum of duration x GPUs asked */
    time_ns last_submit;   /* of the stream; while a listener hears, in the trace's own time */
    bool has_disorder;     /* the listener heard a job that was submitted before the one before; nothing else is kept */
};

/* On error nothing needs to be released. */
struct error survey_read(struct survey *survey, struct job_source *source) MUST_CHECK;

/* As above; calls `seen` for each job (NULL: no call). */
struct error survey_read_with(struct survey *survey, struct job_source *source, job_source_seen_fn *seen,
                              void *self) MUST_CHECK;

/* survey: {0}; must be released, also if the source cannot be opened. */
struct scan_listener survey_listener(struct survey *survey);

/* Complete a survey whose listener heard the first reading: reads the source only if its jobs are others or in another
 * order. */
struct error survey_complete(struct survey *survey, struct job_source *source) MUST_CHECK;
void survey_release(struct survey *survey);

/* Append a text for readers, or JSON; changes the order in the series.  cluster: for the load. */
void survey_show(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);
void survey_json(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);

#endif
