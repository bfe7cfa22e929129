/* reports/export/sqlite_file.h -- an SQLite database that is written into an output.
 *
 * SQLite writes pages at any place, and wants names of files.  So it gets a file system of its own (an sqlite3_vfs),
 * in which the one database is the output's descriptor: base/output.h keeps its law, and a process that is killed
 * leaves nothing behind.
 *
 *   struct sqlite_file *file;
 *   TRY(sqlite_file_open(&file, "run.db"));
 *   TRY(sqlite_file_run(file, "CREATE TABLE t (a INTEGER)"));
 *   sqlite3_prepare_v2(sqlite_file_database(file), ...);
 *   TRY(sqlite_file_commit(&file));                    (or sqlite_file_discard(&file))
 *
 * There is no journal: what fails is discarded.  It does not: open a database that exists.
 */
#ifndef REPORTS_EXPORT_SQLITE_FILE_H
#define REPORTS_EXPORT_SQLITE_FILE_H

#include <sqlite3.h>

#include "base/error.h"

struct sqlite_file; /* opaque */

struct error sqlite_file_open(struct sqlite_file **out, const char *path) MUST_CHECK;

sqlite3 *sqlite_file_database(struct sqlite_file *file);

/* Run statements that return nothing. */
struct error sqlite_file_run(struct sqlite_file *file, const char *sql) MUST_CHECK;

/* The error of SQLite's last call: of the disk if a write failed, else with SQLite's words. */
struct error sqlite_file_error(struct sqlite_file *file) MUST_CHECK;

/* Close the database and give the file its name.  All statements must be finalized.  Frees and clears *file, on error
 * too. */
struct error sqlite_file_commit(struct sqlite_file **file) MUST_CHECK;
void sqlite_file_discard(struct sqlite_file **file); /* NULL is allowed */

#endif
