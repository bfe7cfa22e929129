/* reports/export/rows.c -- rows of the record to cells. */
#include "reports/export/rows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "reports/csv_rows.h"
#include "reports/export/placement.h"
#include "reports/export/result_rows.h"
#include "reports/record_read.h"
#include "reports/result.h"

enum { CELLS_MAX = CSV_COLUMNS_MAX };

struct feed {
    row_fn *on_row;
    void *self;
    struct run_facts facts;  /* its models are known before the rows */
    struct buffer waits;     /* the text of wait_by_reason_s */
    struct buffer name;      /* the text of a job's number, if that is its name */
    struct buffer models[2]; /* the texts of a row's models without a name */
    struct cell cells[CELLS_MAX];
    unsigned count;
};

/* ---- cells, appended to the row ---- */

static void put(struct feed *feed, struct cell cell)
{
    assert(feed->count < CELLS_MAX);
    feed->cells[feed->count++] = cell;
}

static void put_empty(struct feed *feed)
{
    put(feed, (struct cell){.kind = CELL_EMPTY});
}

static void put_int(struct feed *feed, int64_t value)
{
    put(feed, cell_int(value));
}

static void put_scaled(struct feed *feed, int64_t value, int64_t scale)
{
    put(feed, (struct cell){.kind = CELL_SCALED, .value = value, .scale = scale});
}

static void put_real(struct feed *feed, double real)
{
    put(feed, cell_real(real));
}

/* Empty: no text. */
static void put_text(struct feed *feed, struct text text)
{
    if (text.length == 0)
        put_empty(feed);
    else
        put(feed, cell_text(text));
}

static void put_word(struct feed *feed, const char *word)
{
    put_text(feed, text_of(word));
}

static void put_s(struct feed *feed, time_ns span)
{
    put_scaled(feed, span, TIME_NS_PER_S);
}

/* A moment; empty: never. */
static void put_moment(struct feed *feed, time_ns at)
{
    if (at == TIME_NEVER)
        put_empty(feed);
    else
        put_s(feed, at);
}

static void put_us(struct feed *feed, int64_t us)
{
    put_scaled(feed, us, TIME_NS_PER_S / TIME_NS_PER_US);
}

/* GPU seconds, of which `scale` units make one.  Exact, unless the units pass 64 bits. */
static void put_gpu_time(struct feed *feed, gpu_time_ns units, int64_t scale)
{
    if (units <= INT64_MAX)
        put_scaled(feed, (int64_t)units, scale);
    else
        put_real(feed, (double)units / (double)scale);
}

static void put_gpus(struct feed *feed, int64_t milli)
{
    put_scaled(feed, milli, GPU_MILLI);
}

static void put_reason(struct feed *feed, uint8_t reason)
{
    put_word(feed, reason == REASON_NONE ? "" : reason_name(reason));
}

static struct error send(struct feed *feed, enum row_table table)
{
    assert(feed->count == row_columns(table));
    feed->count = 0;
    return feed->on_row(feed->self, table, feed->cells);
}

/* ---- jobs ---- */

static void put_model(struct feed *feed, struct buffer *text, uint8_t model)
{
    if (model == MODEL_ANY) {
        put_word(feed, RECORD_ANY);
        return;
    }
    size_t count = 0;
    while (feed->facts.model_names[count] != NULL)
        count++;
    text->length = 0;
    if (model < count)
        buffer_string(text, feed->facts.model_names[model]);
    else
        buffer_int(text, model);
    put_text(feed, (struct text){text->bytes, text->length});
}

static void put_name(struct feed *feed, const struct job_row *row)
{
    if (row->name != NULL) {
        put_word(feed, row->name);
        return;
    }
    feed->name.length = 0;
    buffer_int(&feed->name, row->id);
    put_text(feed, (struct text){feed->name.bytes, feed->name.length});
}

