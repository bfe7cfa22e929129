/* reports/export/export_csv.c -- plain CSV files (RFC 4180), one per table, in a folder.
 *
 * jobs.csv, attempts.csv and timeline.csv have the bytes of the record's files, uncompressed; the others are the
 * tables of rows.h.  dtypes.json has the type of each column as pandas names it, from the same tables.  The files
 * appear together.
 *
 * A spreadsheet takes a text for a formula if it begins with = + - @, a tab or a carriage return.  On request such a
 * text gets an apostrophe in front, which makes it a text there (OWASP, CSV Injection). */
#include <string.h>

#include "base/output.h"
#include "reports/export/export.h"
#include "reports/export/rows.h"

struct csv_files {
    struct output *outputs[TABLE_COUNT], *dtypes;
    unsigned columns[TABLE_COUNT];
    bool quotes_formulas;
};

static void write_text(struct buffer *out, struct text text, bool quotes_formulas)
{
    static const char starts[] = {'=', '+', '-', '@', '\t', '\r'};
    if (!quotes_formulas || text.length == 0 || memchr(starts, text.at[0], sizeof starts) == NULL) {
        buffer_csv(out, text);
        return;
    }
    struct buffer quoted = {0};
    buffer_char(&quoted, '\'');
    buffer_text(&quoted, text);
    buffer_csv(out, (struct text){quoted.bytes, quoted.length});
    buffer_release(&quoted);
}

static void write_cell(struct buffer *out, const struct cell *cell, bool quotes_formulas)
{
    switch (cell->kind) {
    case CELL_EMPTY:
        break;
    case CELL_INT:
        buffer_int(out, cell->value);
        break;
    case CELL_SCALED:
        buffer_scaled(out, cell->value, cell->scale);
        break;
    case CELL_REAL:
        buffer_double(out, cell->real);
        break;
    case CELL_TEXT:
        write_text(out, cell->text, quotes_formulas);
        break;
    }
}

static struct error on_row(void *self, enum row_table table, const struct cell *cells)
{
    struct csv_files *files = self;
    struct buffer *out = output_buffer(files->outputs[table]);
    for (unsigned c = 0; c < files->columns[table]; c++) {
        if (c > 0)
            buffer_char(out, ',');
        write_cell(out, &cells[c], files->quotes_formulas);
    }
    buffer_char(out, '\n');
    return output_flush_if_full(files->outputs[table]);
}

static struct error open_file(struct csv_files *files, enum row_table table, const char *folder)
{
    const struct row_table_facts *facts = &row_tables[table];
    struct buffer name = {0};
    buffer_format(&name, "%s.csv", facts->name);
    struct error error = output_open_inside(&files->outputs[table], folder, buffer_c_string(&name), OUTPUT_PLAIN);
    buffer_release(&name);
    TRY(error);
    files->columns[table] = row_columns(table);
    for (unsigned c = 0; c < files->columns[table]; c++)
        buffer_format(output_buffer(files->outputs[table]), "%s%s", c > 0 ? "," : "", facts->columns[c].name);
    buffer_char(output_buffer(files->outputs[table]), '\n');
    return ERROR_OK;
}

/* {"jobs": {"job_id": "Int64", "queue": "string", ...}, ...}: an empty field is a missing value in each of them. */
static void write_dtypes(struct buffer *out)
{
    static const char *const dtypes[] = {[COLUMN_INT] = "Int64",
                                         [COLUMN_REAL] = "float64",
                                         [COLUMN_TEXT] = "string",
                                         [COLUMN_ANY] = "string",
                                         [COLUMN_LIST] = "string"};
    buffer_char(out, '{');
    for (int table = 0; table < TABLE_COUNT; table++) {
        const struct row_table_facts *facts = &row_tables[table];
        buffer_members(out, ",\n%s: {", facts->name);
        for (const struct column *column = facts->columns; column->name != NULL; column++)
            buffer_members(out, ",\n  %s: %s", column->name, dtypes[column->type]);
        buffer_char(out, '}');
    }
    buffer_string(out, "}\n");
}

static struct error write_files(struct csv_files *files, const struct export_request *request)
{
    TRY(output_make_folder(request->out));
    for (int table = 0; table < TABLE_COUNT; table++)
        TRY(open_file(files, (enum row_table)table, request->out));
    TRY(output_open_inside(&files->dtypes, request->out, "dtypes.json", OUTPUT_PLAIN));
    write_dtypes(output_buffer(files->dtypes));
    TRY(rows_read(request->record, on_row, files));
    TRY(output_seal(files->dtypes));
    for (int table = 0; table < TABLE_COUNT; table++)
        TRY(output_seal(files->outputs[table]));
    for (int table = 0; table < TABLE_COUNT; table++)
        TRY(output_commit(&files->outputs[table]));
    return output_commit(&files->dtypes);
}

static struct error write_csv(const struct export_request *request)
{
    struct csv_files files = {.quotes_formulas = request->quotes_formulas};
    struct error error = write_files(&files, request);
    for (int table = 0; table < TABLE_COUNT; table++)
        output_discard(&files.outputs[table]); /* outputs left open by an error */
    output_discard(&files.dtypes);
    return error;
}

const struct export_format export_csv = {
    .name = "csv",
    .summary = "plain CSV files, one per table, in a folder: what pandas, R and DuckDB read",
    .target = EXPORT_FOLDER,
    .has_formulas = true,
    .write = write_csv,
};
