/* reports/csv_rows.h -- a CSV file (RFC 4180) read row by row, columns found by name.
 *
 * Law: every error names file, line and column.  A row with more or fewer fields than the header is an error;
 * columns that were not requested are skipped; a requested one must be there, once.  All reads of a row share one
 * sticky error: after the first one every read returns a default.
 *
 *   struct csv_rows *rows;
 *   TRY(csv_rows_open(&rows, "jobs.csv.zst", record_job_columns));
 *   while (csv_rows_next(rows)) {
 *       row.id = (uint32_t)csv_int(rows, 0, 0, UINT32_MAX);
 *       if (csv_has_error(rows)) break;
 *   }
 *   return csv_rows_close(&rows);
 *
 * It does not: know what a column means.
 */
#ifndef REPORTS_CSV_ROWS_H
#define REPORTS_CSV_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/time.h"

enum { CSV_COLUMNS_MAX = 96 };

struct csv_rows; /* opaque */

/* wanted: the names of columns, written as a header line.  The functions below name a column by its position there.
 * Borrowed. */
struct error csv_rows_open(struct csv_rows **out, const char *path, const char *wanted) MUST_CHECK;

/* The next row; false at the end or after an error. */
bool csv_rows_next(struct csv_rows *rows);

bool csv_has_error(const struct csv_rows *rows);

/* After the last row, or after an error: the digest of the whole file (base/input.h). */
struct error csv_rows_digest(struct csv_rows *rows, char hex[33]) MUST_CHECK;

/* Free the reader and return the sticky error, if there is one. */
struct error csv_rows_close(struct csv_rows **rows) MUST_CHECK;

/* The field without its quotes; borrowed until the next row. */
struct text csv_text(const struct csv_rows *rows, unsigned column);

/* Read a field.  A text that is no number, or one outside [low, high], sets the sticky error. */
int64_t csv_int(struct csv_rows *rows, unsigned column, int64_t low, int64_t high);
int64_t csv_scaled(struct csv_rows *rows, unsigned column, int64_t scale);        /* >= 0, times scale */
int64_t csv_signed(struct csv_rows *rows, unsigned column, int64_t scale);        /* any, times scale */
double csv_double(struct csv_rows *rows, unsigned column);                        /* finite */
time_ns csv_time(struct csv_rows *rows, unsigned column);                         /* seconds, >= 0; empty: TIME_NEVER */
int csv_choice(struct csv_rows *rows, unsigned column, const char *const *names); /* NULL-terminated */

/* Set the sticky error at the place of the field. */
void csv_fail(struct csv_rows *rows, unsigned column, const char *complaint);

#endif
