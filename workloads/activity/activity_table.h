/* workloads/activity/activity_table.h -- `workload.activity`: what the SM activity of which jobs is like.
 *
 *   [{"workload_class": "notebooks", "kind": "notebook", "level": 0.7, "level_sd": 0.12,
 *     "burst": {"distribution": "lognormal", "median": "5m", "sigma": 1},
 *     "gap": {"distribution": "exponential", "mean": "20m"}, "abandoned": 0.02},
 *    {"class": "inference", "kind": "inference", "prefill": 0.8, "decode": 0.2, "prefill_share": 0.25}]
 *
 * Law: the first row whose conditions all hold.  A job without a row has the constant activity that its trace or class
 * gives (`sm_active`), and so has a job without GPUs.
 *
 * It does not: change what a job declares, its run time, or when it comes.
 */
#ifndef WORKLOADS_ACTIVITY_ACTIVITY_TABLE_H
#define WORKLOADS_ACTIVITY_ACTIVITY_TABLE_H

#include "base/json.h"
#include "base/mem.h"
#include "workloads/activity/activity.h"
#include "workloads/job_filter.h"

struct activity_row {
    struct job_filter jobs;
    struct activity_plan plan;
};

struct activity_table {
    const struct activity_row *rows;
    uint32_t count; /* 0: there is no table */
};

enum { ACTIVITY_ROWS_MAX = 64 };

/* Read the array; absent: no rows.  classes: the names of the workload's classes, NULL-terminated, if they are known.
 * The rows lie in the arena.  Fails through the sticky error. */
struct activity_table activity_table_read(const struct json_value *array, struct arena *arena,
                                          const char *const *classes);

/* The plan of a job; NULL: no row is for it.  gpus: all that it asks for, parts of a GPU rounded up.  O(rows). */
const struct activity_plan *activity_table_plan(const struct activity_table *table, const struct job *job, int64_t gpus,
                                                struct job_names names);

#endif
