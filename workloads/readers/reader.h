/* workloads/readers/reader.h -- a trace file as rows in the file's own order and time; the plug-in of a format.
 *
 * A format is one file read_<format>.c with one const struct trace_format, entered in formats.c.  It makes a
 * struct trace_row of a line and knows nothing of windows, loads or sorting (workloads/readers/source.h does).
 *
 * Law: row times are the trace's own; what a row points to lives in reader->arena, or in the line.
 * A line that cannot be read is an ERROR_DATA that names file, line and column.
 *
 *   const struct trace_format trace_swf = {.name = "swf", ..., .on_line = swf_line};
 */
#ifndef WORKLOADS_READERS_READER_H
#define WORKLOADS_READERS_READER_H

#include "base/mem.h"
#include "workloads/readers/fields.h"
#include "workloads/readers/source.h"
#include "workloads/readers/trace_ids.h"

enum row_kind {
    ROW_NOTHING, /* a comment */
    ROW_JOB,
    ROW_SKIPPED /* a job that cannot be replayed (never ran); counted */
};

struct trace_row {
    enum row_kind kind;
    struct job job; /* submit and deadline in the trace's own time; id not set; after: see trace_ids.h */
    struct job_truth truth;
};

/* What the header of a frozen trace says (workloads/readers/freeze.h). */
struct frozen_facts {
    bool is_frozen, is_filling;
    time_ns origin;
    uint32_t preview_jobs;
};

struct reader {
    const struct trace_format *format;
    const struct workload_spec *spec;
    const struct cluster *cluster; /* NULL: models are not told apart */
    struct queue_table *queues;
    struct names *users;
    struct node_asks *asks; /* where what jobs ask of nodes is kept, for as long as they live */
    struct names *tags;
    struct names *classes; /* of struct job_truth.workload_class */
    struct arena *arena;   /* for what rows point to; the reader's user resets it */
    struct input *input;
    void *state;          /* state_bytes of it, zeroed; the format's */
    struct trace_ids ids; /* of the jobs so far, if has_ties */
    bool has_ties;        /* lines may name each other; a format that knows such fields sets it */
    bool is_again;        /* the file was read before, into the same tables */
    struct frozen_facts frozen;
    struct text first_line;
    bool has_first_line; /* the first line is a row, not yet read */
    uint64_t row_count;  /* rows of the kind ROW_JOB or ROW_SKIPPED so far */
    uint64_t bad_line_count, skipped_count;
};

struct trace_format {
    const char *name;
    const char *summary;
    uint32_t version; /* of this structure */
    size_t state_bytes;

    /* Does a file that begins with this line (not blank) look like the format?  Called if the user named no format. */
    bool (*is_mine)(struct text first_line);

    /* Once per reading, with the first line that is not blank.  *is_header: it holds no job.  NULL: never a header. */
    struct error (*on_first_line)(struct reader *reader, struct text line, bool *is_header);

    /* For every other line that is not blank.  The row comes with the defaults of job_default and truth_default. */
    struct error (*on_line)(struct reader *reader, struct text line, struct trace_row *row);

    /* When no line is left, until *has is false: a row that only the whole file tells.  NULL: there are none. */
    struct error (*on_end)(struct reader *reader, struct trace_row *row, bool *has);

    /* Before the state is freed.  NULL: nothing to release. */
    void (*on_close)(struct reader *reader);
};

enum { TRACE_FORMAT_VERSION = 1 };

/* All formats, NULL-terminated, in the order of trace_format_names (formats.c). */
extern const struct trace_format *const trace_formats[];

/* Open spec->trace.  reader: zeroed but for cluster, queues, users, tags, asks and arena. */
struct error reader_open(struct reader *reader, const struct workload_spec *spec) MUST_CHECK;

/* The next row of the kind ROW_JOB; *has false at the end. */
struct error reader_next(struct reader *reader, struct trace_row *row, bool *has) MUST_CHECK;
void reader_close(struct reader *reader);

/* For the formats.  The empty queue name is the queue "default", the empty user name is no user. */
queue_id reader_queue(struct reader *reader, struct text name);
uint32_t reader_user(struct reader *reader, struct text name);
/* What is asked of nodes, made for the cluster and kept; NULL: nothing. */
const struct node_ask *reader_nodes(const struct reader *reader, const struct node_ask *draft);

/* What is not in the trace: completes, active all the time, needs what it asks. */
struct job_truth truth_default(void);

#endif
