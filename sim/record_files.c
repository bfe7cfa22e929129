/* sim/record_files.c -- rows as lines of CSV. */
#include "sim/record_files.h"

#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "sim/record_line.h"

enum record_file { FILE_JOBS, FILE_ATTEMPTS, FILE_TIMELINE, FILE_COUNT };

/* The middle of a job's line, from queue to reason: few of them are different in a run. */
enum { MIDDLE_SLOTS = 64, MIDDLE_BYTES_MAX = 160, MIDDLE_NAME_MAX = 48 };

struct middle {
    char queue[MIDDLE_NAME_MAX], user[MIDDLE_NAME_MAX];
    int32_t priority;
    uint32_t members;
    uint8_t class, model, state, reason;
    size_t length; /* 0: none */
    char text[MIDDLE_BYTES_MAX];
};

struct record_files {
    struct output *outputs[FILE_COUNT];
    struct middle middles[MIDDLE_SLOTS];
    struct text models[UINT8_MAX]; /* names borrowed */
    size_t model_count, model_room;
};

/* Numbers and our own words in a row: no field of either is wider than LINE_NUMBER_CHARS_MAX. */
enum { JOB_FIELDS_MAX = 30, ATTEMPT_FIELDS_MAX = 11, TIMELINE_FIELDS_MAX = 20 };

/* ---- fields ---- */

/* The most a text takes: quotes around, each byte doubled, the comma. */
static size_t text_room(struct text text)
{
    return 2 * text.length + 3;
}

/* Any text, after RFC 4180 (as buffer_csv). */
static void field_text(struct line *line, struct text text)
{
    bool is_plain = true;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        line->at[i] = c;
        if (c == ',' || c == '"' || c == '\n' || c == '\r')
            is_plain = false;
    }
    if (is_plain) {
        line->at += text.length;
        *line->at++ = ',';
        return;
    }
    *line->at++ = '"';
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '"')
            *line->at++ = '"';
        *line->at++ = text.at[i];
    }
    *line->at++ = '"';
    *line->at++ = ',';
}

/* A word of our own, which needs no quotes. */
static void field_word(struct line *line, const char *word)
{
    line_word(line, word, strlen(word));
}

static void field_reason(struct line *line, uint8_t reason)
{
    field_word(line, reason == REASON_NONE ? "" : reason_name(reason));
}

static void field_model(const struct record_files *files, struct line *line, uint8_t model)
{
    if (model == 255)
        field_word(line, "");
    else if (model < files->model_count)
        field_text(line, files->models[model]);
    else
        line_uint(line, model);
}

/* ---- rows ---- */

static void job_times(struct line *line, const struct job_row *row)
{
    line_ns(line, row->submit);
    line_time(line, row->eligible);
    line_time(line, row->start);
    line_time(line, row->end);
    line_ns(line, row->run);
    line_ns(line, row->work);
    line_ns(line, row->work_asked);
}

static void job_gpus(struct line *line, const struct job_row *row)
{
    line_milli(line, row->gpu_milli);
    if (row->sm_active_milli == UINT16_MAX)
        *line->at++ = ',';
    else
        line_milli(line, row->sm_active_milli);
}

static void new_middle(const struct record_files *files, struct line *line,
                       const struct job_row *row, struct text queue, struct text user)
{
    field_text(line, queue);
    field_text(line, user);
    field_word(line, job_class_names[row->class]);
    line_int(line, row->priority);
    line_uint(line, row->members);
    field_model(files, line, row->model);
    field_word(line, job_end_names[row->state]);
    field_reason(line, row->reason);
}

/* Compared by content: what a row points to is its owner's. */
static bool is_same_middle(const struct middle *middle, const struct job_row *row)
{
    return middle->length != 0 && middle->class == row->class &&
           middle->priority == row->priority && middle->members == row->members &&
           middle->model == row->model && middle->state == row->state &&
           middle->reason == row->reason && strcmp(middle->queue, row->queue) == 0 &&
           strcmp(middle->user, row->user) == 0;
}

static void keep_middle(struct middle *middle, const struct job_row *row, struct text queue,
                        struct text user, struct text text)
{
    middle->length = 0;
    if (text.length > MIDDLE_BYTES_MAX || queue.length >= MIDDLE_NAME_MAX ||
        user.length >= MIDDLE_NAME_MAX)
        return;
    memcpy(middle->queue, row->queue, queue.length + 1);
    memcpy(middle->user, row->user, user.length + 1);
    memcpy(middle->text, text.at, text.length);
    middle->priority = row->priority;
    middle->members = row->members;
    middle->class = row->class;
    middle->model = row->model;
    middle->state = row->state;
    middle->reason = row->reason;
    middle->length = text.length;
}

static void job_middle(struct record_files *files, struct line *line, const struct job_row *row,
                       struct text queue, struct text user)
{
    size_t last = queue.length > 0 ? (unsigned char)queue.at[queue.length - 1] : 0;
    struct middle *middle =
        &files->middles[(last * 7 + row->class + row->members * 3 + row->state * 5) % MIDDLE_SLOTS];
    if (is_same_middle(middle, row)) {
        memcpy(line->at, middle->text, middle->length);
        line->at += middle->length;
        return;
    }
    const char *start = line->at;
    new_middle(files, line, row, queue, user);
    keep_middle(middle, row, queue, user, (struct text){start, (size_t)(line->at - start)});
}

