/* sim/record/record_files.c -- rows as lines of CSV. */
#include "sim/record/record_files.h"

#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "sim/record/record_line.h"
#include "sim/record/record_text.h"

enum record_file { FILE_JOBS, FILE_ATTEMPTS, FILE_TIMELINE, FILE_COUNT };
_Static_assert((int)FILE_COUNT == RECORD_FILE_COUNT, "the header counts them");

/* The middle of a job's line, from queue to source.  Few different ones occur in a run, so their texts are kept, by
 * slot. */
enum { MIDDLE_SLOTS = 256 };

struct middle {
    const char *queue, *user, *workload_class; /* borrowed; see the law of sim/record/record.h */
    int32_t priority;
    uint32_t members;
    uint8_t class, model, asked_model, state, reason, source;
    bool is_counted;
    struct buffer text; /* empty: none yet */
};

/* Times that occur more than once in a row or from row to row. */
enum { TIME_SUBMIT, TIME_START, TIME_END, TIME_RUN, TIME_WAIT, TIME_OTHER, TIME_COUNT };

/* The text of why an attempt ended.  Nearly all attempts end for the same reason. */
struct why {
    uint8_t why, reason;
    struct buffer text; /* empty: none yet */
};

struct record_files {
    struct output *outputs[FILE_COUNT];
    struct line_time times[TIME_COUNT];
    struct middle middles[MIDDLE_SLOTS];
    struct why why;
    struct text models[UINT8_MAX]; /* names borrowed */
    size_t model_count, model_room;
};

/* Bounds of a row's fields that are numbers or names of ours: none is wider than LINE_NUMBER_CHARS_MAX. */
enum {
    JOB_FIELDS_MAX = 65,
    REASON_CHARS_MAX = 32, /* of a reason's name */
    MIDDLE_FIELDS_MAX = 12,
    ATTEMPT_FIELDS_MAX = 11,
    TIMELINE_FIELDS_MAX = 22
};

/* ---- fields ---- */

/* A name of ours, which needs no quotes. */
static char *field_word(char *at, const char *word)
{
    return line_word(at, word, strlen(word));
}

static char *field_reason(char *at, uint8_t reason)
{
    return field_word(at, reason == REASON_NONE ? "" : reason_name(reason));
}

static char *field_model(const struct record_files *files, char *at, uint8_t model)
{
    if (model == MODEL_ANY)
        return field_word(at, RECORD_ANY);
    return model < files->model_count ? line_text(at, files->models[model]) : line_uint(at, model);
}

/* ---- rows of jobs ---- */

/* Write a time, with the digits kept in times[here] if that holds the same time. */
static char *field_again(char *at, struct line_time *times, int here, time_ns ns)
{
    return line_ns(at, times[here].ns == ns ? &times[here] : &times[TIME_OTHER], ns);
}

static char *job_times(struct line_time *times, char *at, const struct job_row *row, struct text name)
{
    struct line_time *submit = &times[times[TIME_START].ns == row->submit ? TIME_START : TIME_SUBMIT];
    at = line_ns(at, submit, row->submit);
    at = line_uint(at, row->id);
    if (row->eligible == row->submit)
        at = line_ns(at, submit, row->eligible);
    else
        at = line_moment(at, &times[TIME_OTHER], row->eligible);
    at = name.length != 0 ? line_text(at, name) : line_uint(at, row->id);
    at = line_moment(at, &times[TIME_START], row->start);
    at = line_ns(at, &times[TIME_RUN], row->run);
    at = field_again(at, times, TIME_RUN, row->work);
    return field_again(at, times, TIME_RUN, row->work_asked);
}

/* Microseconds as seconds, for GPU times too large for int64 nanoseconds. */
static char *field_us(char *at, int64_t us)
{
    at = line_uint(at, (uint64_t)us / 1000000);
    return line_rest(at - 1, line_fraction((uint32_t)((uint64_t)us % 1000000) * 100));
}

