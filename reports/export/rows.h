/* reports/export/rows.h -- a record as tables: typed columns, and rows of cells.
 *
 * jobs, attempts and timeline have the columns of the record's files, in their order and with their names.  The other
 * tables are what these files and result.json hold in one field: what a job waited for, the nodes of an attempt, the
 * metrics, the manifest.
 *
 * Law: a row has the cells of its table's columns, each empty or of the column's type.  A placement row comes after the
 * row of its attempt, a wait_by_reason row after that of its job.  Cells are borrowed during the call.
 *
 *   static struct error on_row(void *self, enum row_table table, const struct cell *cells);
 *   TRY(rows_read("out/run", on_row, self));
 */
#ifndef REPORTS_EXPORT_ROWS_H
#define REPORTS_EXPORT_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum column_type {
    COLUMN_INT,
    COLUMN_REAL,
    COLUMN_TEXT,
    COLUMN_ANY,  /* cells of several types */
    COLUMN_LIST, /* a text that a table of its own has row by row */
};

struct column {
    const char *name;
    enum column_type type;
};

enum row_table {
    TABLE_JOBS,
    TABLE_WAIT_BY_REASON,
    TABLE_ATTEMPTS,
    TABLE_PLACEMENT,
    TABLE_TIMELINE,
    TABLE_METRICS,
    TABLE_MANIFEST,
    TABLE_COUNT
};

struct row_table_facts {
    const char *name;
    const struct column *columns; /* end with a NULL name */
};
extern const struct row_table_facts row_tables[TABLE_COUNT];
unsigned row_columns(enum row_table table); /* their number */

enum cell_kind { CELL_EMPTY, CELL_INT, CELL_SCALED, CELL_REAL, CELL_TEXT };

struct cell {
    enum cell_kind kind;
    int64_t value; /* CELL_INT; CELL_SCALED: times `scale`, exact */
    int64_t scale; /* a power of ten */
    double real;
    struct text text;
};

static inline struct cell cell_int(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .value = value};
}

static inline struct cell cell_real(double real)
{
    return (struct cell){.kind = CELL_REAL, .real = real};
}

static inline struct cell cell_text(struct text text)
{
    return (struct cell){.kind = CELL_TEXT, .text = text};
}

typedef struct error row_fn(void *self, enum row_table table, const struct cell *cells);

/* Feed all rows of the record. */
struct error rows_read(const char *folder, row_fn *on_row, void *self) MUST_CHECK;

#endif
