/* reports/export/sqlite_file.h -- an SQLite database that is written into an output.
 *
 * SQLite writes pages at any place, and wants names of files.  So it gets a file system of its own (an sqlite3_vfs),
 * in which the one database is the output's descriptor: base/output.h keeps its law, and a process that is killed
 * leaves nothing behind.
 *
 *   struct sqlite_file *file;
 *   TRY(sqlite_file_open(&file, "run.db"));
 *   TRY(sqlite_file_run(file, "CREATE TABLE t (a INTEGER)"));
 *   struct sqlite_table table;
 *   TRY(sqlite_table_open(&table, file, "t", 1));
 *   TRY(sqlite_table_add(&table, &(struct cell){.kind = CELL_INT, .value = 7}));
 *   sqlite_table_close(&table);
 *   TRY(sqlite_file_commit(&file));                    (or sqlite_file_discard(&file))
 *
 * There is no journal: what fails is discarded.  It does not: open a database that exists.
 */
#ifndef REPORTS_EXPORT_SQLITE_FILE_H
#define REPORTS_EXPORT_SQLITE_FILE_H

#include <sqlite3.h>

#include "base/error.h"
#include "reports/export/rows.h"

struct sqlite_file; /* opaque */

struct error sqlite_file_open(struct sqlite_file **out, const char *path) MUST_CHECK;

/* Run statements that return nothing. */
struct error sqlite_file_run(struct sqlite_file *file, const char *sql) MUST_CHECK;

/* The rows of a table that exists, each with its number of cells.  Texts are kept as UTF-8; an empty cell is NULL. */
struct sqlite_table {
    struct sqlite_file *file;
    sqlite3_stmt *insert;
    int column_count;
}; /* {0} is closed */

struct error sqlite_table_open(struct sqlite_table *table, struct sqlite_file *file, const char *name,
                               size_t column_count) MUST_CHECK;
struct error sqlite_table_add(struct sqlite_table *table, const struct cell *cells) MUST_CHECK;
void sqlite_table_close(struct sqlite_table *table);

/* Close the database and give the file its name.  All tables must be closed.  Frees and clears *file, on error
 * too. */
struct error sqlite_file_commit(struct sqlite_file **file) MUST_CHECK;
void sqlite_file_discard(struct sqlite_file **file); /* NULL is allowed */

#endif