static void put_job_times(struct feed *feed, const struct job_row *row)
{
    put_s(feed, row->submit);
    put_int(feed, row->id);
    put_moment(feed, row->eligible);
    put_name(feed, row);
    put_moment(feed, row->start);
    put_s(feed, row->run);
    put_s(feed, row->work);
    put_s(feed, row->work_asked);
    put_gpu_time(feed, row->held_milli_ns, RECORD_MILLI_NS_PER_GPU_S);
    put_gpus(feed, row->gpu_milli);
    if (row->sm_active_milli == UINT16_MAX)
        put_empty(feed);
    else
        put_scaled(feed, row->sm_active_milli, 1000);
    put_moment(feed, row->state == END_REJECTED ? TIME_NEVER : row->wait);
    put_moment(feed, row->state == END_REJECTED ? TIME_NEVER : row->wait_total);
    put_moment(feed, row->has_recorded_wait ? row->recorded_wait : TIME_NEVER);
}

static void put_job_words(struct feed *feed, const struct job_row *row)
{
    put_word(feed, row->queue);
    put_word(feed, row->user);
    put_word(feed, job_class_names[row->class]);
    put_word(feed, row->workload_class != NULL ? row->workload_class : job_class_names[row->class]);
    put_int(feed, row->priority);
    put_int(feed, row->members);
    put_model(feed, &feed->models[0], row->model);
    put_model(feed, &feed->models[1], row->asked_model);
    put_word(feed, job_end_names[row->state]);
    put_reason(feed, row->reason);
    put_int(feed, row->is_counted);
    put_word(feed, row->start != TIME_NEVER ? record_source_names[row->source] : "");
}

static void put_job_activity(struct feed *feed, const struct job_row *row)
{
    if (job_row_is_active(row)) {
        put_word(feed, row->activity);
        put_us(feed, row->active_gpu_us);
        put_us(feed, row->idle_held_gpu_us);
    } else {
        for (int i = 0; i < 3; i++)
            put_empty(feed);
    }
    if (row->unserved_gpu_us > 0)
        put_us(feed, row->unserved_gpu_us);
    else
        put_empty(feed);
}

static void put_job_communication(struct feed *feed, const struct job_row *row)
{
    enum { COLUMNS = 7 };
    if (!job_row_communicates(row)) {
        for (int i = 0; i < COLUMNS; i++)
            put_empty(feed);
        return;
    }
    put_word(feed, row->communication);
    put_us(feed, row->exposed_gpu_us);
    put_us(feed, row->slowed_gpu_us);
    put_us(feed, row->network_gpu_us);
    if (row->network_gpu_us == 0)
        put_empty(feed);
    else
        put_scaled(feed, row->network_bytes_per_s, INT64_C(1000000000));
    put_us(feed, row->planned_gpu_us);
    if (row->planned_gpu_us == 0)
        put_empty(feed);
    else
        put_scaled(feed, row->mfu_micro, 1000000);
}

static void put_job_faults(struct feed *feed, const struct fault_row *faults)
{
    enum { COLUMNS = RECORD_FAULT_COUNT + 3 };
    if (faults == NULL) {
        for (int i = 0; i < COLUMNS; i++)
            put_empty(feed);
        return;
    }
    put_int(feed, faults->own);
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        put_int(feed, faults->killed[cause]);
    put_s(feed, faults->lost_gpu_ns);
    put_gpus(feed, faults->blast_gpu_milli);
}

static void put_job_pulls(struct feed *feed, const struct pull_row *pulls)
{
    if (pulls == NULL) {
        for (int i = 0; i < RECORD_PULL_COUNT + 1; i++)
            put_empty(feed);
        return;
    }
    put_moment(feed, pulls->ready);
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        put_scaled(feed, pulls->bytes[source], INT64_C(1000000000));
}

static void put_job_idle(struct feed *feed, const struct idle_row *idle)
{
    enum { COLUMNS = 5 };
    if (idle == NULL) {
        for (int i = 0; i < COLUMNS; i++)
            put_empty(feed);
        return;
    }
    put_int(feed, idle->notified);
    put_int(feed, idle->shrunk);
    put_int(feed, idle->evicted);
    put_int(feed, idle->disturbed);
    put_us(feed, idle->given_gpu_us);
}

