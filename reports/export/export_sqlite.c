/* reports/export/export_sqlite.c -- an SQLite database: the tables of rows.h, indexes, and a view per question.
 *
 * Times and amounts are REAL, in the units that the columns name; an empty field is NULL.  What a job waited for is a
 * table, so jobs lacks the column wait_by_reason_s. */
#include <assert.h>

#include "base/buffer.h"
#include "reports/csv_rows.h"
#include "reports/export/export.h"
#include "reports/export/rows.h"
#include "reports/export/sqlite_file.h"
#include "reports/export/sqlite_views.h"

struct writer {
    struct sqlite_file *file;
    struct sqlite_table tables[TABLE_COUNT];
};

static const char *type_name(const struct column *column)
{
    switch (column->type) {
    case COLUMN_INT:
        return " INTEGER";
    case COLUMN_REAL:
        return " REAL";
    case COLUMN_TEXT:
        return " TEXT";
    default:
        return "";
    }
}

/* The number of a job is its row's number, which needs no index. */
static const char *key_of(enum row_table table, unsigned column)
{
    enum { JOB_ID = 1 };
    return table == TABLE_JOBS && column == JOB_ID ? " PRIMARY KEY" : "";
}

static struct error create_table(struct writer *writer, enum row_table table)
{
    const struct row_table_facts *facts = &row_tables[table];
    struct buffer create = {0};
    size_t count = 0;
    buffer_format(&create, "CREATE TABLE %s (", facts->name);
    for (unsigned c = 0; facts->columns[c].name != NULL; c++)
        if (facts->columns[c].type != COLUMN_LIST)
            buffer_format(&create, "%s%s%s%s", count++ > 0 ? ", " : "", facts->columns[c].name,
                          type_name(&facts->columns[c]), key_of(table, c));
    buffer_string(&create, ")");
    struct error error = sqlite_file_run(writer->file, buffer_c_string(&create));
    buffer_release(&create);
    return error_is(error) ? error : sqlite_table_open(&writer->tables[table], writer->file, facts->name, count);
}

static struct error on_row(void *self, enum row_table table, const struct cell *cells)
{
    struct writer *writer = self;
    const struct column *columns = row_tables[table].columns;
    struct cell kept[CSV_COLUMNS_MAX];
    size_t count = 0;
    for (unsigned c = 0; columns[c].name != NULL; c++)
        if (columns[c].type != COLUMN_LIST)
            kept[count++] = cells[c];
    return sqlite_table_add(&writer->tables[table], kept);
}

static struct error fill(struct writer *writer, const char *record)
{
    TRY(sqlite_file_run(writer->file, "BEGIN"));
    for (int table = 0; table < TABLE_COUNT; table++)
        TRY(create_table(writer, (enum row_table)table));
    TRY(rows_read(record, on_row, writer));
    for (size_t i = 0; sqlite_views[i] != NULL; i++)
        TRY(sqlite_file_run(writer->file, sqlite_views[i]));
    return sqlite_file_run(writer->file, "COMMIT");
}

static struct error write_sqlite(const struct export_request *request)
{
    struct writer writer = {0};
    TRY(sqlite_file_open(&writer.file, request->out));
    struct error error = fill(&writer, request->record);
    for (int table = 0; table < TABLE_COUNT; table++)
        sqlite_table_close(&writer.tables[table]);
    if (!error_is(error))
        return sqlite_file_commit(&writer.file);
    sqlite_file_discard(&writer.file);
    return error;
}

const struct export_format export_sqlite = {
    .name = "sqlite",
    .summary = "an SQLite database with indexes, and a view per question",
    .target = EXPORT_FILE,
    .write = write_sqlite,
};