/* GPU time as GPU-seconds: in units of which `scale`, a power of ten with so many zeros, make one.  They may be too
 * many for line_ns. */
static char *field_gpu_time(char *at, gpu_time_ns units, uint64_t scale, unsigned zeros)
{
    const gpu_time_ns magnitude = units < 0 ? -units : units;
    *at = '-';
    at += units < 0;
    at = line_digits(at, (uint64_t)(magnitude / scale), 1);
    const uint64_t rest = (uint64_t)(magnitude % scale);
    if (rest != 0) {
        *at++ = '.';
        at = line_digits(at, rest, zeros);
        while (at[-1] == '0')
            at--;
    }
    *at++ = ',';
    return at;
}

/* GPU time held while it ran. */
static char *job_held(struct line_time *times, char *at, const struct job_row *row)
{
    const gpu_time_ns held = row->held_milli_ns;
    if (held <= INT64_MAX && (int64_t)held % GPU_MILLI == 0)
        return field_again(at, times, TIME_RUN, (int64_t)held / GPU_MILLI);
    return field_gpu_time(at, held, RECORD_MILLI_NS_PER_GPU_S, 12);
}

/* A rejected job has no waiting times, except where it was recorded. */
static char *job_waits(struct line_time *times, char *at, const struct job_row *row)
{
    if (row->state == END_REJECTED) {
        at = line_word(at, ",", 1);
    } else {
        at = line_ns(at, &times[TIME_WAIT], row->wait);
        at = field_again(at, times, TIME_WAIT, row->wait_total);
    }
    return row->has_recorded_wait ? line_ns(at, &times[TIME_WAIT], row->recorded_wait) : field_word(at, "");
}

static char *job_gpus(char *at, const struct job_row *row)
{
    at = line_milli(at, row->gpu_milli);
    if (row->sm_active_milli == UINT16_MAX)
        return field_word(at, "");
    return line_milli(at, row->sm_active_milli);
}

/* RECORD_SOURCE_COUNT: the job never started. */
static uint8_t source_of(const struct job_row *row)
{
    return row->start != TIME_NEVER ? row->source : RECORD_SOURCE_COUNT;
}

static bool is_middle_of(const struct middle *middle, const struct job_row *row)
{
    return middle->text.length != 0 && middle->queue == row->queue && middle->user == row->user &&
           middle->workload_class == row->workload_class && middle->class == row->class &&
           middle->priority == row->priority && middle->members == row->members && middle->model == row->model &&
           middle->asked_model == row->asked_model && middle->state == row->state && middle->reason == row->reason &&
           middle->source == source_of(row) && middle->is_counted == row->is_counted;
}

static void make_middle(const struct record_files *files, struct middle *middle, const struct job_row *row)
{
    struct text queue = text_of(row->queue), user = text_of(row->user);
    struct text kind = text_of(row->workload_class != NULL ? row->workload_class : job_class_names[row->class]);
    middle->text.length = 0;
    middle->queue = row->queue;
    middle->user = row->user;
    middle->workload_class = row->workload_class;
    middle->priority = row->priority;
    middle->members = row->members;
    middle->class = row->class;
    middle->model = row->model;
    middle->asked_model = row->asked_model;
    middle->state = row->state;
    middle->reason = row->reason;
    middle->source = source_of(row);
    middle->is_counted = row->is_counted;
    size_t room = line_text_room(queue) + line_text_room(user) + line_text_room(kind) + 2 * files->model_room;
    char *at = buffer_reserve(&middle->text, MIDDLE_FIELDS_MAX * LINE_NUMBER_CHARS_MAX + room);
    at = line_text(at, queue);
    at = line_text(at, user);
    at = field_word(at, job_class_names[row->class]);
    at = line_text(at, kind);
    at = line_int(at, row->priority);
    at = line_uint(at, row->members);
    at = field_model(files, at, row->model);
    at = field_model(files, at, row->asked_model);
    at = field_word(at, job_end_names[row->state]);
    at = field_reason(at, row->reason);
    at = line_uint(at, row->is_counted);
    at = field_word(at, row->start != TIME_NEVER ? record_source_names[row->source] : "");
    middle->text.length = (size_t)(at - middle->text.bytes);
}

