/* workloads/readers/survey.h -- a summary of a stream of jobs: number, sizes, durations, load.
 *
 *   struct survey survey;
 *   TRY(survey_read(&survey, source));     (reads the source to its end)
 *   survey_show(&survey, source, cluster, &out);     or survey_json
 *   survey_release(&survey);
 *
 * Memory: 32 bytes a job, for exact percentiles (nearest rank).
 */
#ifndef WORKLOADS_READERS_SURVEY_H
#define WORKLOADS_READERS_SURVEY_H

#include "base/buffer.h"
#include "workloads/readers/source.h"

struct survey_series { /* one number per job */
    double *values;
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
    time_ns last_submit;
};

/* On error nothing needs to be released. */
struct error survey_read(struct survey *survey, struct job_source *source) MUST_CHECK;

/* As above; calls `seen` for each job (NULL: no call). */
struct error survey_read_with(struct survey *survey, struct job_source *source, job_source_seen_fn *seen,
                              void *self) MUST_CHECK;
void survey_release(struct survey *survey);

/* Append a text for readers, or JSON; sorts the series.  cluster: for the load. */
void survey_show(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);
void survey_json(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);

#endif