/* "Resources:12.5;Priority:3" */
static void put_waits(struct feed *feed, const struct wait_times *waits)
{
    feed->waits.length = 0;
    for (uint32_t left = waits != NULL ? waits->mask : 0; left != 0; left &= left - 1) {
        const enum reason reason = (enum reason)__builtin_ctz(left);
        if (feed->waits.length > 0)
            buffer_char(&feed->waits, ';');
        buffer_string(&feed->waits, reason_name(reason));
        buffer_char(&feed->waits, ':');
        buffer_scaled(&feed->waits, waits->of[reason], TIME_NS_PER_S);
    }
    put_text(feed, (struct text){feed->waits.bytes, feed->waits.length});
}

static struct error send_waits(struct feed *feed, const struct job_row *row)
{
    for (uint32_t left = row->waits != NULL ? row->waits->mask : 0; left != 0; left &= left - 1) {
        const enum reason reason = (enum reason)__builtin_ctz(left);
        put_int(feed, row->id);
        put_word(feed, reason_name(reason));
        put_s(feed, row->waits->of[reason]);
        TRY(send(feed, TABLE_WAIT_BY_REASON));
    }
    return ERROR_OK;
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct feed *feed = self;
    put_job_times(feed, row);
    put_job_words(feed, row);
    put_int(feed, row->evictions);
    put_s(feed, row->lost_gpu_ns);
    put_s(feed, row->overhead_gpu_ns);
    put_int(feed, row->resizes);
    put_s(feed, row->preempted_gpu_ns);
    put_int(feed, row->evictions_wasted);
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        if (row->lost != NULL)
            put_s(feed, row->lost->gpu_ns[cause]);
        else
            put_empty(feed);
    put_job_communication(feed, row);
    put_job_activity(feed, row);
    put_job_faults(feed, row->faults);
    put_job_pulls(feed, row->pulls);
    put_job_idle(feed, row->idle);
    put_waits(feed, row->waits);
    put_moment(feed, row->limit);
    put_moment(feed, row->estimate);
    put_moment(feed, row->deadline);
    put_moment(feed, row->end);
    TRY(send(feed, TABLE_JOBS));
    return send_waits(feed, row);
}

/* ---- attempts and samples ---- */

static struct error send_placement(struct feed *feed, const struct attempt_row *row)
{
    struct placement_reader reader;
    struct placement_piece piece;
    struct error error = ERROR_OK;
    placement_begin(&reader, row->placement, row->gpu_milli > 0);
    while (!error_is(error) && placement_next(&reader, &piece)) {
        put_int(feed, row->id);
        put_int(feed, row->attempt);
        put_word(feed, piece.node);
        put_text(feed, piece.gpus);
        put_gpus(feed, (int64_t)__builtin_popcount(piece.gpu_mask) * piece.gpu_milli);
        error = send(feed, TABLE_PLACEMENT);
    }
    if (!error_is(error) && reader.is_bad)
        error = placement_error(row);
    placement_release(&reader);
    return error;
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct feed *feed = self;
    put_int(feed, row->id);
    put_s(feed, row->start);
    put_s(feed, row->saved);
    put_word(feed, row->placement);
    put_gpus(feed, row->gpu_milli);
    put_word(feed, attempt_end_names[row->why]);
    put_reason(feed, row->reason);
    put_int(feed, row->attempt);
    put_s(feed, row->lost);
    put_int(feed, row->is_partial);
    put_word(feed, link_tier_names[row->link_tier]);
    if (row->link_tier == LINK_NONE)
        put_empty(feed);
    else
        put_scaled(feed, row->link_bytes_per_s, INT64_C(1000000000));
    put_s(feed, row->end);
    TRY(send(feed, TABLE_ATTEMPTS));
    return send_placement(feed, row);
}

