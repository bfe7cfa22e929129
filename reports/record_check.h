/* reports/record_check.h -- is a folder one whole record?
 *
 * result.json is removed before the first file of an earlier record is replaced, and comes last.  It holds the digests
 * of the files that rows are read from, so files of two runs, or files that were changed, are noticed.
 *
 * Law: what is read from a record is of one run, or an error.  The files are checked before the first row is told, and
 * each again while it is read (record_check_digest), so that a run that replaces them meanwhile is noticed too.
 * A record that was made before digests were written is not checked.
 *
 * It does not: check report.html, which nothing is read from.
 */
#ifndef REPORTS_RECORD_CHECK_H
#define REPORTS_RECORD_CHECK_H

#include "base/error.h"
#include "base/json.h"
#include "reports/result.h"

/* Parse FOLDER/result.json; the caller owns *doc.  ERROR_IO: it is not there. */
struct error record_check_open(struct json_doc **doc, const char *folder) MUST_CHECK;

/* ERROR_DATA: a file that the manifest names is another, or is missing.  Reads all of them.  needs_all false: files may
 * be missing, as where result.json alone was kept. */
struct error record_check_files(const char *folder, const struct result_manifest *manifest, bool needs_all) MUST_CHECK;

/* ERROR_DATA: the file was read, and has another digest than the manifest says. */
struct error record_check_digest(const char *folder, const struct result_manifest *manifest, const char *name,
                                 const char digest[33]) MUST_CHECK;

#endif