static const struct buffer *job_middle(struct record_files *files, const struct job_row *row)
{
    /* Hash of the names' addresses.  It only suggests a slot. */
    size_t queue = ((uintptr_t)row->queue >> 4) + ((uintptr_t)row->workload_class >> 2);
    struct middle *middle =
        &files->middles[(queue * 7 + row->class + row->members * 3 + row->state * 5) % MIDDLE_SLOTS];
    if (!is_middle_of(middle, row))
        make_middle(files, middle, row);
    return &middle->text;
}

static bool is_undisturbed(const struct job_row *row)
{
    return row->evictions == 0 && row->lost_gpu_ns == 0 && row->overhead_gpu_ns == 0 && row->resizes == 0 &&
           row->preempted_gpu_ns == 0 && row->evictions_wasted == 0;
}

/* Empty without communication; its rates are empty also where they are means over no time. */
static char *job_communication(struct line_time *times, char *at, const struct job_row *row)
{
    static const char nothing[] = ",,,,,,";
    if (!job_row_communicates(row))
        return line_word(at, nothing, sizeof nothing - 1);
    at = line_text(at, text_of(row->communication));
    at = field_us(at, row->exposed_gpu_us);
    at = field_us(at, row->slowed_gpu_us);
    at = field_us(at, row->network_gpu_us);
    if (row->network_gpu_us == 0)
        at = field_word(at, "");
    else
        at = line_ns(at, &times[TIME_OTHER], row->network_bytes_per_s); /* in 10^9 */
    at = field_us(at, row->planned_gpu_us);
    return row->planned_gpu_us == 0 ? field_word(at, "") : field_us(at, row->mfu_micro);
}

/* Empty without declared activity. */
static char *job_activity(char *at, const struct job_row *row)
{
    if (!job_row_is_active(row))
        return line_word(at, ",,", 2);
    at = line_text(at, text_of(row->activity));
    at = field_us(at, row->active_gpu_us);
    return field_us(at, row->idle_held_gpu_us);
}

static char *job_faults(struct line_time *times, char *at, const struct fault_row *faults)
{
    static const char nothing[] = ",,,,,";
    if (faults == NULL)
        return line_word(at, nothing, sizeof nothing - 1);
    at = line_uint(at, faults->own);
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        at = line_uint(at, faults->killed[cause]);
    at = line_ns(at, &times[TIME_OTHER], faults->lost_gpu_ns);
    return line_milli(at, faults->blast_gpu_milli);
}

static char *job_idle(char *at, const struct idle_row *idle)
{
    static const char nothing[] = ",,,,";
    if (idle == NULL)
        return line_word(at, nothing, sizeof nothing - 1);
    at = line_uint(at, idle->notified);
    at = line_uint(at, idle->shrunk);
    at = line_uint(at, idle->evicted);
    at = line_uint(at, idle->disturbed);
    return field_us(at, idle->given_gpu_us);
}

/* Empty without cold starts.  Bytes are written in 10^9. */
static char *job_pulls(struct line_time *times, char *at, const struct pull_row *pulls)
{
    if (pulls == NULL)
        return line_word(at, ",,,", 3);
    if (pulls->ready == TIME_NEVER)
        at = field_word(at, "");
    else
        at = line_ns(at, &times[TIME_OTHER], pulls->ready);
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        at = line_ns(at, &times[TIME_OTHER], pulls->bytes[source]);
    return at;
}

/* Empty if checkpoints are free and there are no cold starts. */
static char *job_lost(struct line_time *times, char *at, const struct lost_row *lost)
{
    static const char nothing[] = ",,,,,,,,";
    _Static_assert(sizeof nothing == LOST_CAUSE_COUNT, "a comma after each but the last");
    if (lost == NULL)
        return line_word(at, nothing, sizeof nothing - 1);
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        at = line_ns(at, &times[TIME_OTHER], lost->gpu_ns[cause]);
    return at;
}