static void put_space(struct feed *feed, const struct space_row *space)
{
    enum { COLUMNS = 3 + RECORD_CAUSE_COUNT + RECORD_GANG_SIZE_COUNT };
    if (!space->is_known) {
        for (int i = 0; i < COLUMNS; i++)
            put_empty(feed);
        return;
    }
    put_gpus(feed, space->idle_gpu_milli);
    put_gpus(feed, space->stranded_gpu_milli);
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        put_real(feed, space->fragmented_gpus[c]);
    for (int s = 0; s < RECORD_GANG_SIZE_COUNT; s++)
        put_int(feed, space->gang_gpus[s]);
    put_int(feed, space->mig_slices_unplaceable);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct feed *feed = self;
    put_s(feed, row->time);
    put_int(feed, row->pending_jobs);
    put_int(feed, row->running_jobs);
    put_gpus(feed, row->pending_gpu_milli);
    put_gpus(feed, row->allocated_gpu_milli);
    put_gpus(feed, row->active_gpu_milli);
    put_gpus(feed, row->reserved_gpu_milli);
    put_gpus(feed, row->down_gpu_milli);
    put_int(feed, (int64_t)row->submitted);
    put_int(feed, (int64_t)row->started);
    put_int(feed, (int64_t)row->ended);
    put_int(feed, (int64_t)row->evicted);
    put_int(feed, (int64_t)row->rejected);
    put_real(feed, row->allocated_gpu_s);
    put_real(feed, row->active_gpu_s);
    put_real(feed, row->reserved_gpu_s);
    put_real(feed, row->down_gpu_s);
    put_real(feed, row->pending_job_s);
    put_real(feed, row->running_job_s);
    put_real(feed, row->partial_gang_gpu_s);
    put_real(feed, row->idle_held_gpu_s);
    put_gpus(feed, row->idle_held_gpu_milli);
    put_space(feed, &row->space);
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        put_gpu_time(feed, row->spent[cause], TIME_NS_PER_S);
    for (int kind = 0; kind < USE_COUNT; kind++)
        put_gpu_time(feed, row->use_us[kind], TIME_US_PER_S);
    return send(feed, TABLE_TIMELINE);
}

/* ---- result.json ---- */

static struct error on_metric(void *self, const struct metric_value *metric)
{
    struct feed *feed = self;
    put_word(feed, metric->name);
    put_word(feed, metric->cut);
    put_word(feed, metric->key);
    put_real(feed, metric->value);
    put_word(feed, metric->unit);
    put_word(feed, metric->better);
    return send(feed, TABLE_METRICS);
}

static struct error on_manifest(void *self, const char *key, const json_t *value)
{
    struct feed *feed = self;
    struct error error = ERROR_OK;
    put_word(feed, key);
    if (json_is_integer(value) || json_is_boolean(value)) {
        put_int(feed, json_is_boolean(value) ? json_is_true(value) : json_integer_value(value));
    } else if (json_is_real(value)) {
        put_real(feed, json_real_value(value));
    } else if (json_is_string(value)) {
        put_word(feed, json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
        put_word(feed, text);
        error = send(feed, TABLE_MANIFEST);
        free(text);
        return error;
    }
    return send(feed, TABLE_MANIFEST);
}

struct error rows_read(const char *folder, row_fn *on_row, void *self)
{
    struct feed feed = {.on_row = on_row, .self = self};
    struct result result;
    TRY(result_read(&result, folder));
    feed.facts = result.facts;
    const struct result_rows rows = {.self = &feed, .on_metric = on_metric, .on_manifest = on_manifest};
    struct error error = result_rows_read(folder, &rows);
    const struct record_sink sink = {.self = &feed, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample};
    if (!error_is(error))
        error = record_read(folder, &sink);
    buffer_release(&feed.waits);
    buffer_release(&feed.name);
    buffer_release(&feed.models[0]);
    buffer_release(&feed.models[1]);
    result_release(&result);
    return error;
}
