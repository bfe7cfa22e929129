/* workloads/job_filter.h -- which jobs a row of a table is for: by class, workload class, user and number of GPUs.
 *
 *   {"class": "training", "workload_class": "finetune", "user": "ann", "gpus_min": 16, "gpus_max": 64, ...}
 *
 * Law: a job passes if it meets every condition that is given.  The first row whose filter it passes is the job's.
 */
#ifndef WORKLOADS_JOB_FILTER_H
#define WORKLOADS_JOB_FILTER_H

#include "base/json.h"
#include "base/mem.h"
#include "workloads/job.h"

struct job_filter {
    int class;                  /* enum job_class; -1: any */
    const char *workload_class; /* NULL: any */
    const char *user;           /* NULL: any */
    int64_t gpus_min, gpus_max; /* of the whole job, inclusive */
};

/* What is not in struct job: "" where it has none. */
struct job_names {
    const char *user, *workload_class;
};

/* Read the conditions among the members of an open object.  gpus_least: what gpus_min may be at least, and is if it is
 * not given.  classes: the names of the workload's classes, NULL-terminated, if they are known; a synthesized workload,
 * where they are, has no users.  Texts lie in the arena.  Fails through the sticky error. */
struct job_filter job_filter_read(struct json_object *object, int64_t gpus_least, struct arena *arena,
                                  const char *const *classes);

/* gpus: of the whole job, as the table counts them. */
bool job_filter_passes(const struct job_filter *filter, const struct job *job, int64_t gpus, struct job_names names);

#endif
