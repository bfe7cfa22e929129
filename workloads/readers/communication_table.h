/* workloads/readers/communication_table.h -- `workload.communication`: what jobs exchange that do not declare it
 * themselves.
 *
 *   [{"class": "training", "gpus_min": 16, "plan": {"tp": 8, ...}},
 *    {"workload_class": "finetune", "user": "ann", "gpus_max": 8, "sensitivity": "all_reduce_bound"},
 *    {"sensitivity": {"collective": "all-reduce", "exposed_ratio": 0.3, "hidden_ratio": 0.5, "bytes": 1e9}}]
 *
 * Law: a job's own declaration goes before the table; of the table, the first row whose conditions all hold.  Only jobs
 * on whole GPUs get one.  A plan without `dp` gets the replicas that the job's GPUs make.  A job whose GPUs the plan of
 * its row does not fit is an error, not one without communication.
 */
#ifndef WORKLOADS_READERS_COMMUNICATION_TABLE_H
#define WORKLOADS_READERS_COMMUNICATION_TABLE_H

#include "topologies/communication_set.h"
#include "workloads/job_filter.h"

struct communication_row {
    struct job_filter jobs;
    struct communication declared;
    const char *file; /* the place of its plan or sensitivity; line 0: unknown */
    size_t line, column;
};

struct communication_table {
    struct communication_row *rows;
    uint32_t count; /* 0: there is no table */
};

enum { COMMUNICATION_ROWS_MAX = 1024, COMMUNICATION_ROW_NONE = -1 };

/* Read the array; absent: no rows.  classes: as for job_filter_read.  What the table points to lies in the arena.
 * Fails through the sticky error. */
struct communication_table communication_table_read(const struct json_value *array, struct arena *arena,
                                                    const char *const *classes);

/* The row of the job, or COMMUNICATION_ROW_NONE: it declares its own, or is not on whole GPUs, or none matches.
 * O(rows). */
int communication_table_row(const struct communication_table *table, const struct job *job, struct job_names names);

/* Set job->communication to that of the row, kept in the set.  ERROR_CONFIG at the row: its plan does not fit the
 * job's GPUs; `what` names the job, such as "size 3 of the class 'large'"; NULL: its id does. */
struct error communication_table_apply(const struct communication_table *table, uint32_t row, struct job *job,
                                       const char *what, struct communication_set *set) MUST_CHECK;

#endif