/* Fields that are 0 or empty for most jobs. */
static char *job_changes(struct line_time *times, char *at, const struct job_row *row)
{
    static const char nothing[] = "0,0,0,0,0,0";
    struct line_time *other = &times[TIME_OTHER];
    if (is_undisturbed(row)) {
        at = line_word(at, nothing, sizeof nothing - 1);
    } else {
        at = line_uint(at, row->evictions);
        at = line_ns(at, other, row->lost_gpu_ns);
        at = line_ns(at, other, row->overhead_gpu_ns);
        at = line_uint(at, row->resizes);
        at = line_ns(at, other, row->preempted_gpu_ns);
        at = line_uint(at, row->evictions_wasted);
    }
    at = job_communication(times, job_lost(times, at, row->lost), row);
    at = row->unserved_gpu_us == 0 ? field_word(job_activity(at, row), "")
                                   : field_us(job_activity(at, row), row->unserved_gpu_us);
    at = job_faults(times, at, row->faults);
    return job_idle(job_pulls(times, at, row->pulls), row->idle);
}

/* Empty where it declares none. */
static char *job_declared(struct line_time *times, char *at, const struct job_row *row)
{
    at = line_moment(at, &times[TIME_OTHER], row->limit);
    at = line_moment(at, &times[TIME_OTHER], row->estimate);
    return line_moment(at, &times[TIME_OTHER], row->deadline);
}

/* "Resources:12.5;Priority:3" */
static char *job_reasons(struct line_time *times, char *at, const struct wait_times *waits)
{
    uint32_t left = waits != NULL ? waits->mask : 0;
    if (left == 0)
        return field_word(at, "");
    for (; left != 0; left &= left - 1) {
        enum reason reason = (enum reason)__builtin_ctz(left);
        at = field_word(at, reason_name(reason));
        at[-1] = ':';
        at = field_again(at, times, TIME_WAIT, waits->of[reason]);
        at[-1] = ';';
    }
    at[-1] = ',';
    return at;
}

/* The most bytes that job_reasons writes. */
static size_t waits_room(const struct wait_times *waits)
{
    return waits == NULL ? 1 : (size_t)__builtin_popcount(waits->mask) * (REASON_CHARS_MAX + LINE_NUMBER_CHARS_MAX);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct record_files *files = self;
    struct buffer *buffer = output_buffer(files->outputs[FILE_JOBS]);
    const struct buffer *middle = job_middle(files, row);
    struct text name = text_of(row->name);
    size_t room = line_text_room(name) + middle->length + waits_room(row->waits);
    if (job_row_communicates(row))
        room += line_text_room(text_of(row->communication));
    if (job_row_is_active(row))
        room += line_text_room(text_of(row->activity));
    char *at = buffer_reserve(buffer, JOB_FIELDS_MAX * LINE_NUMBER_CHARS_MAX + room);
    at = job_times(files->times, at, row, name);
    at = job_held(files->times, at, row);
    at = job_gpus(at, row);
    at = job_waits(files->times, at, row);
    memcpy(at, middle->bytes, middle->length);
    at = job_changes(files->times, at + middle->length, row);
    at = job_reasons(files->times, at, row->waits);
    at = job_declared(files->times, at, row);
    at = line_moment(at, &files->times[TIME_END], row->end);
    line_end(at, buffer);
    return output_flush_if_full(files->outputs[FILE_JOBS]);
}

/* ---- the other rows ---- */

static const struct buffer *attempt_why(struct why *why, const struct attempt_row *row)
{
    if (why->text.length != 0 && why->why == row->why && why->reason == row->reason)
        return &why->text;
    why->why = row->why;
    why->reason = row->reason;
    why->text.length = 0;
    buffer_string(&why->text, attempt_end_names[row->why]);
    buffer_char(&why->text, ',');
    buffer_string(&why->text, row->reason == REASON_NONE ? "" : reason_name(row->reason));
    buffer_char(&why->text, ',');
    return &why->text;
}

