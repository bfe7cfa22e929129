#include "reports/record_rows.h"

#include "base/text.h"

/* In the order of record_job_columns. */
enum job_column {
    JOB_SUBMIT,
    JOB_ID,
    JOB_ELIGIBLE,
    JOB_NAME,
    JOB_START,
    JOB_RUN,
    JOB_WORK,
    JOB_WORK_ASKED,
    JOB_HELD,
    JOB_GPUS,
    JOB_SM_ACTIVE,
    JOB_WAIT,
    JOB_WAIT_TOTAL,
    JOB_RECORDED_WAIT,
    JOB_QUEUE,
    JOB_USER,
    JOB_CLASS,
    JOB_WORKLOAD_CLASS,
    JOB_PRIORITY,
    JOB_MEMBERS,
    JOB_MODEL,
    JOB_MODEL_ASKED,
    JOB_STATE,
    JOB_REASON,
    JOB_IS_COUNTED,
    JOB_SOURCE,
    JOB_EVICTIONS,
    JOB_LOST,
    JOB_OVERHEAD,
    JOB_RESIZES,
    JOB_PREEMPTED,
    JOB_WASTED,
    JOB_LOST_BY, /* cause */
    JOB_COMMUNICATION = JOB_LOST_BY + LOST_CAUSE_COUNT,
    JOB_EXPOSED,
    JOB_SLOWED,
    JOB_NETWORK,
    JOB_NETWORK_RATE,
    JOB_PLANNED,
    JOB_MFU,
    JOB_ACTIVITY,
    JOB_ACTIVE,
    JOB_IDLE_HELD,
    JOB_UNSERVED,
    JOB_FAULTS,
    JOB_KILLED, /* by cause */
    JOB_NEIGHBOUR = JOB_KILLED + RECORD_FAULT_COUNT,
    JOB_BLAST,
    JOB_READY,
    JOB_PULLED, /* by source */
    JOB_IDLE_TOLD = JOB_PULLED + RECORD_PULL_COUNT,
    JOB_IDLE_SHRUNK,
    JOB_IDLE_EVICTED,
    JOB_IDLE_DISTURBED,
    JOB_GIVEN_BACK,
    JOB_WAITS,
    JOB_LIMIT,
    JOB_ESTIMATE,
    JOB_DEADLINE,
    JOB_END
};

/* In the order of record_attempt_columns. */
enum attempt_column {
    ATTEMPT_ID,
    ATTEMPT_START,
    ATTEMPT_SAVED,
    ATTEMPT_PLACEMENT,
    ATTEMPT_GPUS,
    ATTEMPT_WHY,
    ATTEMPT_REASON,
    ATTEMPT_NUMBER,
    ATTEMPT_LOST,
    ATTEMPT_IS_PARTIAL,
    ATTEMPT_LINK_TIER,
    ATTEMPT_LINK_RATE,
    ATTEMPT_END
};

enum { BYTES_PER_GB = 1000000000, MFU_SCALE = 1000000 };

/* In the order of record_timeline_columns. */
enum timeline_column {
    TIMELINE_TIME,
    TIMELINE_PENDING,
    TIMELINE_RUNNING,
    TIMELINE_PENDING_GPUS,
    TIMELINE_ALLOCATED,
    TIMELINE_ACTIVE,
    TIMELINE_RESERVED,
    TIMELINE_DOWN,
    TIMELINE_SUBMITTED,
    TIMELINE_STARTED,
    TIMELINE_ENDED,
    TIMELINE_EVICTED,
    TIMELINE_REJECTED,
    TIMELINE_ALLOCATED_S,
    TIMELINE_ACTIVE_S,
    TIMELINE_RESERVED_S,
    TIMELINE_DOWN_S,
    TIMELINE_PENDING_S,
    TIMELINE_RUNNING_S,
    TIMELINE_PARTIAL_S,
    TIMELINE_IDLE_HELD_S,
    TIMELINE_IDLE_HELD,
    TIMELINE_IDLE,
    TIMELINE_STRANDED,
    TIMELINE_FRAGMENTED,
    TIMELINE_GANGS = TIMELINE_FRAGMENTED + RECORD_CAUSE_COUNT,
    TIMELINE_SLICES = TIMELINE_GANGS + RECORD_GANG_SIZE_COUNT,
    TIMELINE_SPENT, /* by cause */
    TIMELINE_USE = TIMELINE_SPENT + SPENT_COUNT
};

