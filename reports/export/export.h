/* reports/export/export.h -- a record in the form of another program.
 *
 * A format is one const struct, named in the table of export_formats.c; a file of the room writes it.
 *
 * Law: the output appears whole or not at all (base/output.h), but for what goes to standard output.  It depends on the
 * record and the request only.  Rows stream: memory does not grow with the number of jobs that have ended.
 *
 *   struct export_request request = {.record = "out/run", .out = "run.db", .until = TIME_NEVER};
 *   TRY(export_record("sqlite", &request));
 *
 * It does not: compute metrics; those of result.json are taken as they are.
 */
#ifndef REPORTS_EXPORT_EXPORT_H
#define REPORTS_EXPORT_EXPORT_H

#include "base/error.h"
#include "base/time.h"

struct export_request {
    const char *record; /* the record folder */
    const char *out;    /* a file or folder, after the format's target; NULL: standard output */
    /* The part that is exported, by formats with has_cut: attempts that overlap [from, until), on this node, of this
     * job.  A name NULL: all. */
    time_ns from, until; /* 0, TIME_NEVER: all */
    const char *node, *job;
    bool quotes_formulas; /* of formats with has_formulas: no text reads as a formula of a spreadsheet */
    time_ns epoch;        /* of formats with has_epoch: the date of simulated time 0, from 1970; 0: 1970 */
};

enum export_target {
    EXPORT_TEXT,   /* one file, or standard output */
    EXPORT_FILE,   /* one file, not written from start to end */
    EXPORT_FOLDER, /* several files in a folder */
};

struct export_format {
    const char *name;
    const char *summary; /* a phrase, for the help */
    enum export_target target;
    bool has_cut, has_epoch;
    bool has_formulas;                                           /* spreadsheets read it */
    struct error (*write)(const struct export_request *request); /* required */
};

extern const struct export_format *const export_formats[]; /* NULL-terminated */

extern const struct export_format export_sqlite, export_perfetto, export_openmetrics, export_batsim, export_csv;

/* Check the request and write.  ERROR_USAGE: no such format, or the request does not suit it. */
struct error export_record(const char *format, const struct export_request *request) MUST_CHECK;

#endif
