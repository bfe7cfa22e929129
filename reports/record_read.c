/* reports/record_read.c -- the CSV files of a record, row by row. */
#include "reports/record_read.h"

#include "reports/record_check.h"
#include "reports/record_rows.h"
#include "reports/result.h"

#define RECORD_ATTEMPTS "attempts.csv.zst"
#define RECORD_JOBS     "jobs.csv.zst"

static struct error read_job(struct reading *reading)
{
    struct job_row row;
    return record_row_job(reading, &row) ? reading->sink->on_job(reading->sink->self, &row) : ERROR_OK;
}

static struct error send_attempt(const struct record_sink *sink, const struct attempt_row *row)
{
    if (sink->on_attempt != NULL)
        TRY(sink->on_attempt(sink->self, row));
    if (sink->on_gang != NULL && row->link_tier != LINK_NONE && !row->is_partial)
        TRY(sink->on_gang(sink->self, &(struct gang_row){.start = row->start,
                                                         .end = row->end,
                                                         .gpu_milli = row->gpu_milli,
                                                         .link_tier = row->link_tier,
                                                         .link_bytes_per_s = row->link_bytes_per_s}));
    return ERROR_OK;
}

static struct error read_attempt(struct reading *reading)
{
    struct attempt_row row;
    return record_row_attempt(reading, &row) ? send_attempt(reading->sink, &row) : ERROR_OK;
}

static struct error read_sample(struct reading *reading)
{
    struct timeline_row row;
    return record_row_sample(reading, &row) ? reading->sink->on_sample(reading->sink->self, &row) : ERROR_OK;
}

static struct error open_file(struct reading *reading, const char *name, const char *columns)
{
    struct buffer path = {0};
    reading->name = name;
    buffer_format(&path, "%s/%s", reading->folder, name);
    struct error error = csv_rows_open(&reading->rows, buffer_c_string(&path), columns);
    buffer_release(&path);
    return error;
}

/* Is what was read the file that result.json names? */
static struct error check_file(struct reading *reading)
{
    char digest[33];
    TRY(csv_rows_digest(reading->rows, digest));
    return record_check_digest(reading->folder, reading->manifest, reading->name, digest);
}

/* Close the file.  `error` is that of the sink, and goes before one of the file; that it is another file explains what
 * its rows lack. */
static struct error close_file(struct reading *reading, struct error error)
{
    if (!error_is(error))
        error = check_file(reading);
    struct error row_error = csv_rows_close(&reading->rows);
    if (!error_is(error))
        return row_error;
    error_release(&row_error);
    return error;
}

/* Read one file, and call the sink for each row. */
static struct error read_file(struct reading *reading, const char *name, const char *columns)
{
    struct error error = ERROR_OK;
    reading->latest = 0;
    TRY(open_file(reading, name, columns));
    while (!error_is(error) && csv_rows_next(reading->rows))
        error = columns == record_job_columns       ? read_job(reading)
                : columns == record_attempt_columns ? read_attempt(reading)
                                                    : read_sample(reading);
    return close_file(reading, error);
}

/* ---- jobs and attempts together ---- */

/* Attempts, one of them read ahead. */
struct attempts_ahead {
    struct reading *reading;
    struct attempt_row row; /* if has_row */
    bool has_row;
};

static void read_ahead(struct attempts_ahead *ahead)
{
    ahead->has_row = csv_rows_next(ahead->reading->rows) && record_row_attempt(ahead->reading, &ahead->row);
}

/* Send the attempts that ended up to `end`. */
static struct error send_until(struct attempts_ahead *ahead, time_ns end)
{
    while (ahead->has_row && ahead->row.end <= end) {
        TRY(send_attempt(ahead->reading->sink, &ahead->row));
        read_ahead(ahead);
    }
    return ERROR_OK;
}

static struct error read_jobs_ahead(struct reading *jobs, struct attempts_ahead *ahead)
{
    struct job_row row;
    read_ahead(ahead);
    while (csv_rows_next(jobs->rows) && record_row_job(jobs, &row)) {
        TRY(send_until(ahead, row.end));
        if (csv_has_error(ahead->reading->rows))
            return ERROR_OK; /* the caller takes it from there */
        TRY(jobs->sink->on_job(jobs->sink->self, &row));
    }
    return csv_has_error(jobs->rows) ? ERROR_OK : send_until(ahead, TIME_NEVER);
}

static struct error read_lives(struct reading *jobs)
{
    struct reading attempts = *jobs; /* texts of rows of its own */
    attempts.texts = (struct buffer){0};
    TRY(open_file(&attempts, RECORD_ATTEMPTS, record_attempt_columns));
    struct error error = open_file(jobs, RECORD_JOBS, record_job_columns);
    if (!error_is(error)) {
        struct attempts_ahead ahead = {.reading = &attempts};
        error = close_file(jobs, read_jobs_ahead(jobs, &ahead));
    }
    error = close_file(&attempts, error);
    buffer_release(&attempts.texts);
    return error;
}

/* Read the rows that are kept in result.json. */
static struct error read_arrived(struct reading *reading, const struct result *result)
{
    for (size_t i = 0; i < result->arrived_count; i++)
        TRY(reading->sink->on_arrived(reading->sink->self, &result->arrived[i]));
    return ERROR_OK;
}

static struct error read_files(struct reading *reading, const struct result *result, bool is_together)
{
    const bool has_attempts = reading->sink->on_attempt != NULL || reading->sink->on_gang != NULL;
    if (is_together && has_attempts && reading->sink->on_job != NULL) {
        TRY(read_lives(reading));
    } else {
        if (has_attempts)
            TRY(read_file(reading, RECORD_ATTEMPTS, record_attempt_columns));
        if (reading->sink->on_job != NULL)
            TRY(read_file(reading, RECORD_JOBS, record_job_columns));
    }
    if (reading->sink->on_sample != NULL)
        TRY(read_file(reading, "timeline.csv.zst", record_timeline_columns));
    if (reading->sink->on_arrived != NULL)
        TRY(read_arrived(reading, result));
    if (reading->sink->on_finished != NULL)
        TRY(reading->sink->on_finished(reading->sink->self, reading->facts));
    return ERROR_OK;
}

static struct error read_record(const char *folder, const struct record_sink *sink, bool is_together)
{
    struct result result;
    TRY(result_read(&result, folder));
    struct reading reading = {
        .folder = folder, .manifest = &result.manifest, .sink = sink, .facts = &result.facts, .names = names_new()};
    for (int i = 0; i < REASON_COUNT; i++)
        reading.reasons[i] = reason_name((enum reason)i);
    struct error error = read_files(&reading, &result, is_together);
    names_free(reading.names);
    buffer_release(&reading.texts);
    result_release(&result);
    return error;
}

struct error record_read(const char *folder, const struct record_sink *sink)
{
    return read_record(folder, sink, false);
}

struct error record_read_together(const char *folder, const struct record_sink *sink)
{
    return read_record(folder, sink, true);
}
