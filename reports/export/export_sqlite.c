/* reports/export/export_sqlite.c -- an SQLite database: the tables of rows.h, indexes, and a view per question.
 *
 * Times and amounts are REAL, in the units that the columns name; an empty field is NULL.  What a job waited for is a
 * table, so jobs lacks the column wait_by_reason_s. */
#include <assert.h>

#include "base/buffer.h"
#include "reports/export/export.h"
#include "reports/export/rows.h"
#include "reports/export/sqlite_file.h"
#include "reports/export/sqlite_views.h"

struct writer {
    struct sqlite_file *file;
    sqlite3_stmt *inserts[TABLE_COUNT];
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
    struct buffer create = {0}, insert = {0};
    const char *between = "";
    buffer_format(&create, "CREATE TABLE %s (", facts->name);
    buffer_format(&insert, "INSERT INTO %s VALUES (", facts->name);
    for (unsigned c = 0; facts->columns[c].name != NULL; c++) {
        if (facts->columns[c].type == COLUMN_LIST)
            continue;
        buffer_format(&create, "%s%s%s%s", between, facts->columns[c].name, type_name(&facts->columns[c]),
                      key_of(table, c));
        buffer_format(&insert, "%s?", between);
        between = ", ";
    }
    buffer_string(&create, ")");
    buffer_string(&insert, ")");
    struct error error = sqlite_file_run(writer->file, buffer_c_string(&create));
    if (!error_is(error) && sqlite3_prepare_v2(sqlite_file_database(writer->file), buffer_c_string(&insert), -1,
                                               &writer->inserts[table], NULL) != SQLITE_OK)
        error = sqlite_file_error(writer->file);
    buffer_release(&create);
    buffer_release(&insert);
    return error;
}

/* SQLite keeps any bytes, and programs that read the file then expect UTF-8. */
static int bind_text(sqlite3_stmt *insert, int place, struct text text)
{
    struct buffer visible = {0};
    struct text rest = text;
    size_t bytes = 1;
    while (rest.length > 0 && (bytes = text_utf8_bytes(rest)) != 0)
        rest = (struct text){rest.at + bytes, rest.length - bytes};
    if (bytes == 0)
        buffer_visible(&visible, text);
    const struct text kept = bytes == 0 ? (struct text){visible.bytes, visible.length} : text;
    const int status = sqlite3_bind_text64(insert, place, kept.at, kept.length,
                                           bytes == 0 ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
    buffer_release(&visible);
    return status;
}

static int bind(sqlite3_stmt *insert, int place, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INT:
        return sqlite3_bind_int64(insert, place, cell->value);
    case CELL_SCALED:
        return sqlite3_bind_double(insert, place, (double)cell->value / (double)cell->scale);
    case CELL_REAL:
        return sqlite3_bind_double(insert, place, cell->real);
    case CELL_TEXT:
        return bind_text(insert, place, cell->text);
    default:
        return sqlite3_bind_null(insert, place);
    }
}

static struct error on_row(void *self, enum row_table table, const struct cell *cells)
{
    struct writer *writer = self;
    sqlite3_stmt *insert = writer->inserts[table];
    const struct column *columns = row_tables[table].columns;
    int place = 0, status = SQLITE_OK;
    for (unsigned c = 0; columns[c].name != NULL && status == SQLITE_OK; c++)
        if (columns[c].type != COLUMN_LIST)
            status = bind(insert, ++place, &cells[c]);
    if (status == SQLITE_OK && sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK)
        return ERROR_OK;
    return sqlite_file_error(writer->file);
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
        sqlite3_finalize(writer.inserts[table]);
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
