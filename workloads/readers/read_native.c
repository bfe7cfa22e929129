/* workloads/readers/read_native.c -- the native CSV. */
#include "workloads/readers/native_row.h"

static struct error native_first_line(struct reader *reader, struct text line, bool *is_header)
{
    (void)is_header;
    reader->has_ties = reader->csv.is_there[NATIVE_AFTER];
    reader_tell_columns(reader, line);
    return ERROR_OK;
}

static struct error native_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    TRY(native_row_shape(reader, line, reader->csv.fields, row));
    return native_row_facts(reader, line, reader->csv.fields, row);
}

const struct trace_format trace_native = {
    .name = "native",
    .summary = "CSV: job_id, submit_s, duration_s, gpus and optional columns",
    .version = TRACE_FORMAT_VERSION,
    .columns = native_columns,
    .column_count = NATIVE_FIELD_COUNT,
    .on_first_line = native_first_line,
    .on_line = native_line,
};
