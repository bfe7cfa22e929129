/* reports/record_read.h -- reads a record folder back as rows.
 *
 * Law: a sink gets the same rows from the files as from the run, so that a report from the files is the same.
 * record_read: all attempts come first, then the jobs, then the samples, then, both from result.json, the
 * arrived rows and the facts.
 * Rows whose hook is NULL are not read.
 *
 *   struct record_sink sink = metrics_sink(metrics);
 *   TRY(record_read("out/run", &sink));
 *
 * Errors: ERROR_IO for a file that is not there, ERROR_DATA with file, line and column for what
 * cannot be a row, or says that the files are not of one run (reports/record_check.h).  The sink may have seen rows
 * before an error.
 */
#ifndef REPORTS_RECORD_READ_H
#define REPORTS_RECORD_READ_H

#include "sim/record/record.h"

struct error record_read(const char *folder, const struct record_sink *sink) MUST_CHECK;

/* As record_read, but jobs and attempts come together: before a job, all attempts that ended up to its end, in the
 * order of their ends.  So a sink that needs a job and its attempts keeps only those of jobs that have not ended. */
struct error record_read_together(const char *folder, const struct record_sink *sink) MUST_CHECK;

#endif