static char *attempt_work(struct line_time *times, char *at, const struct attempt_row *row)
{
    if (row->attempt == 0 && row->lost == 0 && !row->is_partial)
        return line_word(at, "0,0,0", 5); /* as in nearly all rows */
    at = line_uint(at, row->attempt);
    at = line_ns(at, &times[TIME_OTHER], row->lost);
    return line_uint(at, row->is_partial);
}

static char *attempt_link(struct line_time *times, char *at, const struct attempt_row *row)
{
    if (row->link_tier == LINK_NONE)
        return line_word(at, ",", 1); /* both are empty */
    const char *tier = link_tier_names[row->link_tier];
    at = line_word(at, tier, strlen(tier));
    return line_ns(at, &times[TIME_OTHER], row->link_bytes_per_s); /* in 10^9 */
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct record_files *files = self;
    struct line_time *times = files->times;
    struct buffer *buffer = output_buffer(files->outputs[FILE_ATTEMPTS]);
    struct text placement = text_of(row->placement);
    const struct buffer *why = attempt_why(&files->why, row);
    char *at =
        buffer_reserve(buffer, ATTEMPT_FIELDS_MAX * LINE_NUMBER_CHARS_MAX + line_text_room(placement) + why->length);
    at = line_uint(at, row->id);
    at = line_ns(at, &times[TIME_START], row->start);
    at = line_ns(at, &times[row->saved == row->end - row->start ? TIME_RUN : TIME_OTHER], row->saved);
    at = line_text(at, placement);
    at = line_milli(at, row->gpu_milli);
    memcpy(at, why->bytes, why->length);
    at = attempt_work(times, at + why->length, row);
    at = attempt_link(times, at, row);
    at = line_ns(at, &times[TIME_END], row->end);
    line_end(at, buffer);
    return output_flush_if_full(files->outputs[FILE_ATTEMPTS]);
}

static void sample_integrals(struct buffer *buffer, const struct timeline_row *row)
{
    const double integrals[] = {row->allocated_gpu_s,    row->active_gpu_s,   row->reserved_gpu_s,
                                row->down_gpu_s,         row->pending_job_s,  row->running_job_s,
                                row->partial_gang_gpu_s, row->idle_held_gpu_s};
    for (size_t i = 0; i < sizeof integrals / sizeof integrals[0]; i++) {
        if (i > 0)
            buffer_char(buffer, ',');
        buffer_double(buffer, integrals[i]);
    }
}

static const char space_unknown[] = ",,,,,,,,,,,,,"; /* the columns that sample_space writes, empty */

static void sample_space(struct buffer *buffer, const struct space_row *space)
{
    char *at = buffer_reserve(buffer, 2 * LINE_NUMBER_CHARS_MAX);
    at = line_milli(at, space->idle_gpu_milli);
    at = line_milli(at, space->stranded_gpu_milli);
    buffer->length = (size_t)(at - buffer->bytes);
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++) {
        buffer_double(buffer, space->fragmented_gpus[c]);
        buffer_char(buffer, ',');
    }
    for (int s = 0; s < RECORD_GANG_SIZE_COUNT; s++) {
        buffer_int(buffer, space->gang_gpus[s]);
        buffer_char(buffer, ',');
    }
    buffer_int(buffer, space->mig_slices_unplaceable);
}

