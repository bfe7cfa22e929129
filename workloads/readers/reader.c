#include "workloads/readers/reader.h"

#include <assert.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json_file.h"
#include "workloads/request/ask.h"

struct job_truth truth_default(void)
{
    return (struct job_truth){
        .recorded_wait = TIME_NEVER,
        .outcome = OUTCOME_COMPLETED,
        .sm_active_milli = SM_ACTIVE_UNKNOWN,
        .would_do_milli = GPU_MILLI,
    };
}

queue_id reader_queue(struct reader *reader, struct text name)
{
    return queue_table_of(reader->queues, name.length != 0 ? name : TEXT("default"));
}

uint32_t reader_user(struct reader *reader, struct text name)
{
    return name.length != 0 ? names_add(reader->users, name) : NAMES_NONE;
}

static struct text model_meant(const struct workload_spec *spec, struct text name)
{
    for (uint32_t i = 0; i < spec->model_count; i++)
        if (text_is(name, spec->models[i].word) || strcmp(spec->models[i].word, "*") == 0)
            return text_of(spec->models[i].means);
    return name;
}

uint64_t reader_models(const struct reader *reader, struct text names)
{
    uint64_t mask = 0;
    struct text rest = names, name;
    if (names.length == 0 || reader->spec->model_count == 0)
        return ask_models(reader->cluster, names);
    while (text_cut(&rest, '|', &name)) {
        const struct text meant = model_meant(reader->spec, name);
        if (meant.length == 0)
            return 0;
        mask |= ask_models(reader->cluster, meant);
    }
    return mask;
}

const char *const attempts_names[] = {"merged", "last", "replayed", NULL};

/* Keep the run times of the attempts before the last.  An attempt without any time is left out.  NULL: none is left. */
static const struct job_failures *failures_keep(const struct reader *reader, const time_ns *run_times, uint32_t count)
{
    const double factor = reader->spec->duration_scale != 0 ? reader->spec->duration_scale : 1;
    struct job_failures *failures = arena_alloc(reader->kept, sizeof *failures + count * sizeof failures->work[0]);
    for (uint32_t i = 0; i < count; i++) {
        const time_ns work = factor == 1 ? run_times[i] : time_from_seconds(time_to_seconds(run_times[i]) * factor);
        if (work > 0)
            failures->work[failures->count++] = work;
    }
    return failures->count > 0 ? failures : NULL;
}

void reader_attempts(const struct reader *reader, const time_ns *run_times, uint32_t count,
                     enum attempts_kind otherwise, struct job_truth *truth)
{
    const enum attempts_kind kind = reader->spec->attempts != ATTEMPTS_AS_FORMAT ? reader->spec->attempts : otherwise;
    truth->duration = run_times[count - 1];
    for (uint32_t i = 0; i + 1 < count && kind == ATTEMPTS_MERGED; i++)
        truth->duration = time_after(truth->duration, run_times[i]);
    if (kind == ATTEMPTS_REPLAYED && count > 1)
        truth->failures = failures_keep(reader, run_times, count - 1);
}

