/* workloads/readers/formats.c -- all formats; opens a trace in that which it is of. */
#include <assert.h>
#include <string.h>

#include "base/json_file.h"
#include "workloads/readers/reader.h"

extern const struct trace_format trace_native, trace_batsim, trace_jsonl, trace_philly, trace_openb, trace_swf,
    trace_helios, trace_seren, trace_kalos, trace_pai, trace_spot, trace_muri, trace_chronus, trace_sacct,
    trace_philly_log, trace_azure_llm, trace_burstgpt, trace_mooncake, trace_gavel, trace_pollux, trace_borg,
    trace_columns;

/* A new format is added to both arrays. */
const char *const trace_format_names[] = {"native",  "batsim", "jsonl",      "philly",    "openb",    "swf",
                                          "helios",  "kalos",  "seren",      "pai",       "spot",     "muri",
                                          "chronus", "sacct",  "philly-log", "azure-llm", "burstgpt", "mooncake",
                                          "gavel",   "pollux", "borg",       "columns",   NULL};
const struct trace_format *const trace_formats[] = {&trace_native,
                                                    &trace_batsim,
                                                    &trace_jsonl,
                                                    &trace_philly,
                                                    &trace_openb,
                                                    &trace_swf,
                                                    &trace_helios,
                                                    &trace_kalos,
                                                    &trace_seren,
                                                    &trace_pai,
                                                    &trace_spot,
                                                    &trace_muri,
                                                    &trace_chronus,
                                                    &trace_sacct,
                                                    &trace_philly_log,
                                                    &trace_azure_llm,
                                                    &trace_burstgpt,
                                                    &trace_mooncake,
                                                    &trace_gavel,
                                                    &trace_pollux,
                                                    &trace_borg,
                                                    &trace_columns,
                                                    NULL};

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
    TRY(reader_line(reader, &line, &has));
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
