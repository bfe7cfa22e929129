/* workloads/readers/read_swf.c -- the Standard Workload Format 2.2 of the Parallel Workloads Archive.
 * Eighteen numbers a line, -1 unknown, comments after ';'.  Processors become GPUs, flat. */
#include <math.h>

#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum {
    SWF_JOB,
    SWF_SUBMIT,
    SWF_WAIT,
    SWF_RUN_TIME,
    SWF_PROCESSORS,
    SWF_CPU_TIME,
    SWF_MEMORY,
    SWF_PROCESSORS_ASKED,
    SWF_TIME_ASKED,
    SWF_MEMORY_ASKED,
    SWF_STATUS,
    SWF_USER,
    SWF_GROUP,
    SWF_PROGRAM,
    SWF_QUEUE,
    SWF_PARTITION,
    SWF_PRECEDING,
    SWF_THINK_TIME,
    SWF_FIELD_COUNT
};

static const char *const names[SWF_FIELD_COUNT] = {
    "job number",     "submit time",      "wait time", "run time",
    "processors",     "CPU time",         "memory",    "requested processors",
    "requested time", "requested memory", "status",    "user",
    "group",          "program",          "queue",     "partition",
    "preceding job",  "think time",
};

/* Status codes of the standard; 2 to 4 are parts of a job, whose summary has a line of its own. */
enum { SWF_FAILED = 0, SWF_PART_FIRST = 2, SWF_PART_LAST = 4, SWF_CANCELLED = 5 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Split a line at blanks; returns the number of fields, which may exceed `max`. */
static uint32_t pieces_cut(struct text line, struct field *fields, uint32_t max)
{
    const char *at = line.at, *end = at + line.length;
    for (uint32_t count = 0;; count++) {
        while (at != end && is_blank(*at))
            at++;
        if (at == end)
            return count;
        const char *start = at;
        while (at != end && !is_blank(*at))
            at++;
        if (count < max) {
            struct text piece = {start, (size_t)(at - start)};
            fields[count] = (struct field){names[count], piece, piece};
        }
    }
}

static bool swf_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    struct field fields[SWF_FIELD_COUNT];
    double number;
    struct text line = text_trim(first_line);
    if (line.length != 0 && line.at[0] == ';')
        return true;
    if (pieces_cut(line, fields, SWF_FIELD_COUNT) != SWF_FIELD_COUNT)
        return false;
    for (int i = 0; i < SWF_FIELD_COUNT; i++)
        if (!text_to_double(fields[i].value, &number))
            return false;
    return true;
}

/* Seconds, 0 or more, or -1 for unknown. */
static struct error swf_seconds(const struct line *line, const struct field *field, time_ns *out)
{
    if (!time_parse_seconds(field->value, out) || (*out < 0 && *out != -TIME_NS_PER_S))
        return field_error(line, field, "a number of seconds, 0 or more, or -1");
    return ERROR_OK;
}

static struct error swf_fields(const struct line *line, struct field fields[SWF_FIELD_COUNT],
                               int64_t numbers[SWF_FIELD_COUNT])
{
    static const uint8_t whole[] = {SWF_JOB, SWF_PROCESSORS, SWF_PROCESSORS_ASKED, SWF_STATUS, SWF_USER, SWF_QUEUE};
    uint32_t count = pieces_cut(line->text, fields, SWF_FIELD_COUNT);
    if (count != SWF_FIELD_COUNT)
        return input_error(line->input, line->text, (struct text){NULL, 0}, "a line of SWF must have %d fields, got %u",
                           SWF_FIELD_COUNT, count);
    for (size_t i = 0; i < sizeof whole; i++) {
        int64_t low = whole[i] == SWF_JOB ? 0 : -1;
        TRY(field_int(line, &fields[whole[i]], low, INT32_MAX, &numbers[whole[i]]));
    }
    return ERROR_OK;
}

/* Processors to GPUs, rounded up. */
static int64_t swf_gpus(const struct reader *reader, int64_t processors)
{
    double per_gpu = reader->spec->processors_per_gpu;
    if (per_gpu == 0 || per_gpu == 1)
        return processors;
    return (int64_t)ceil((double)processors / per_gpu);
}

/* "q12"; no text for an unknown number. */
static struct text numbered(char text[24], char letter, int64_t number)
{
    char *at = text + 24;
    if (number < 0)
        return (struct text){text, 0};
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    *--at = letter;
    return (struct text){at, (size_t)(text + 24 - at)};
}

static struct error swf_line(struct reader *reader, struct text text, struct trace_row *row)
{
    struct line line = {reader->input, text};
    struct field fields[SWF_FIELD_COUNT];
    int64_t numbers[SWF_FIELD_COUNT] = {0};
    time_ns limit = 0, wait = 0;
    char name[24];
    struct text trimmed = text_trim(text);
    row->kind = trimmed.at[0] == ';' ? ROW_NOTHING : ROW_SKIPPED;
    if (row->kind == ROW_NOTHING)
        return ERROR_OK;
    TRY(swf_fields(&line, fields, numbers));
    TRY(field_seconds(&line, &fields[SWF_SUBMIT], &row->job.submit));
    TRY(swf_seconds(&line, &fields[SWF_RUN_TIME], &row->truth.duration));
    TRY(swf_seconds(&line, &fields[SWF_TIME_ASKED], &limit));
    TRY(swf_seconds(&line, &fields[SWF_WAIT], &wait));
    int64_t asked = numbers[SWF_PROCESSORS_ASKED], status = numbers[SWF_STATUS];
    int64_t gpus = swf_gpus(reader, asked > 0 ? asked : numbers[SWF_PROCESSORS]);
    if (gpus <= 0 || row->truth.duration < 0 || (status >= SWF_PART_FIRST && status <= SWF_PART_LAST))
        return ERROR_OK;
    if (gpus > ASK_GPUS_MAX)
        return field_error(&line, &fields[asked > 0 ? SWF_PROCESSORS_ASKED : SWF_PROCESSORS],
                           "at most a million GPUs' worth of processors");
    row->kind = ROW_JOB;
    job_shape_gpus(&row->job, (uint32_t)gpus, 0);
    row->job.limit = limit > 0 ? limit : TIME_NEVER;
    row->truth.outcome = status == SWF_FAILED      ? OUTCOME_FAILED
                         : status == SWF_CANCELLED ? OUTCOME_CANCELLED
                                                   : OUTCOME_COMPLETED;
    if (wait >= 0)
        row->truth.recorded_wait = wait;
    row->job.trace_id = numbers[SWF_JOB];
    row->job.queue = reader_queue(reader, numbered(name, 'q', numbers[SWF_QUEUE]));
    row->job.user = reader_user(reader, numbered(name, 'u', numbers[SWF_USER]));
    return ERROR_OK;
}

const struct trace_format trace_swf = {
    .name = "swf",
    .summary = "Standard Workload Format 2.2; processors become GPUs",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = 1,
    .is_mine = swf_is_mine,
    .on_line = swf_line,
};