static const struct trace_format *format_named(const char *name)
{
    for (const struct trace_format *const *format = trace_formats; *format != NULL; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}

static bool is_format(const struct trace_format *format, struct text first_line)
{
    const char separator = format->separator != 0 ? format->separator : ',';
    return format->is_mine != NULL ? format->is_mine(format, first_line)
                                   : csv_is_header(first_line, separator, format->columns, format->column_count);
}

static struct error format_find(struct reader *reader, struct text first_line)
{
    const char *name = reader->spec->format;
    if (name != NULL) {
        reader->format = format_named(name);
        if (reader->format == NULL)
            return error_new(ERROR_CONFIG, "there is no trace format '%s'", name);
        return ERROR_OK;
    }
    for (const struct trace_format *const *format = trace_formats; *format != NULL; format++)
        if (is_format(*format, first_line)) {
            reader->format = *format;
            return ERROR_OK;
        }
    struct error error = input_error(reader->input, first_line, (struct text){NULL, 0},
                                     "the trace's format cannot be told from its first line");
    struct buffer names = {0};
    for (size_t i = 0; trace_format_names[i] != NULL; i++)
        buffer_format(&names, "%s%s", i == 0 ? "" : ", ", trace_format_names[i]);
    error_set_hint(&error, "name it: %s", buffer_c_string(&names));
    buffer_release(&names);
    return error;
}

static bool is_blank(struct text line)
{
    return line.length == 0 || ((unsigned char)line.at[0] <= ' ' && text_trim(line).length == 0);
}

/* The next line that is not blank. */
static struct error line_next(struct reader *reader, struct text *line, bool *has)
{
    do
        TRY(input_line(reader->input, line, has));
    while (*has && is_blank(*line));
    return ERROR_OK;
}

enum { NO_TRACE_BYTES_MAX = 1 << 20 };

/* JSON files of Windtunnel that are no traces, by a key at their root: what they are, and what to type. */
static const struct {
    const char *key, *what, *hint;
} no_traces[] = {
    {"workload", "a scenario", "to run it, type: windtunnel run "},
    {"cluster", "a scenario", "to run it, type: windtunnel run "},
    {"pools", "a cluster", "to run a trace on it, type: windtunnel run --trace FILE --cluster "},
};

/* Refuse a JSON file of Windtunnel that is no trace, and say what it is. */
static struct error refuse_no_trace(const char *path, struct text first_line)
{
    struct json_doc *doc;
    struct error error, sticky = ERROR_OK;
    if (text_trim(first_line).at[0] != '{' || input_is_once(path))
        return ERROR_OK;
    error = json_file_read(&doc, path, NO_TRACE_BYTES_MAX, ERROR_DATA, NULL);
    if (!error_is(error)) {
        struct json_value root = json_doc_root(doc, &sticky);
        struct json_object object;
        json_object_open(&object, &root);
        for (size_t i = 0; i < sizeof no_traces / sizeof *no_traces && !error_is(error); i++)
            if (!json_has(&object, "jobs") && json_has(&object, no_traces[i].key)) {
                error = error_new(ERROR_USAGE, "%s is %s, not a trace", path, no_traces[i].what);
                error_set_hint(&error, "%s%s", no_traces[i].hint, path);
            }
        error_release(&sticky);
        json_doc_free(doc);
    } else {
        error_release(&error);
    }
    return error;
}

/* Is it jobs.csv.zst of a record, of any version?  That tells how jobs ended, not all that was submitted. */
static bool is_record(struct text first_line)
{
    static const char *const columns[] = {"submit_s", "eligible_s", "wait_total_s", "is_counted"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        struct text rest = first_line, name;
        bool is_there = false;
        while (!is_there && text_cut(&rest, ',', &name))
            is_there = text_is(name, columns[i]);
        if (!is_there)
            return false;
    }
    return true;
}

static struct error record_error(const struct reader *reader)
{
    const char *path = reader->spec->trace, *slash = strrchr(path, '/');
    struct error error = error_new(ERROR_DATA,
                                   "%s is the jobs of a record: what became of them, not all of what "
                                   "was submitted",
                                   path);
    error_set_hint(&error, "type 'windtunnel trace freeze %.*s --out jobs.jsonl.zst' and replay that",
                   slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    return error;
}

static struct error header_read(struct reader *reader, struct text line)
{
    const struct trace_format *format = reader->format;
    csv_init(&reader->csv, format->columns, format->column_count);
    reader->csv.has_quotes = format->separator == 0;
    if (format->separator != 0)
        reader->csv.separator = format->separator;
    reader->csv.texts = format->texts;
    return csv_header(&reader->csv, &(struct line){reader->input, line});
}

static struct error reader_begin(struct reader *reader)
{
    struct text line;
    bool has, is_header;
    TRY(line_next(reader, &line, &has));
    if (!has)
        return error_new(ERROR_DATA, "%s holds no jobs: it is empty", reader->spec->trace);
    TRY(refuse_no_trace(reader->spec->trace, line));
    if (is_record(line))
        return record_error(reader);
    TRY(format_find(reader, line));
    if (reader->spec->gpu_type != NULL && !reader->format->has_gpu_types)
        return error_new(ERROR_CONFIG,
                         "traces of the format '%s' have no run times by GPU type: leave out the GPU type",
                         reader->format->name);
    if (reader->format->state_bytes > 0)
        reader->state = mem_zalloc(1, reader->format->state_bytes);
    reader->usual = (struct trace_row){false, job_default(), truth_default(), NULL};
    is_header = reader->format->columns != NULL;
    if (is_header)
        TRY(header_read(reader, line));
    if (reader->format->on_first_line != NULL)
        TRY(reader->format->on_first_line(reader, line, &is_header));
    TRY(side_files_check(reader->sides, reader->format->name));
    reader->first_line = line;
    reader->has_first_line = !is_header;
    return ERROR_OK;
}

struct error reader_open(struct reader *reader, const struct workload_spec *spec)
{
    assert(spec->trace != NULL && reader->queues != NULL && reader->arena != NULL && reader->sides != NULL);
    reader->spec = spec;
    side_files_begin(reader->sides);
    TRY(input_open(&reader->input, spec->trace, NULL));
    struct error error = reader_begin(reader);
    if (error_is(error))
        reader_close(reader);
    return error;
}

void reader_put_back(struct reader *reader, struct text rest)
{
    reader->first_line = rest;
    reader->has_first_line = rest.length > 0;
}

bool reader_forgives(struct reader *reader, struct error *error)
{
    if (error->kind != ERROR_DATA || reader->bad_line_count == reader->spec->bad_lines_max)
        return false;
    reader->bad_line_count++;
    if (reader->spec->bad_lines.on_bad_line != NULL)
        reader->spec->bad_lines.on_bad_line(reader->spec->bad_lines.self, error);
    error_release(error);
    return true;
}

enum { ROWS_BETWEEN = 1 << 14 }; /* calls of the listener: some milliseconds of reading */

static struct error line_read(struct reader *reader, const struct line *line, struct trace_row *row)
{
    if (reader->csv.columns != NULL)
        TRY(csv_row(&reader->csv, line));
    return reader->format->on_line(reader, line, row);
}

struct error reader_next(struct reader *reader, struct trace_row *row, bool *has)
{
    while (true) {
        struct line line = {reader->input, reader->first_line};
        *has = true;
        if (!reader->has_first_line)
            TRY(line_next(reader, &line.text, has));
        reader->has_first_line = false;
        if (!*has && reader->format->on_end == NULL)
            return ERROR_OK;
        *row = reader->usual;
        bool is_line = *has;
        struct error error = is_line ? line_read(reader, &line, row) : reader->format->on_end(reader, row, has);
        if (error_is(error)) {
            if (is_line && reader_forgives(reader, &error))
                continue;
            return error;
        }
        if (!*has)
            return ERROR_OK;
        if (!row->is_nothing && row->why == NULL && reader_leaves_out(reader, &row->truth))
            row->why = "they failed or were cancelled";
        reader->row_count += !row->is_nothing;
        if (reader->row_count % ROWS_BETWEEN == 0 && reader->spec->reading.on_rows != NULL)
            reader->spec->reading.on_rows(reader->spec->reading.self, reader->row_count,
                                          input_done_ratio(reader->input));
        if (row->is_nothing)
            continue;
        if (row->why == NULL)
            return ERROR_OK;
        reason_tally_add(&reader->skipped, row->why);
    }
}

const struct node_ask *reader_nodes(const struct reader *reader, const struct node_ask *draft)
{
    return node_asks_own(reader->asks, node_ask_make(reader->arena, reader->cluster, draft));
}

void reader_tell_columns(struct reader *reader, struct text header)
{
    static const char what[] = "columns are not read: ";
    struct buffer text = {0};
    if (!reader->spec->tells_unread)
        return;
    buffer_string(&text, what);
    const uint32_t count = csv_unwanted(&reader->csv, header, &text);
    if (text.length >= REASON_BYTES) {
        text.length = REASON_BYTES - sizeof " ...";
        buffer_string(&text, " ...");
    }
    for (uint32_t i = 0; i < count; i++)
        reason_tally_add(&reader->unread, buffer_c_string(&text));
    buffer_release(&text);
}

void reader_close(struct reader *reader)
{
    if (reader->state != NULL && reader->format->on_close != NULL)
        reader->format->on_close(reader);
    mem_free(reader->state);
    csv_release(&reader->csv);
    trace_ids_release(&reader->ids);
    input_close(reader->input);
    reader->state = NULL;
    reader->input = NULL;
}
