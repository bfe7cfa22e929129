/* workloads/readers/job_defaults.h -- `workload.defaults`: what is taken where a job does not say it.
 *
 *   [{"class": "inference", "set": {"priority": 125}},
 *    {"gpus_min": 8, "set": {"checkpoint_interval_s": "30m", "restart_s": 120}},
 *    {"set": {"gpu_model": "h100-80gb"}}]
 *
 * The conditions of a row are those of workloads/job_filter.h, with parts of a GPU rounded up.
 *
 * Laws
 *  - What a job says stays as it is.  A job says a field if its value is not the usual one of workloads/job_text.h:
 *    a priority of 50 counts as not said.
 *  - The rows are gone through in their order.  A row whose conditions hold sets the fields that nothing has set so
 *    far, so an earlier row goes before a later one, and a class that a row sets counts in the conditions behind it.
 *  - The run, its record and its scheduler see the job as if the trace had said it.
 * Test: tests/unit/test_job_defaults.c.
 *
 * It does not: change run times, sizes or arrivals, or what a trace says itself.
 */
#ifndef WORKLOADS_READERS_JOB_DEFAULTS_H
#define WORKLOADS_READERS_JOB_DEFAULTS_H

#include "topologies/cluster.h"
#include "workloads/job_filter.h"
#include "workloads/job_truth.h"

enum { JOB_DEFAULTS_MAX = 16 /* fields of a row */, JOB_DEFAULT_ROWS_MAX = 1024 };

struct job_defaults_row {
    struct job_filter jobs;
    uint32_t count; /* of values */
    struct {
        uint8_t field; /* enum native_field (workloads/readers/native_row.h) */
        int64_t value;
    } values[JOB_DEFAULTS_MAX];
    const char *gpu_model; /* "A|B"; NULL: not set */
};

struct job_defaults {
    const struct job_defaults_row *rows;
    uint32_t count; /* 0: there are none */
};

/* Read the array; absent: no rows.  classes: as for job_filter_read.  What the rows point to lies in the arena.  Fails
 * through the sticky error. */
struct job_defaults job_defaults_read(const struct json_value *array, struct arena *arena, const char *const *classes);

/* Set what the job does not say.  cluster: for the names of GPU models; NULL: these rows set nothing.  A job with
 * several groups keeps its models.  A job whose earlier attempts failed gets no checkpoints, which its trace excludes.
 * O(rows). */
void job_defaults_apply(const struct job_defaults *defaults, const struct cluster *cluster, struct job_names names,
                        const struct job_truth *truth, struct job *job);

#endif