/* A NUL-terminated copy that lives as long as the row; row_begin has reserved the memory. */
static const char *row_text(struct reading *reading, unsigned column)
{
    struct text text = csv_text(reading->rows, column);
    const char *copy = reading->texts.bytes + reading->texts.length;
    buffer_text(&reading->texts, text);
    buffer_char(&reading->texts, '\0');
    return copy;
}

static void row_begin(struct reading *reading, const unsigned *columns, unsigned count)
{
    size_t room = 0;
    for (unsigned i = 0; i < count; i++)
        room += csv_text(reading->rows, columns[i]).length + 1;
    reading->texts.length = 0;
    buffer_reserve(&reading->texts, room);
}

static const char *lasting_text(struct reading *reading, unsigned column)
{
    return names_text(reading->names, names_add(reading->names, csv_text(reading->rows, column)));
}

static uint8_t read_reason(struct reading *reading, unsigned column)
{
    if (csv_text(reading->rows, column).length == 0)
        return REASON_NONE;
    return (uint8_t)csv_choice(reading->rows, column, reading->reasons);
}

/* A model by name, or by number if the writer had no names. */
static uint8_t read_model(struct reading *reading, unsigned column)
{
    struct text text = csv_text(reading->rows, column);
    for (int i = 0; reading->facts->model_names[i] != NULL; i++)
        if (text_is(text, reading->facts->model_names[i]))
            return (uint8_t)i;
    if (text_is(text, RECORD_ANY))
        return MODEL_ANY;
    int64_t index = MODEL_ANY;
    if (!text_to_int64(text, 0, 254, &index))
        csv_fail(reading->rows, column, "no GPU model of this run (see \"facts\" in result.json)");
    return (uint8_t)index;
}

/* A duration; the field must not be empty. */
static time_ns read_span(struct csv_rows *rows, unsigned column)
{
    return csv_scaled(rows, column, TIME_NS_PER_S);
}

/* A rejected job has no waiting time, so the field is empty. */
static time_ns read_wait(struct csv_rows *rows, unsigned column, uint8_t state)
{
    if (state != END_REJECTED)
        return read_span(rows, column);
    if (csv_text(rows, column).length > 0)
        csv_fail(rows, column, "a rejected job has no wait");
    return 0;
}

static void read_job_times(struct csv_rows *rows, struct job_row *row)
{
    row->submit = read_span(rows, JOB_SUBMIT);
    row->eligible = csv_time(rows, JOB_ELIGIBLE);
    row->start = csv_time(rows, JOB_START);
    row->end = csv_time(rows, JOB_END);
    row->wait = read_wait(rows, JOB_WAIT, row->state);
    row->wait_total = read_wait(rows, JOB_WAIT_TOTAL, row->state);
    row->has_recorded_wait = csv_text(rows, JOB_RECORDED_WAIT).length > 0;
    row->recorded_wait = row->has_recorded_wait ? read_span(rows, JOB_RECORDED_WAIT) : 0;
    row->run = read_span(rows, JOB_RUN);
    row->work = read_span(rows, JOB_WORK);
    row->work_asked = read_span(rows, JOB_WORK_ASKED);
    row->limit = csv_time(rows, JOB_LIMIT);
    row->estimate = csv_time(rows, JOB_ESTIMATE);
    row->deadline = csv_time(rows, JOB_DEADLINE);
    row->lost_gpu_ns = read_span(rows, JOB_LOST);
    row->overhead_gpu_ns = read_span(rows, JOB_OVERHEAD);
    if (row->start < row->submit)
        csv_fail(rows, JOB_START, "before the submission");
    if (row->start != TIME_NEVER && row->end < row->start)
        csv_fail(rows, JOB_END, "before the start");
}

