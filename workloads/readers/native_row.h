/* workloads/readers/native_row.h -- the native names of a job's fields, and a job made of them; used for native CSV and
 * JSON lines.  workloads/README.md explains each field.
 */
#ifndef WORKLOADS_READERS_NATIVE_ROW_H
#define WORKLOADS_READERS_NATIVE_ROW_H

#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum native_field {
    NATIVE_JOB_ID,
    NATIVE_SUBMIT,
    NATIVE_DURATION,
    NATIVE_GPUS,
    NATIVE_NODES,
    NATIVE_GPU_FRACTION,
    NATIVE_GPU_MEMORY,
    NATIVE_MIG,
    NATIVE_GPU_CLASS,
    NATIVE_CPUS,
    NATIVE_MEMORY,
    NATIVE_MIN_MEMBERS,
    NATIVE_GPU_MODEL,
    NATIVE_QUEUE,
    NATIVE_USER,
    NATIVE_CLASS,
    NATIVE_WORKLOAD_CLASS,
    NATIVE_PRIORITY,
    NATIVE_PREEMPTIBLE,
    NATIVE_LIMIT,
    NATIVE_OUTCOME,
    NATIVE_SM_ACTIVE,
    NATIVE_MEMORY_BANDWIDTH,
    NATIVE_WOULD_DO,
    NATIVE_CHECKPOINT_INTERVAL,
    NATIVE_CHECKPOINT_DURATION,
    NATIVE_RESTART,
    NATIVE_ESTIMATE,
    NATIVE_DEADLINE,
    NATIVE_AFTER,
    NATIVE_ARRAY,
    NATIVE_ARRAY_MAX,
    NATIVE_NODE_SELECTOR,
    NATIVE_TOLERATIONS,
    NATIVE_PREEMPTION_DELAY,
    NATIVE_STALE_AFTER,
    NATIVE_WAIT,
    NATIVE_FAILED,      /* run times of earlier attempts, which failed: "60;7.5" */
    NATIVE_SENSITIVITY, /* of JSON lines: json_communication.h */
    NATIVE_FIELD_COUNT
};

extern const struct column native_columns[NATIVE_FIELD_COUNT];

/* Read all fields but the request, which the job has already, and enter the job into reader->ids.  fields: by enum
 * native_field. */
struct error native_row_facts(struct reader *reader, const struct line *line, const struct field *fields,
                              struct trace_row *row) MUST_CHECK;

/* Read the request, from `gpus`, `nodes` and so on. */
struct error native_row_shape(const struct reader *reader, const struct line *line, const struct field *fields,
                              struct trace_row *row) MUST_CHECK;

/* The amounts of one request from the fields NATIVE_GPUS..NATIVE_MIN_MEMBERS; missing ones are 0. */
struct error native_row_ask(const struct reader *reader, const struct line *line, const struct field *fields,
                            struct ask *ask) MUST_CHECK;

/* Set the workload's own name of the kind of job, one of WORKLOAD_CLASSES_MAX; empty: none. */
struct error native_row_class(const struct reader *reader, const struct line *line, const struct field *field,
                              struct job_truth *truth) MUST_CHECK;

/* Append the field NATIVE_FAILED; NULL: empty. */
void native_failures_write(const struct job_failures *failures, struct buffer *out);

/* The field of an enum ask_field. */
const struct field *native_row_culprit(const struct field *fields, enum ask_field culprit);

#endif
