/* workloads/readers/job_columns.h -- the columns of workloads/job_text.h written, which formats keep them, and what is
 * told where one does not.
 *
 * Law: convert says every loss; native to native loses nothing.  The writers of formats and the report of losses come
 * from one table, so a column cannot be forgotten by one of them.  tests/property/test_convert_columns.c fills every
 * column at random and converts: into the native formats each comes back to the last digit, and in every other it
 * survives or is named among the losses.
 *
 *   job_columns_write(&view, UINT64_C(1) << NATIVE_QUEUE | UINT64_C(1) << NATIVE_LIMIT, true, &text, out);
 *
 * It does not: read columns (native_row.h).
 */
#ifndef WORKLOADS_READERS_JOB_COLUMNS_H
#define WORKLOADS_READERS_JOB_COLUMNS_H

#include "workloads/readers/job_ids.h"
#include "workloads/readers/native_row.h"
#include "workloads/readers/source.h"

/* The formats that jobs are written in. */
enum job_format { JOBS_NATIVE, JOBS_JSONL, JOBS_SWF, JOB_FORMAT_COUNT };

/* A job, and what its numbers mean. */
struct job_view {
    const struct job *job;
    const struct job_truth *truth;
    const struct job_source *source;
    const struct cluster *cluster; /* NULL: no job names a GPU model */
    struct job_ids *ids;           /* of the jobs before it; NULL: the format names none */
    struct arena *scratch;
};

enum column_state {
    COLUMN_ABSENT, /* the job does not say it */
    COLUMN_USUAL,  /* it says what a row without the column says */
    COLUMN_SET
};

struct job_column {
    bool (*is_said)(const struct job_view *view); /* NULL: a column of native rows */
    uint8_t kept;                                 /* bit 1 << enum job_format: it survives there; in SWF, if it is a
                                                     number that SWF can keep */
    const char *lost;                             /* "jobs lose ..."; NULL: no format loses it */
};

/* By enum native_field, and behind them what JSON lines alone say, in members of their own. */
extern const struct job_column job_columns[];
extern const size_t job_column_count;

/* Append the value of a column; nothing if it is absent. */
enum column_state job_column_write(const struct job_view *view, enum native_field field, struct buffer *out);

/* Append the columns whose bits are set in `fields`, as a row of CSV or as members of a JSON object behind its brace or
 * its last member; members that are absent are left out.  text: scratch. */
void job_columns_write(const struct job_view *view, uint64_t fields, bool is_json, struct buffer *text,
                       struct buffer *out);

/* Count the columns of the job that the format does not keep. */
void job_columns_lost(const struct job_view *view, enum job_format format, struct buffer *scratch,
                      struct reason_tally *lost);

/* Can a native row say how the members are?  Several members of pieces, and several kinds of members, it cannot. */
bool job_is_plain(const struct job *job);

/* The number in a name such as q12 of that letter; -1: it is another name. */
int64_t job_name_number(const char *name, char letter);

#endif
