/* workloads/readers/native_row.h -- the native names of a job's fields (workloads/job_text.h), and a job made of them;
 * used for native CSV, JSON lines and tables with a map of their columns.
 */
#ifndef WORKLOADS_READERS_NATIVE_ROW_H
#define WORKLOADS_READERS_NATIVE_ROW_H

#include "workloads/job_text.h"
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

#define NATIVE_ID(ID, ...) NATIVE_##ID,
/* Columns, in the order of a native file: those of workloads/job_text.h that traces have. */
enum native_field { JOB_TEXT(NATIVE_ID, JOB_TEXT_NONE, NATIVE_ID, NATIVE_ID) NATIVE_FIELD_COUNT };
#undef NATIVE_ID

extern const struct column native_columns[NATIVE_FIELD_COUNT];

/* The columns that are numbers in a struct; `at.bytes` is 0 for the others. */
extern const struct job_text native_texts[NATIVE_FIELD_COUNT];

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
/* The error of a complaint about the request; *culprit: as ask_shape sets it. */
struct error native_row_complaint(const struct line *line, const struct field *fields, const char *complaint,
                                  enum ask_field culprit) MUST_CHECK;
const struct field *native_row_culprit(const struct field *fields, enum ask_field culprit);

#endif