/* GPU-seconds from 0 up, with so many decimals at most, in units of the last of them: whole seconds and the rest apart,
 * which may pass 64 bits together. */
static gpu_time_ns read_gpu_time(struct csv_rows *rows, unsigned column, unsigned decimals)
{
    struct text rest = csv_text(rows, column), whole;
    int64_t seconds = 0, units = 0, scale = 1;
    for (unsigned digit = 0; digit < decimals; digit++)
        scale *= 10;
    bool is_number = text_cut(&rest, '.', &whole) && text_to_int64(whole, 0, INT64_MAX, &seconds);
    if (is_number && rest.at != NULL) {
        is_number = rest.length <= decimals && text_to_int64(rest, 0, scale - 1, &units);
        for (size_t digits = rest.length; digits < decimals; digits++)
            units *= 10;
    }
    if (!is_number)
        csv_fail(rows, column,
                 decimals == 9 ? "not a number from 0 up, with up to 9 decimals"
                               : "not a number from 0 up, with up to 12 decimals");
    return (gpu_time_ns)seconds * scale + units;
}

static void read_job_changes(struct csv_rows *rows, struct job_row *row)
{
    bool has_source = csv_text(rows, JOB_SOURCE).length > 0;
    row->source = has_source ? (uint8_t)csv_choice(rows, JOB_SOURCE, record_source_names) : 0;
    row->resizes = (uint32_t)csv_int(rows, JOB_RESIZES, 0, UINT32_MAX);
    row->held_milli_ns = read_gpu_time(rows, JOB_HELD, 12);
    row->preempted_gpu_ns = read_span(rows, JOB_PREEMPTED);
    row->evictions_wasted = (uint32_t)csv_int(rows, JOB_WASTED, 0, UINT32_MAX);
    if (has_source != (row->start != TIME_NEVER))
        csv_fail(rows, JOB_SOURCE, "a job has a source exactly if it started");
}

/* GPU time in microseconds. */
static int64_t read_gpu_us(struct csv_rows *rows, unsigned column)
{
    return csv_scaled(rows, column, TIME_NS_PER_S / TIME_NS_PER_US);
}

/* A mean over a GPU time; empty if that is 0. */
static int64_t read_mean(struct csv_rows *rows, unsigned column, int64_t scale, int64_t over_us)
{
    if (over_us > 0)
        return csv_scaled(rows, column, scale);
    if (csv_text(rows, column).length > 0)
        csv_fail(rows, column, "a mean over no GPU time");
    return 0;
}

static void read_job_communication(struct reading *reading, struct job_row *row)
{
    struct csv_rows *rows = reading->rows;
    row->communication = "";
    row->exposed_gpu_us = row->slowed_gpu_us = row->network_gpu_us = row->planned_gpu_us = 0;
    row->network_bytes_per_s = 0;
    row->mfu_micro = 0;
    if (csv_text(rows, JOB_COMMUNICATION).length == 0) {
        for (unsigned column = JOB_EXPOSED; column <= JOB_MFU; column++)
            if (csv_text(rows, column).length > 0)
                csv_fail(rows, column, "a job that declares no communication has none");
        return;
    }
    row->communication = lasting_text(reading, JOB_COMMUNICATION);
    row->exposed_gpu_us = read_gpu_us(rows, JOB_EXPOSED);
    row->slowed_gpu_us = read_gpu_us(rows, JOB_SLOWED);
    row->network_gpu_us = read_gpu_us(rows, JOB_NETWORK);
    row->network_bytes_per_s = read_mean(rows, JOB_NETWORK_RATE, BYTES_PER_GB, row->network_gpu_us);
    row->planned_gpu_us = read_gpu_us(rows, JOB_PLANNED);
    const int64_t mfu_micro = read_mean(rows, JOB_MFU, MFU_SCALE, row->planned_gpu_us);
    if (mfu_micro > MFU_SCALE)
        csv_fail(rows, JOB_MFU, "not a ratio from 0 to 1");
    row->mfu_micro = (uint32_t)mfu_micro;
}

