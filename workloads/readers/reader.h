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
#include "topologies/communication_set.h"
#include "workloads/readers/csv.h"
#include "workloads/readers/source.h"
#include "workloads/readers/trace_ids.h"

struct trace_row {
    bool is_nothing; /* a comment, or a part of what comes later */
    struct job job;  /* submit and deadline in the trace's own time; id not set; after: see trace_ids.h */
    struct job_truth truth;
    const char *why; /* why it is no job that can be replayed, in few words: it is counted; NULL: it is one */
};

/* The header of a frozen trace (workloads/readers/freeze.h). */
struct frozen_facts {
    bool is_frozen, is_filling;
    time_ns origin;
    uint32_t preview_jobs;
};

struct reader {
    const struct trace_format *format;
    const struct workload_spec *spec;
    const struct cluster *cluster; /* NULL: GPU models are ignored */
    struct queue_table *queues;
    struct names *users;
    struct node_asks *asks;                   /* keeps the jobs' constraints on nodes for the reader's life */
    struct communication_set *communications; /* keeps what jobs declare to exchange for the reader's life */
    struct names *tags;
    struct names *classes;    /* names of struct job_truth.workload_class */
    struct arena *arena;      /* holds what rows point to; the reader's user resets it */
    struct arena *kept;       /* for what jobs point to as long as the source lives */
    struct side_files *sides; /* the further files of the trace, and what was made of them */
    struct input *input;
    struct csv csv;         /* of a format with columns, or if its on_first_line begins it: the row that is read */
    void *state;            /* of the format: state_bytes, zeroed; NULL: it has none */
    struct trace_row usual; /* a row before its line is read */
    struct trace_ids ids;   /* of the jobs so far, if has_ties */
    bool has_ties;          /* lines may name each other; set by formats with such fields */
    bool is_again;          /* the file was read before, into the same tables */
    struct frozen_facts frozen;
    struct text first_line;
    bool has_first_line; /* the first line is a row, not yet read; or the rest of a line that was put back */
    uint64_t row_count;  /* rows so far that are not nothing */
    uint64_t bad_line_count;
    uint64_t guessed_hours; /* rows with a date in an hour that comes twice, and nothing says which is meant */
    struct reason_tally skipped;
    struct reason_tally unread; /* what rows say and no job keeps */
    struct request_counts requests;
};

struct trace_format {
    const char *name;
    const char *summary;
    const char *map;  /* of read_mapped.c: the map of its columns */
    uint32_t version; /* of this struct */
    size_t state_bytes;
    bool has_gpu_types; /* run times are those of a GPU type: spec->gpu_type */

    /* A table with a header: each row is in reader->csv when on_line is called.  NULL: it is none. */
    const struct column *columns;
    uint32_t column_count;
    char separator;           /* 0: a comma, and texts may have quotes */
    const char *const *texts; /* of struct csv */

    /* Does a file with this first line (the first that is not blank) look like the format?  Called if the user named
     * none.  NULL: if it is a header with the required columns. */
    bool (*is_mine)(const struct trace_format *self, struct text first_line);

    /* Called once per reading, with the first line that is not blank, after the header of `columns`.  *is_header: the
     * line is no job; true before the call if the format has columns.  NULL: there is nothing to do. */
    struct error (*on_first_line)(struct reader *reader, struct text line, bool *is_header);

    /* Called for every other line that is not blank.  The row has the defaults of job_default and truth_default. */
    struct error (*on_line)(struct reader *reader, const struct line *line, struct trace_row *row);

    /* Called after the last line until *has is false: rows that need the whole file.  NULL: there are none. */
    struct error (*on_end)(struct reader *reader, struct trace_row *row, bool *has);

    /* Called before the state is freed.  NULL: nothing to release. */
    void (*on_close)(struct reader *reader);
};

enum { TRACE_FORMAT_VERSION = 4 };

/* What readers of several formats count in `unread`. */
#define READER_LOSES_CLASS "jobs lose their GPU class: it becomes a plain request"
#define READER_NO_DELAY    "their profiles are no delays: they need Batsim's model of machines"
#define READER_LOSES_CLAIM "jobs lose their claim: it becomes a plain request"

/* All formats, NULL-terminated, in the order of trace_format_names (formats.c). */
extern const struct trace_format *const trace_formats[];

/* Open spec->trace.  reader: zeroed except cluster, queues, users, tags, asks, communications, sides, kept
 * and arena. */
struct error reader_open(struct reader *reader, const struct workload_spec *spec) MUST_CHECK;

/* The next line that is not blank; *has false at the end. */
struct error reader_line(struct reader *reader, struct text *line, bool *has) MUST_CHECK;

/* The next row that is a job; *has false at the end. */
struct error reader_next(struct reader *reader, struct trace_row *row, bool *has) MUST_CHECK;
void reader_close(struct reader *reader);

/* For formats.  Of a line that holds several rows: on_line is called again with `rest`, the end of the line. */
void reader_put_back(struct reader *reader, struct text rest);

/* For formats that read further files.  Count an error on a line of such a file and drop it, if more unreadable lines
 * are allowed.  False: it stays. */
bool reader_forgives(struct reader *reader, struct error *error);

/* For formats.  An empty name of a queue means the queue "default", of a user no user. */
queue_id reader_queue(struct reader *reader, struct text name);
uint32_t reader_user(struct reader *reader, struct text name);
/* The mask of the models in "A|B|C", after the workload's `gpu_models`; 0: any. */
uint64_t reader_models(const struct reader *reader, struct text names);

/* The constraint on nodes, made for the cluster and kept; NULL: none. */
const struct node_ask *reader_nodes(const struct reader *reader, const struct node_ask *draft);

/* Set what the attempts of a job become: its duration and its failures, as the workload says, or else `otherwise`.
 * run_times: of all attempts in their order, the last of which ended the job; count > 0. */
void reader_attempts(const struct reader *reader, const time_ns *run_times, uint32_t count,
                     enum attempts_kind otherwise, struct job_truth *truth);

/* For formats with a header, after csv_header: tell which of its columns are not read (spec->tells_unread). */
void reader_tell_columns(struct reader *reader, struct text header);

/* Is a job of that outcome left out? */
static inline bool reader_leaves_out(const struct reader *reader, const struct job_truth *truth)
{
    return reader->spec->has_no_failures && truth->outcome != OUTCOME_COMPLETED;
}

/* Defaults for what a trace does not give: the job completes, is active all the time, and needs what it asks for. */
struct job_truth truth_default(void);

#endif
