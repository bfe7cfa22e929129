/* sim/record_files.c -- rows as lines of CSV. */
#include "sim/record_files.h"

#include "base/mem.h"
#include "base/output.h"

enum record_file { FILE_JOBS, FILE_ATTEMPTS, FILE_TIMELINE, FILE_COUNT };

struct record_files {
    struct output *outputs[FILE_COUNT];
    const char *const *model_names;
    size_t model_count;
};

/* ---- fields: each writes its value and the comma behind it ---- */

static void field_int(struct buffer *line, int64_t value)
{
    buffer_int(line, value);
    buffer_char(line, ',');
}

/* `value` / `scale` as a decimal; 0 is common and quick. */
static void field_scaled(struct buffer *line, int64_t value, int64_t scale)
{
    if (value == 0)
        buffer_char(line, '0');
    else
        buffer_scaled(line, value, scale);
    buffer_char(line, ',');
}

static void field_time(struct buffer *line, time_ns time)
{
    if (time == TIME_NEVER)
        buffer_char(line, ',');
    else
        field_scaled(line, time, TIME_NS_PER_S);
}

static void field_milli(struct buffer *line, int64_t milli)
{
    field_scaled(line, milli, 1000);
}

static void field_double(struct buffer *line, double value)
{
    buffer_double(line, value);
    buffer_char(line, ',');
}

static void field_text(struct buffer *line, const char *text)
{
    buffer_csv(line, text_of(text));
    buffer_char(line, ',');
}

/* A word of our own, which needs no quotes. */
static void field_word(struct buffer *line, const char *word)
{
    buffer_string(line, word);
    buffer_char(line, ',');
}

static void field_reason(struct buffer *line, uint8_t reason)
{
    field_word(line, reason == REASON_NONE ? "" : reason_name(reason));
}

static void field_model(const struct record_files *files, struct buffer *line, uint8_t model)
{
    if (model == 255)
        buffer_char(line, ',');
    else if (model < files->model_count)
        field_text(line, files->model_names[model]);
    else
        field_int(line, model);
}

/* The comma behind the last field becomes the end of the line. */
static void line_end(struct buffer *line)
{
    line->bytes[line->length - 1] = '\n';
}

/* ---- rows ---- */

static struct error on_job(void *self, const struct job_row *row)
{
    struct record_files *files = self;
    struct buffer *line = output_buffer(files->outputs[FILE_JOBS]);
    field_int(line, row->id);
    field_text(line, row->name);
    field_text(line, row->queue);
    field_text(line, row->user);
    field_word(line, job_class_names[row->class]);
    field_int(line, row->priority);
    field_milli(line, row->gpu_milli);
    field_int(line, row->members);
    field_model(files, line, row->model);
    field_time(line, row->submit);
    field_time(line, row->eligible);
    field_time(line, row->start);
    field_time(line, row->end);
    field_word(line, job_end_names[row->state]);
    field_reason(line, row->reason);
    field_time(line, row->wait);
    field_time(line, row->wait_total);
    field_time(line, row->run);
    field_time(line, row->work);
    field_time(line, row->work_asked);
    field_int(line, row->evictions);
    field_time(line, row->lost_gpu_ns);
    field_time(line, row->overhead_gpu_ns);
    field_milli(line, row->sm_active_milli);
    field_int(line, row->is_counted);
    line_end(line);
    return output_flush_if_full(files->outputs[FILE_JOBS]);
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct record_files *files = self;
    struct buffer *line = output_buffer(files->outputs[FILE_ATTEMPTS]);
    field_int(line, row->id);
    field_int(line, row->attempt);
    field_time(line, row->start);
    field_time(line, row->end);
    field_milli(line, row->gpu_milli);
    field_text(line, row->placement);
    field_word(line, attempt_end_names[row->why]);
    field_reason(line, row->reason);
    field_time(line, row->saved);
    field_time(line, row->lost);
    line_end(line);
    return output_flush_if_full(files->outputs[FILE_ATTEMPTS]);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct record_files *files = self;
    struct buffer *line = output_buffer(files->outputs[FILE_TIMELINE]);
    field_time(line, row->time);
    field_int(line, row->pending_jobs);
    field_int(line, row->running_jobs);
    field_milli(line, row->pending_gpu_milli);
    field_milli(line, row->allocated_gpu_milli);
    field_milli(line, row->active_gpu_milli);
    field_milli(line, row->reserved_gpu_milli);
    field_milli(line, row->down_gpu_milli);
    field_int(line, (int64_t)row->submitted);
    field_int(line, (int64_t)row->started);
    field_int(line, (int64_t)row->ended);
    field_int(line, (int64_t)row->evicted);
    field_int(line, (int64_t)row->rejected);
    field_double(line, row->allocated_gpu_s);
    field_double(line, row->active_gpu_s);
    field_double(line, row->reserved_gpu_s);
    field_double(line, row->down_gpu_s);
    field_double(line, row->pending_job_s);
    field_double(line, row->running_job_s);
    field_double(line, row->partial_gang_gpu_s);
    line_end(line);
    return output_flush_if_full(files->outputs[FILE_TIMELINE]);
}

/* ---- life ---- */

static struct error open_one(struct record_files *files, enum record_file which, const char *folder)
{
    static const char *const names[FILE_COUNT] = {
        [FILE_JOBS] = RECORD_JOBS_FILE,
        [FILE_ATTEMPTS] = RECORD_ATTEMPTS_FILE,
        [FILE_TIMELINE] = RECORD_TIMELINE_FILE,
    };
    static const char *const columns[FILE_COUNT] = {
        [FILE_JOBS] = record_job_columns,
        [FILE_ATTEMPTS] = record_attempt_columns,
        [FILE_TIMELINE] = record_timeline_columns,
    };
    struct buffer path = {0};
    buffer_string(&path, folder);
    buffer_char(&path, '/');
    buffer_string(&path, names[which]);
    struct error error = output_open(&files->outputs[which], buffer_c_string(&path), OUTPUT_ZSTD);
    buffer_release(&path);
    TRY(error);
    buffer_string(output_buffer(files->outputs[which]), columns[which]);
    buffer_char(output_buffer(files->outputs[which]), '\n');
    return ERROR_OK;
}

struct error record_files_open(struct record_files **out, const char *folder,
                               const char *const *model_names)
{
    *out = NULL;
    TRY(output_make_folder(folder));
    struct record_files *files = mem_zalloc(1, sizeof *files);
    files->model_names = model_names;
    while (model_names != NULL && model_names[files->model_count] != NULL)
        files->model_count++;
    for (int which = 0; which < FILE_COUNT; which++) {
        struct error error = open_one(files, (enum record_file)which, folder);
        if (error_is(error)) {
            record_files_discard(&files);
            return error;
        }
    }
    *out = files;
    return ERROR_OK;
}

struct record_sink record_files_sink(struct record_files *files)
{
    return (struct record_sink){
        .self = files,
        .on_job = on_job,
        .on_attempt = on_attempt,
        .on_sample = on_sample,
    };
}

struct error record_files_commit(struct record_files **files)
{
    struct error error = ERROR_OK;
    for (int which = FILE_COUNT - 1; which >= 0 && !error_is(error); which--)
        error = output_commit(&(*files)->outputs[which]);
    record_files_discard(files); /* what an error left uncommitted */
    return error;
}

void record_files_discard(struct record_files **files)
{
    if (*files == NULL)
        return;
    for (int which = 0; which < FILE_COUNT; which++)
        output_discard(&(*files)->outputs[which]);
    mem_free(*files);
    *files = NULL;
}