static void job_outcome(struct line *line, const struct job_row *row)
{
    line_ns(line, row->wait);
    line_ns(line, row->wait_total);
    line_uint(line, row->evictions);
    line_ns(line, row->lost_gpu_ns);
    line_ns(line, row->overhead_gpu_ns);
    line_uint(line, row->is_counted);
}

/* Microseconds as seconds: GPU time that nanoseconds have no room for. */
static void field_us(struct line *line, int64_t us)
{
    line_uint(line, (uint64_t)us / 1000000);
    uint64_t fraction = (uint64_t)us % 1000000;
    if (fraction == 0)
        return;
    line->at[-1] = '.';
    for (uint64_t unit = 100000; fraction > 0; fraction %= unit, unit /= 10)
        *line->at++ = (char)('0' + fraction / unit);
    *line->at++ = ',';
}

/* What few jobs have: empty is 0, or does not apply. */
static void job_changes(struct line *line, const struct job_row *row)
{
    field_word(line, row->start != TIME_NEVER ? record_source_names[row->source] : "");
    if (row->resizes == 0 && row->preempted_gpu_ns == 0 && row->evictions_wasted == 0) {
        line_word(line, ",,,", 3);
        return;
    }
    line_uint(line, row->resizes);
    if (row->resizes > 0)
        field_us(line, row->held_gpu_us);
    else
        field_word(line, "");
    line_ns(line, row->preempted_gpu_ns);
    line_uint(line, row->evictions_wasted);
}

/* The name is left out where it is the number just written. */
static void job_name(struct line *line, struct text name, size_t number_length)
{
    bool is_number = name.length == number_length &&
                     memcmp(line->at - number_length - 1, name.at, number_length) == 0;
    field_text(line, is_number ? (struct text){"", 0} : name);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct record_files *files = self;
    struct buffer *buffer = output_buffer(files->outputs[FILE_JOBS]);
    struct text name = text_of(row->name), queue = text_of(row->queue), user = text_of(row->user);
    size_t room = text_room(name) + text_room(queue) + text_room(user) + files->model_room;
    struct line line = line_begin(buffer, JOB_FIELDS_MAX, room);
    const char *start = line.at;
    line_uint(&line, row->id);
    job_name(&line, name, (size_t)(line.at - start) - 1);
    job_times(&line, row);
    job_gpus(&line, row);
    job_middle(files, &line, row, queue, user);
    job_outcome(&line, row);
    job_changes(&line, row);
    line_end(&line, buffer);
    return output_flush_if_full(files->outputs[FILE_JOBS]);
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct record_files *files = self;
    struct buffer *buffer = output_buffer(files->outputs[FILE_ATTEMPTS]);
    struct text placement = text_of(row->placement);
    struct line line = line_begin(buffer, ATTEMPT_FIELDS_MAX, text_room(placement));
    line_uint(&line, row->id);
    line_uint(&line, row->attempt);
    line_ns(&line, row->start);
    line_ns(&line, row->end);
    line_ns(&line, row->saved);
    line_milli(&line, row->gpu_milli);
    field_text(&line, placement);
    field_word(&line, attempt_end_names[row->why]);
    field_reason(&line, row->reason);
    line_ns(&line, row->lost);
    line_uint(&line, row->is_partial);
    line_end(&line, buffer);
    return output_flush_if_full(files->outputs[FILE_ATTEMPTS]);
}

static void sample_integrals(struct buffer *buffer, const struct timeline_row *row)
{
    const double integrals[] = {row->allocated_gpu_s,   row->active_gpu_s,  row->reserved_gpu_s,
                                row->down_gpu_s,        row->pending_job_s, row->running_job_s,
                                row->partial_gang_gpu_s};
    for (size_t i = 0; i < sizeof integrals / sizeof integrals[0]; i++) {
        if (i > 0)
            buffer_char(buffer, ',');
        buffer_double(buffer, integrals[i]);
    }
    buffer_char(buffer, '\n');
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct record_files *files = self;
    struct buffer *buffer = output_buffer(files->outputs[FILE_TIMELINE]);
    struct line line = line_begin(buffer, TIMELINE_FIELDS_MAX, 0);
    line_ns(&line, row->time);
    line_uint(&line, row->pending_jobs);
    line_uint(&line, row->running_jobs);
    line_milli(&line, row->pending_gpu_milli);
    line_milli(&line, row->allocated_gpu_milli);
    line_milli(&line, row->active_gpu_milli);
    line_milli(&line, row->reserved_gpu_milli);
    line_milli(&line, row->down_gpu_milli);
    line_uint(&line, row->submitted);
    line_uint(&line, row->started);
    line_uint(&line, row->ended);
    line_uint(&line, row->evicted);
    line_uint(&line, row->rejected);
    buffer->length = (size_t)(line.at - buffer->bytes);
    sample_integrals(buffer, row);
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
    for (size_t m = 0; model_names != NULL && model_names[m] != NULL && m < UINT8_MAX; m++) {
        files->models[m] = text_of(model_names[m]);
        files->model_count = m + 1;
        if (text_room(files->models[m]) > files->model_room)
            files->model_room = text_room(files->models[m]);
    }
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
    for (int which = 0; which < FILE_COUNT && !error_is(error); which++)
        error = output_seal((*files)->outputs[which]);
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