static void sample_spent(struct buffer *buffer, const struct timeline_row *row)
{
    char *at = buffer_reserve(buffer, (SPENT_COUNT + USE_COUNT + 1) * LINE_NUMBER_CHARS_MAX);
    *at++ = ',';
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        at = field_gpu_time(at, row->spent[cause], TIME_NS_PER_S, 9);
    for (int kind = 0; kind < USE_COUNT; kind++)
        at = field_gpu_time(at, row->use_us[kind], TIME_US_PER_S, 6);
    line_end(at, buffer);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct record_files *files = self;
    struct buffer *buffer = output_buffer(files->outputs[FILE_TIMELINE]);
    char *at = buffer_reserve(buffer, TIMELINE_FIELDS_MAX * LINE_NUMBER_CHARS_MAX);
    at = line_ns(at, &files->times[TIME_OTHER], row->time);
    at = line_uint(at, row->pending_jobs);
    at = line_uint(at, row->running_jobs);
    at = line_milli(at, row->pending_gpu_milli);
    at = line_milli(at, row->allocated_gpu_milli);
    at = line_milli(at, row->active_gpu_milli);
    at = line_milli(at, row->reserved_gpu_milli);
    at = line_milli(at, row->down_gpu_milli);
    at = line_uint(at, row->submitted);
    at = line_uint(at, row->started);
    at = line_uint(at, row->ended);
    at = line_uint(at, row->evicted);
    at = line_uint(at, row->rejected);
    buffer->length = (size_t)(at - buffer->bytes);
    sample_integrals(buffer, row);
    at = buffer_reserve(buffer, LINE_NUMBER_CHARS_MAX + 1);
    *at++ = ',';
    at = line_milli(at, row->idle_held_gpu_milli);
    buffer->length = (size_t)(at - buffer->bytes);
    if (row->space.is_known)
        sample_space(buffer, &row->space);
    else
        buffer_string(buffer, space_unknown);
    sample_spent(buffer, row);
    return output_flush_if_full(files->outputs[FILE_TIMELINE]);
}

/* ---- life ---- */

const char *const record_files_names[RECORD_FILE_COUNT] = {
    [FILE_JOBS] = RECORD_JOBS_FILE,
    [FILE_ATTEMPTS] = RECORD_ATTEMPTS_FILE,
    [FILE_TIMELINE] = RECORD_TIMELINE_FILE,
};

static struct error open_one(struct record_files *files, enum record_file which, const char *folder)
{
    static const char *const columns[FILE_COUNT] = {
        [FILE_JOBS] = record_job_columns,
        [FILE_ATTEMPTS] = record_attempt_columns,
        [FILE_TIMELINE] = record_timeline_columns,
    };
    TRY(output_open_inside(&files->outputs[which], folder, record_files_names[which], OUTPUT_ZSTD));
    buffer_string(output_buffer(files->outputs[which]), columns[which]);
    buffer_char(output_buffer(files->outputs[which]), '\n');
    return ERROR_OK;
}

struct error record_files_open(struct record_files **out, const char *folder, const char *const *model_names)
{
    *out = NULL;
    TRY(output_make_folder(folder));
    struct record_files *files = mem_zalloc(1, sizeof *files);
    for (size_t m = 0; model_names != NULL && model_names[m] != NULL && m < UINT8_MAX; m++) {
        files->models[m] = text_of(model_names[m]);
        files->model_count = m + 1;
        if (line_text_room(files->models[m]) > files->model_room)
            files->model_room = line_text_room(files->models[m]);
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

struct error record_files_seal(struct record_files *files)
{
    for (int which = 0; which < FILE_COUNT; which++)
        TRY(output_seal(files->outputs[which]));
    return ERROR_OK;
}

void record_files_digest(const struct record_files *files, int which, char hex[33])
{
    output_digest(files->outputs[which], hex);
}

struct error record_files_commit(struct record_files **files)
{
    struct error error = record_files_seal(*files);
    for (int which = FILE_COUNT - 1; which >= 0 && !error_is(error); which--)
        error = output_commit(&(*files)->outputs[which]);
    record_files_discard(files); /* files that an error left uncommitted */
    return error;
}

void record_files_discard(struct record_files **files)
{
    if (*files == NULL)
        return;
    for (int which = 0; which < FILE_COUNT; which++)
        output_discard(&(*files)->outputs[which]);
    for (int slot = 0; slot < MIDDLE_SLOTS; slot++)
        buffer_release(&(*files)->middles[slot].text);
    buffer_release(&(*files)->why.text);
    mem_free(*files);
    *files = NULL;
}