static void read_job_activity(struct reading *reading, struct job_row *row)
{
    struct csv_rows *rows = reading->rows;
    row->activity = "";
    row->unserved_gpu_us = csv_text(rows, JOB_UNSERVED).length > 0 ? read_gpu_us(rows, JOB_UNSERVED) : 0;
    row->active_gpu_us = row->idle_held_gpu_us = 0;
    if (csv_text(rows, JOB_ACTIVITY).length == 0) {
        for (unsigned column = JOB_ACTIVE; column <= JOB_IDLE_HELD; column++)
            if (csv_text(rows, column).length > 0)
                csv_fail(rows, column, "a job without declared activity has none");
        return;
    }
    row->activity = lasting_text(reading, JOB_ACTIVITY);
    row->active_gpu_us = read_gpu_us(rows, JOB_ACTIVE);
    row->idle_held_gpu_us = read_gpu_us(rows, JOB_IDLE_HELD);
}

/* NULL: the world had no monitor. */
static const struct idle_row *read_idle(struct reading *reading)
{
    struct csv_rows *rows = reading->rows;
    struct idle_row *idle = &reading->idle;
    if (csv_text(rows, JOB_IDLE_TOLD).length == 0) {
        for (unsigned column = JOB_IDLE_SHRUNK; column <= JOB_GIVEN_BACK; column++)
            if (csv_text(rows, column).length > 0)
                csv_fail(rows, column, "without 'idle_told' there is none");
        return NULL;
    }
    idle->notified = (uint32_t)csv_int(rows, JOB_IDLE_TOLD, 0, UINT32_MAX);
    idle->shrunk = (uint32_t)csv_int(rows, JOB_IDLE_SHRUNK, 0, UINT32_MAX);
    idle->evicted = (uint32_t)csv_int(rows, JOB_IDLE_EVICTED, 0, UINT32_MAX);
    idle->disturbed = (uint32_t)csv_int(rows, JOB_IDLE_DISTURBED, 0, UINT32_MAX);
    idle->given_gpu_us = read_gpu_us(rows, JOB_GIVEN_BACK);
    return idle;
}

