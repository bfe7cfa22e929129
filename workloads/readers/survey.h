/* workloads/readers/survey.h -- a summary of a stream of jobs: number, sizes, durations, load.
 *
 *   struct survey survey;
 *   TRY(survey_read(&survey, source));     (reads the source to its end)
 *   survey_show(&survey, source, cluster, &out);     or survey_json
 *   survey_release(&survey);
 *
 * Of a trace as it is, sorted or not, one reading in the order of the file is enough:
 *
 *   struct survey survey = {0};
 *   spec.scan = survey_listener(&survey);
 *   spec.is_scanned = true;
 *   TRY(job_source_open(&source, &spec, cluster, seed));
 *   survey_complete(&survey, job_source_facts(source));
 *
 * Laws
 *  - Both ways give the same survey: sums are of integers, and the times between submissions are found after sorting.
 *  - Quantiles are exact (nearest rank).
 *  - The load is that of a run: what the jobs of a window ask, without those that do not fit, / the GPU time of the
 *    window (metric offered_load_ratio), and so is the load by GPU model.  Test: tests/cli/model_load.sh.  It once
 *    caught that `validate` and `run` told two loads of the same jobs.
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

/* Mean of a series that is not empty, in units of which each has `scale`. */
double survey_mean(const struct survey_series *series, int64_t scale);
double survey_total(const struct survey_series *series, int64_t scale);

/* The value of this percentile by nearest rank, of a series that is not empty; changes the order in it.  O(n). */
int64_t survey_quantile(struct survey_series *series, int percent);

/* Which jobs make the load, and of what. */
struct survey_asks {
    const struct cluster *cluster; /* NULL: there is no load */
    time_ns from, until;           /* jobs submitted from `from` up to `until`; TIME_NEVER: up to the last one */
    bool (*fits)(void *self, const struct job *job); /* called for each job that is read; NULL: all fit */
    void *self;
};

struct survey_load {   /* of the jobs that ask for a GPU model and can get no other */
    const char *model; /* NULL: of jobs that several models would do for, of all GPUs */
    uint32_t gpus;
    double ratio;
};

enum {
    SURVEY_LOADS_MAX = CLUSTER_MODELS_MAX + 1,
    SURVEY_COMMUNICATIONS_MAX = 33
}; /* plan, own and what topologies/communication.h names */

struct survey {
    struct survey_asks asks;
    survey_sum asked_milli_ns[SURVEY_LOADS_MAX]; /* by model; the last: several models would do */
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

/* On error nothing needs to be released. */
struct error survey_read(struct survey *survey, struct job_source *source) MUST_CHECK;

struct error survey_read_with(struct survey *survey, struct job_source *source,
                              const struct survey_asks *asks) MUST_CHECK;

/* The load of all GPUs, and by model where the cluster has several: then their number, else 0.  0 and NAN without a
 * cluster, or if the window has no length. */
double survey_load(const struct survey *survey);
size_t survey_loads(const struct survey *survey, struct survey_load loads[SURVEY_LOADS_MAX]);

/* `before`, and "load_by_model": {...}; nothing if there are none. */
void survey_loads_json(const struct survey *survey, const char *before, struct buffer *out);

/* survey: {0}, or with `asks`, which may be set until the source is opened; must be released, also if the source cannot
 * be opened. */
struct scan_listener survey_listener(struct survey *survey);

/* Complete a survey whose listener heard a whole trace.  facts: of its source.  O(n log n) if it is not sorted. */
void survey_complete(struct survey *survey, const struct workload_facts *facts);
void survey_release(struct survey *survey);

/* Append a text for readers, or JSON; changes the order in the series.  cluster: for the load. */
void survey_show(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);
void survey_json(struct survey *survey, struct job_source *source, const struct cluster *cluster, struct buffer *out);

#endif
