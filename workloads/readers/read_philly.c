/* workloads/readers/read_philly.c -- jobs of Microsoft's Philly cluster as ElasticFlow publishes them:
 * timestamp, duration, num_gpus, gpu_time, cluster (msr-fiddle/philly-traces). */
#include "workloads/readers/csv.h"
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum { PHILLY_TIMESTAMP, PHILLY_DURATION, PHILLY_GPUS, PHILLY_CLUSTER, PHILLY_COLUMN_COUNT };

static const struct column columns[PHILLY_COLUMN_COUNT] = {
    [PHILLY_TIMESTAMP] = {"timestamp", true, FIELD_TEXT},
    [PHILLY_DURATION] = {"duration", true, FIELD_NUMBER},
    [PHILLY_GPUS] = {"num_gpus", true, FIELD_NUMBER},
    [PHILLY_CLUSTER] = {"cluster", false, FIELD_TEXT},
};

static bool philly_is_mine(struct text first_line)
{
    return csv_is_header(first_line, columns, PHILLY_COLUMN_COUNT);
}

static struct error philly_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct csv *csv = reader->state;
    *is_header = true;
    csv_init(csv, columns, PHILLY_COLUMN_COUNT);
    return csv_header(csv, &(struct line){reader->input, line});
}

static struct error philly_line(struct reader *reader, struct text text, struct trace_row *row)
{
    struct csv *csv = reader->state;
    struct line line = {reader->input, text};
    int64_t gpus = 0;
    TRY(csv_row(csv, &line));
    const struct field *timestamp = &csv->fields[PHILLY_TIMESTAMP];
    if (!time_parse_date(timestamp->value, &row->job.submit))
        return field_error(&line, timestamp, "a date and time such as 2017-10-09 07:01:55");
    row->job.submit -= reader->spec->tz_offset;
    TRY(field_seconds(&line, &csv->fields[PHILLY_DURATION], &row->truth.duration));
    TRY(field_int(&line, &csv->fields[PHILLY_GPUS], 1, ASK_GPUS_MAX, &gpus));
    TRY(field_utf8(&line, &csv->fields[PHILLY_CLUSTER]));
    job_shape_gpus(&row->job, (uint32_t)gpus, reader->spec->gpus_per_node);
    row->job.trace_id = (int64_t)reader->row_count + 1;
    row->job.queue = reader_queue(reader, csv->fields[PHILLY_CLUSTER].value);
    return ERROR_OK;
}

static void philly_close(struct reader *reader)
{
    csv_release(reader->state);
}

const struct trace_format trace_philly = {
    .name = "philly",
    .summary = "CSV of Microsoft's Philly cluster: timestamp, duration, num_gpus, cluster",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct csv),
    .is_mine = philly_is_mine,
    .on_first_line = philly_first_line,
    .on_line = philly_line,
    .on_close = philly_close,
};