/* NULL: the world had no faults. */
static const struct fault_row *read_faults(struct reading *reading)
{
    struct csv_rows *rows = reading->rows;
    struct fault_row *faults = &reading->faults;
    if (csv_text(rows, JOB_FAULTS).length == 0) {
        for (unsigned column = JOB_KILLED; column <= JOB_BLAST; column++)
            if (csv_text(rows, column).length > 0)
                csv_fail(rows, column, "without 'faults' there is none");
        return NULL;
    }
    faults->own = (uint32_t)csv_int(rows, JOB_FAULTS, 0, UINT32_MAX);
    for (unsigned cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        faults->killed[cause] = (uint32_t)csv_int(rows, JOB_KILLED + cause, 0, UINT32_MAX);
    faults->lost_gpu_ns = read_span(rows, JOB_NEIGHBOUR);
    faults->blast_gpu_milli = csv_scaled(rows, JOB_BLAST, GPU_MILLI);
    return faults;
}

/* NULL: the world had no cold starts. */
static const struct pull_row *read_pulls(struct reading *reading, const struct job_row *row)
{
    struct csv_rows *rows = reading->rows;
    struct pull_row *pulls = &reading->pulls;
    if (csv_text(rows, JOB_PULLED).length == 0) {
        for (unsigned column = JOB_READY; column < JOB_IDLE_TOLD; column++)
            if (csv_text(rows, column).length > 0)
                csv_fail(rows, column, "without 'pulled_registry_gb' there is none");
        return NULL;
    }
    pulls->ready = csv_time(rows, JOB_READY);
    for (unsigned source = 0; source < RECORD_PULL_COUNT; source++)
        pulls->bytes[source] = csv_scaled(rows, JOB_PULLED + source, BYTES_PER_GB);
    if (pulls->ready < row->start)
        csv_fail(rows, JOB_READY, "before the start");
    return pulls;
}

/* NULL: checkpoints were free, and there were no cold starts. */
static const struct lost_row *read_lost(struct reading *reading, const struct job_row *row)
{
    struct csv_rows *rows = reading->rows;
    int64_t overhead = 0, all = 0;
    if (csv_text(rows, JOB_LOST_BY).length == 0) {
        for (unsigned cause = 1; cause < LOST_CAUSE_COUNT; cause++)
            if (csv_text(rows, JOB_LOST_BY + cause).length > 0)
                csv_fail(rows, JOB_LOST_BY + cause, "without the first cause there is none");
        return NULL;
    }
    for (unsigned cause = 0; cause < LOST_CAUSE_COUNT; cause++) {
        reading->lost.gpu_ns[cause] = read_span(rows, JOB_LOST_BY + cause);
        all += reading->lost.gpu_ns[cause];
        overhead += cause < LOST_WORK_PREEMPTED ? reading->lost.gpu_ns[cause] : 0;
    }
    if (all != row->lost_gpu_ns || overhead != row->overhead_gpu_ns)
        csv_fail(rows, JOB_LOST_BY, "the causes do not add up to lost_gpu_s and overhead_gpu_s");
    return &reading->lost;
}

static int reason_named(const struct reading *reading, struct text name)
{
    for (int i = REASON_NONE + 1; reading->reasons[i] != NULL; i++)
        if (text_is(name, reading->reasons[i]))
            return i;
    return REASON_NONE;
}

/* "Resources:12.5;Priority:3"; NULL: empty. */
static const struct wait_times *read_waits(struct reading *reading)
{
    struct text rest = csv_text(reading->rows, JOB_WAITS), part, name;
    struct wait_times *waits = &reading->waits;
    waits->mask = 0;
    while (rest.length > 0 && text_cut(&rest, ';', &part)) {
        time_ns span = 0;
        text_cut(&part, ':', &name);
        int reason = reason_named(reading, name);
        if (reason == REASON_NONE || (waits->mask >> reason & 1) || part.at == NULL ||
            !text_to_scaled(part, TIME_NS_PER_S, &span) || span <= 0) {
            csv_fail(reading->rows, JOB_WAITS, "not a list of reasons, each once, with seconds above 0");
            return NULL;
        }
        wait_times_add(waits, (enum reason)reason, span);
    }
    return waits->mask != 0 ? waits : NULL;
}

/* Waiting times must add up to the total; a record without them has none. */
static void check_waits(struct csv_rows *rows, const struct job_row *row)
{
    time_ns rest = row->state == END_REJECTED ? row->end - row->submit : row->wait_total;
    if (row->waits == NULL)
        return;
    for (uint32_t left = row->waits->mask; left != 0 && rest >= 0; left &= left - 1)
        rest -= row->waits->of[__builtin_ctz(left)]; /* both are not negative, so this does not overflow */
    if (rest != 0)
        csv_fail(rows, JOB_WAITS, "the times do not add up to what the job waited");
}

/* NULL if the name is the job's number. */
static const char *read_name(struct reading *reading)
{
    struct text name = csv_text(reading->rows, JOB_NAME);
    if (text_equal(name, csv_text(reading->rows, JOB_ID)))
        return NULL;
    if (name.length == 0)
        csv_fail(reading->rows, JOB_NAME, "missing");
    return row_text(reading, JOB_NAME);
}

bool record_row_job(struct reading *reading, struct job_row *out)
{
    struct csv_rows *rows = reading->rows;
    static const unsigned text_columns[] = {JOB_NAME, JOB_USER};
    struct job_row row;
    row_begin(reading, text_columns, 2);
    row.id = (job_id)csv_int(rows, JOB_ID, 0, JOB_NONE - 1);
    row.name = read_name(reading);
    row.queue = lasting_text(reading, JOB_QUEUE);
    row.user = lasting_text(reading, JOB_USER);
    row.class = (uint8_t)csv_choice(rows, JOB_CLASS, job_class_names);
    row.workload_class = lasting_text(reading, JOB_WORKLOAD_CLASS);
    row.priority = (int32_t)csv_int(rows, JOB_PRIORITY, INT32_MIN, INT32_MAX);
    row.gpu_milli = csv_scaled(rows, JOB_GPUS, GPU_MILLI);
    row.members = (uint32_t)csv_int(rows, JOB_MEMBERS, 0, UINT32_MAX);
    row.model = read_model(reading, JOB_MODEL);
    row.asked_model = read_model(reading, JOB_MODEL_ASKED);
    row.state = (uint8_t)csv_choice(rows, JOB_STATE, job_end_names);
    read_job_times(rows, &row);
    row.reason = read_reason(reading, JOB_REASON);
    row.evictions = (uint32_t)csv_int(rows, JOB_EVICTIONS, 0, UINT32_MAX);
    bool is_known = csv_text(rows, JOB_SM_ACTIVE).length > 0;
    row.sm_active_milli = is_known ? (uint16_t)csv_scaled(rows, JOB_SM_ACTIVE, 1000) : UINT16_MAX;
    row.is_counted = csv_int(rows, JOB_IS_COUNTED, 0, 1) != 0;
    read_job_changes(rows, &row);
    read_job_communication(reading, &row);
    read_job_activity(reading, &row);
    row.lost = read_lost(reading, &row);
    row.faults = read_faults(reading);
    row.pulls = read_pulls(reading, &row);
    row.idle = read_idle(reading);
    row.waits = read_waits(reading);
    check_waits(rows, &row);
    *out = row;
    return !csv_has_error(rows);
}

bool record_row_attempt(struct reading *reading, struct attempt_row *out)
{
    static const unsigned text_columns[] = {ATTEMPT_PLACEMENT};
    struct csv_rows *rows = reading->rows;
    struct attempt_row row;
    row_begin(reading, text_columns, 1);
    row.id = (job_id)csv_int(rows, ATTEMPT_ID, 0, JOB_NONE - 1);
    row.attempt = (uint32_t)csv_int(rows, ATTEMPT_NUMBER, 0, UINT32_MAX);
    row.start = read_span(rows, ATTEMPT_START);
    row.end = read_span(rows, ATTEMPT_END);
    row.gpu_milli = csv_scaled(rows, ATTEMPT_GPUS, GPU_MILLI);
    row.placement = row_text(reading, ATTEMPT_PLACEMENT);
    row.why = (uint8_t)csv_choice(rows, ATTEMPT_WHY, attempt_end_names);
    row.reason = read_reason(reading, ATTEMPT_REASON);
    row.saved = csv_signed(rows, ATTEMPT_SAVED, TIME_NS_PER_S);
    row.lost = read_span(rows, ATTEMPT_LOST);
    row.is_partial = csv_int(rows, ATTEMPT_IS_PARTIAL, 0, 1) != 0;
    row.link_tier = LINK_NONE;
    row.link_bytes_per_s = 0;
    if (csv_text(rows, ATTEMPT_LINK_TIER).length > 0) {
        row.link_tier = (uint8_t)csv_choice(rows, ATTEMPT_LINK_TIER, link_tier_names);
        row.link_bytes_per_s = csv_scaled(rows, ATTEMPT_LINK_RATE, BYTES_PER_GB);
    }
    if (row.end < row.start)
        csv_fail(rows, ATTEMPT_END, "before the start");
    *out = row;
    return !csv_has_error(rows);
}

static struct space_row read_space(struct csv_rows *rows)
{
    struct space_row space = {.is_known = csv_text(rows, TIMELINE_IDLE).length > 0};
    if (!space.is_known)
        return space;
    space.idle_gpu_milli = csv_scaled(rows, TIMELINE_IDLE, GPU_MILLI);
    space.stranded_gpu_milli = csv_scaled(rows, TIMELINE_STRANDED, GPU_MILLI);
    for (unsigned c = 0; c < RECORD_CAUSE_COUNT; c++)
        space.fragmented_gpus[c] = csv_double(rows, TIMELINE_FRAGMENTED + c);
    for (unsigned s = 0; s < RECORD_GANG_SIZE_COUNT; s++)
        space.gang_gpus[s] = csv_int(rows, TIMELINE_GANGS + s, 0, INT64_MAX);
    space.mig_slices_unplaceable = csv_int(rows, TIMELINE_SLICES, 0, INT64_MAX);
    return space;
}

bool record_row_sample(struct reading *reading, struct timeline_row *out)
{
    struct csv_rows *rows = reading->rows;
    *out = (struct timeline_row){
        .time = read_span(rows, TIMELINE_TIME),
        .pending_jobs = (uint32_t)csv_int(rows, TIMELINE_PENDING, 0, UINT32_MAX),
        .running_jobs = (uint32_t)csv_int(rows, TIMELINE_RUNNING, 0, UINT32_MAX),
        .pending_gpu_milli = csv_scaled(rows, TIMELINE_PENDING_GPUS, GPU_MILLI),
        .allocated_gpu_milli = csv_scaled(rows, TIMELINE_ALLOCATED, GPU_MILLI),
        .active_gpu_milli = csv_scaled(rows, TIMELINE_ACTIVE, GPU_MILLI),
        .reserved_gpu_milli = csv_scaled(rows, TIMELINE_RESERVED, GPU_MILLI),
        .down_gpu_milli = csv_scaled(rows, TIMELINE_DOWN, GPU_MILLI),
        .submitted = (uint64_t)csv_int(rows, TIMELINE_SUBMITTED, 0, INT64_MAX),
        .started = (uint64_t)csv_int(rows, TIMELINE_STARTED, 0, INT64_MAX),
        .ended = (uint64_t)csv_int(rows, TIMELINE_ENDED, 0, INT64_MAX),
        .evicted = (uint64_t)csv_int(rows, TIMELINE_EVICTED, 0, INT64_MAX),
        .rejected = (uint64_t)csv_int(rows, TIMELINE_REJECTED, 0, INT64_MAX),
        .allocated_gpu_s = csv_double(rows, TIMELINE_ALLOCATED_S),
        .active_gpu_s = csv_double(rows, TIMELINE_ACTIVE_S),
        .reserved_gpu_s = csv_double(rows, TIMELINE_RESERVED_S),
        .down_gpu_s = csv_double(rows, TIMELINE_DOWN_S),
        .pending_job_s = csv_double(rows, TIMELINE_PENDING_S),
        .running_job_s = csv_double(rows, TIMELINE_RUNNING_S),
        .partial_gang_gpu_s = csv_double(rows, TIMELINE_PARTIAL_S),
        .idle_held_gpu_s = csv_double(rows, TIMELINE_IDLE_HELD_S),
        .idle_held_gpu_milli = csv_scaled(rows, TIMELINE_IDLE_HELD, GPU_MILLI),
        .space = read_space(rows),
    };
    if (out->time < reading->latest)
        csv_fail(rows, TIMELINE_TIME, "before the row above");
    for (unsigned cause = 0; cause < SPENT_COUNT; cause++)
        out->spent[cause] = read_gpu_time(rows, TIMELINE_SPENT + cause, 9);
    for (unsigned kind = 0; kind < USE_COUNT; kind++)
        out->use_us[kind] = csv_scaled(rows, TIMELINE_USE + kind, TIME_US_PER_S);
    reading->latest = out->time;
    return !csv_has_error(rows);
}
