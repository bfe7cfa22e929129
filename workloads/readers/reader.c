/* workloads/readers/reader.c -- what all formats use, and the rows one after another. */
#include "workloads/readers/reader.h"

#include <string.h>

#include "base/buffer.h"
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

static bool is_blank(struct text line)
{
    return line.length == 0 || ((unsigned char)line.at[0] <= ' ' && text_trim(line).length == 0);
}

struct error reader_line(struct reader *reader, struct text *line, bool *has)
{
    do
        TRY(input_line(reader->input, line, has));
    while (*has && is_blank(*line));
    return ERROR_OK;
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
            TRY(reader_line(reader, &line.text, has));
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
