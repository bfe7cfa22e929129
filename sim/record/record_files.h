/* sim/record/record_files.h -- the record as files: jobs.csv.zst, attempts.csv.zst, timeline.csv.zst in a folder.
 *
 * A record_sink that writes the rows of jobs, attempts and samples as lines of CSV (RFC 4180).  The columns are those
 * of sim/record/record.h, which says which fields may be empty.  Numbers are exact: reports/record_read.h gives the
 * same rows back.
 *
 * Law: the three files appear together at record_files_commit, the jobs last, or not at all.
 *
 *   struct record_files *files;
 *   TRY(record_files_open(&files, "out/run", model_names));
 *   struct record_sink sink = record_files_sink(files);
 *   ... rows ...
 *   TRY(record_files_commit(&files));          (or record_files_discard(&files))
 *
 * It does not: write result.json (reports/result.h), or look at what it writes.
 */
#ifndef SIM_RECORD_RECORD_FILES_H
#define SIM_RECORD_RECORD_FILES_H

#include "sim/record/record.h"

#define RECORD_JOBS_FILE     "jobs.csv.zst"
#define RECORD_ATTEMPTS_FILE "attempts.csv.zst"
#define RECORD_TIMELINE_FILE "timeline.csv.zst"

enum { RECORD_FILE_COUNT = 3 };
extern const char *const record_files_names[RECORD_FILE_COUNT];

struct record_files; /* opaque */

/* Create the folder if needed, and open the three files.  model_names: of the cluster, NULL-terminated, as in struct
 * run_facts, borrowed until commit or discard; NULL: a model is written as its index. */
struct error record_files_open(struct record_files **out, const char *folder,
                               const char *const *model_names) MUST_CHECK;

/* Has all hooks but on_arrived and on_finished, which write to no file here. */
struct record_sink record_files_sink(struct record_files *files);

/* Flush and fsync; no row may follow.  An error for lack of space comes here: see output_seal. */
struct error record_files_seal(struct record_files *files) MUST_CHECK;

/* The digest of one of the sealed files (base/output.h). */
void record_files_digest(const struct record_files *files, int which, char hex[33]);

/* Give the files their final names.  Frees and clears *files, on error too. */
struct error record_files_commit(struct record_files **files) MUST_CHECK;

/* Discard the files; nothing appears.  NULL is allowed. */
void record_files_discard(struct record_files **files);

#endif
