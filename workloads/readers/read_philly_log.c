/* workloads/readers/read_philly_log.c -- cluster_job_log of Microsoft's Philly cluster (msr-fiddle/philly-traces,
 * README.md and its analysis notebook): one JSON array of jobs, each with its attempts. */
#include <string.h>

#include "workloads/readers/json_array.h"
#include "workloads/readers/reader.h"
#include "workloads/readers/zone.h"
#include "workloads/request/ask.h"

enum { ATTEMPTS_MAX = 10000 };

/* One object while it is read. */
struct log_job {
    const struct reader *reader;
    const struct json_array *array;
    const json_t *object;
};

static bool log_is_mine(const struct trace_format *self, struct text first_line)
{
    const struct text line = text_trim(first_line);
    (void)self;
    return line.length > 0 && line.at[0] == '[';
}

static struct error bad_key(const struct log_job *job, const char *key, const char *must_be)
{
    return json_array_error(job->array, job->reader->input, "'%s' of the job must be %s", key, must_be);
}

/* A text; NULL, "" and "None" are missing: *out is NULL. */
static struct error text_get(const struct log_job *job, const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    *out = NULL;
    if (value == NULL || json_is_null(value))
        return ERROR_OK;
    if (!json_is_string(value))
        return bad_key(job, key, "a text");
    const char *text = json_string_value(value);
    if (text[0] != '\0' && strcmp(text, "None") != 0)
        *out = text;
    return ERROR_OK;
}

/* A date, without a zone; TIME_NEVER: missing. */
static struct error date_get(const struct log_job *job, const json_t *object, const char *key, time_ns *out)
{
    const char *text;
    *out = TIME_NEVER;
    TRY(text_get(job, object, key, &text));
    if (text != NULL && !zone_date(text_of(text), &job->reader->spec->zone, out))
        return bad_key(job, key, "a date and time such as 2017-10-09 07:01:55");
    return ERROR_OK;
}

/* The GPUs of an attempt, and the servers on which they were. */
static struct error detail_count(const struct log_job *job, const json_t *attempt, uint32_t *gpus, uint32_t *servers)
{
    const json_t *detail = json_object_get(attempt, "detail");
    *gpus = *servers = 0;
    if (!json_is_array(detail))
        return bad_key(job, "detail", "an array");
    for (size_t i = 0; i < json_array_size(detail); i++) {
        const json_t *list = json_object_get(json_array_get(detail, i), "gpus");
        if (!json_is_array(list))
            return bad_key(job, "gpus", "an array");
        *gpus += (uint32_t)json_array_size(list);
        *servers += json_array_size(list) > 0;
        if (*gpus > ASK_GPUS_MAX)
            return bad_key(job, "gpus", "of at most a million GPUs");
    }
    return ERROR_OK;
}

struct attempts {
    uint32_t gpus, servers; /* of the first */
    time_ns first_start;
    time_ns *run_times; /* of the attempts of which start and end are known */
    uint32_t count;
    bool is_running;
};

static struct error attempts_read(const struct log_job *job, struct attempts *out)
{
    const json_t *list = json_object_get(job->object, "attempts");
    const size_t count = json_array_size(list);
    *out = (struct attempts){.first_start = TIME_NEVER};
    out->run_times = arena_alloc_array(job->reader->arena, (count < ATTEMPTS_MAX ? count : 0) + 1, time_ns);
    if (!json_is_array(list) || count >= ATTEMPTS_MAX)
        return bad_key(job, "attempts", "an array");
    for (size_t i = 0; i < count; i++) {
        const json_t *attempt = json_array_get(list, i);
        time_ns start, end;
        TRY(date_get(job, attempt, "start_time", &start));
        TRY(date_get(job, attempt, "end_time", &end));
        if (i == 0)
            TRY(detail_count(job, attempt, &out->gpus, &out->servers));
        if (start == TIME_NEVER)
            continue; /* an error of the logging (README) */
        if (out->first_start == TIME_NEVER)
            out->first_start = start;
        if (end == TIME_NEVER) {
            out->is_running |= i + 1 == count;
            continue;
        }
        if (end < start)
            return bad_key(job, "end_time", "no earlier than its 'start_time'");
        out->run_times[out->count++] = end - start;
    }
    return ERROR_OK;
}

static const char *skip_reason(const struct attempts *attempts)
{
    if (attempts->gpus == 0)
        return "they have no attempt, or none with GPUs: what they asked for is not known";
    if (attempts->first_start == TIME_NEVER)
        return "their start is not known";
    return attempts->is_running ? "they had not ended" : NULL;
}

static struct error job_read(const struct log_job *job, struct reader *reader, struct trace_row *row)
{
    const char *status, *vc, *user, *id;
    struct attempts attempts;
    TRY(text_get(job, job->object, "status", &status));
    TRY(text_get(job, job->object, "vc", &vc));
    TRY(text_get(job, job->object, "user", &user));
    TRY(text_get(job, job->object, "jobid", &id));
    TRY(date_get(job, job->object, "submitted_time", &row->job.submit));
    if (id == NULL || status == NULL || row->job.submit == TIME_NEVER)
        return json_array_error(job->array, reader->input, "a job must have 'jobid', 'status' and 'submitted_time'");
    TRY(attempts_read(job, &attempts));
    row->why = skip_reason(&attempts);
    row->is_nothing = false;
    if (row->why != NULL)
        return ERROR_OK;
    if (attempts.gpus % attempts.servers == 0)
        job_shape_gpus(&row->job, attempts.gpus, (uint16_t)(attempts.gpus / attempts.servers));
    else
        job_shape_gpus(&row->job, attempts.gpus, 0);
    row->job.trace_id = (int64_t)reader->row_count + 1;
    row->job.name = arena_copy(reader->arena, text_of(id));
    row->job.queue = reader_queue(reader, text_of(vc));
    row->job.user = reader_user(reader, text_of(user));
    if (attempts.count > 0)
        reader_attempts(reader, attempts.run_times, attempts.count, ATTEMPTS_MERGED, &row->truth);
    row->truth.outcome = strcmp(status, "Pass") == 0     ? OUTCOME_COMPLETED
                         : strcmp(status, "Killed") == 0 ? OUTCOME_CANCELLED
                                                         : OUTCOME_FAILED;
    if (attempts.first_start >= row->job.submit)
        row->truth.recorded_wait = attempts.first_start - row->job.submit;
    return ERROR_OK;
}

static struct error log_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct json_array *array = reader->state;
    struct text rest = line->text;
    bool is_whole;
    json_t *object;
    row->is_nothing = true;
    TRY(json_array_feed(array, line, &rest, &is_whole));
    if (!is_whole)
        return ERROR_OK;
    reader_put_back(reader, rest);
    TRY(json_array_object(array, reader->input, &object));
    struct error error = job_read(&(struct log_job){reader, array, object}, reader, row);
    json_decref(object);
    return error;
}

static struct error log_end(struct reader *reader, struct trace_row *row, bool *has)
{
    (void)row;
    *has = false;
    return json_array_check_end(reader->state, reader->input);
}

static void log_close(struct reader *reader)
{
    json_array_release(reader->state);
}

const struct trace_format trace_philly_log = {
    .name = "philly-log",
    .summary = "cluster_job_log of Microsoft's Philly cluster, with the attempts of each job",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct json_array),
    .is_mine = log_is_mine,
    .on_line = log_line,
    .on_end = log_end,
    .on_close = log_close,
};
