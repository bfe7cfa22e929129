/* workloads/readers/read_native.c -- the native CSV. */
#include "workloads/readers/csv.h"
#include "workloads/readers/native_row.h"

static bool native_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    return csv_is_header(first_line, native_columns, NATIVE_FIELD_COUNT);
}

static struct error native_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct csv *csv = reader->state;
    *is_header = true;
    csv_init(csv, native_columns, NATIVE_FIELD_COUNT);
    TRY(csv_header(csv, &(struct line){reader->input, line}));
    reader->has_ties = csv->is_there[NATIVE_AFTER];
    reader_tell_columns(reader, csv, line);
    return ERROR_OK;
}

static struct error native_line(struct reader *reader, struct text text, struct trace_row *row)
{
    struct csv *csv = reader->state;
    struct line line = {reader->input, text};
    TRY(csv_row(csv, &line));
    TRY(native_row_shape(reader, &line, csv->fields, row));
    return native_row_facts(reader, &line, csv->fields, row);
}

static void native_close(struct reader *reader)
{
    csv_release(reader->state);
}

const struct trace_format trace_native = {
    .name = "native",
    .summary = "CSV: job_id, submit_s, duration_s, gpus and optional columns",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct csv),
    .is_mine = native_is_mine,
    .on_first_line = native_first_line,
    .on_line = native_line,
    .on_close = native_close,
};
