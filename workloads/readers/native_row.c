#include "workloads/readers/native_row.h"

#include "workloads/readers/json_communication.h"

const struct column native_columns[NATIVE_FIELD_COUNT] = {
    [NATIVE_JOB_ID] = {"job_id", true, FIELD_NUMBER_OR_TEXT},
    [NATIVE_SUBMIT] = {"submit_s", true, FIELD_NUMBER},
    [NATIVE_DURATION] = {"duration_s", true, FIELD_NUMBER},
    [NATIVE_GPUS] = {"gpus", true, FIELD_NUMBER},
    [NATIVE_NODES] = {"nodes", false, FIELD_NUMBER},
    [NATIVE_GPU_FRACTION] = {"gpu_fraction", false, FIELD_NUMBER},
    [NATIVE_GPU_MEMORY] = {"gpu_memory_gb", false, FIELD_NUMBER},
    [NATIVE_MIG] = {"mig_profile", false, FIELD_TEXT},
    [NATIVE_GPU_CLASS] = {"gpu_class", false, FIELD_TEXT},
    [NATIVE_CPUS] = {"cpus", false, FIELD_NUMBER},
    [NATIVE_MEMORY] = {"memory_gb", false, FIELD_NUMBER},
    [NATIVE_MIN_MEMBERS] = {"min_members", false, FIELD_NUMBER},
    [NATIVE_GPU_MODEL] = {"gpu_model", false, FIELD_TEXT},
    [NATIVE_QUEUE] = {"queue", false, FIELD_TEXT},
    [NATIVE_USER] = {"user", false, FIELD_TEXT},
    [NATIVE_CLASS] = {"class", false, FIELD_TEXT},
    [NATIVE_WORKLOAD_CLASS] = {"workload_class", false, FIELD_TEXT},
    [NATIVE_PRIORITY] = {"priority", false, FIELD_NUMBER},
    [NATIVE_PREEMPTIBLE] = {"preemptible", false, FIELD_BOOL},
    [NATIVE_LIMIT] = {"limit_s", false, FIELD_NUMBER},
    [NATIVE_OUTCOME] = {"outcome", false, FIELD_TEXT},
    [NATIVE_SM_ACTIVE] = {"sm_active", false, FIELD_NUMBER},
    [NATIVE_MEMORY_BANDWIDTH] = {"memory_bandwidth", false, FIELD_NUMBER},
    [NATIVE_WOULD_DO] = {"would_do", false, FIELD_NUMBER},
    [NATIVE_CHECKPOINT_INTERVAL] = {"checkpoint_interval_s", false, FIELD_NUMBER},
    [NATIVE_CHECKPOINT_DURATION] = {"checkpoint_duration_s", false, FIELD_NUMBER},
    [NATIVE_RESTART] = {"restart_s", false, FIELD_NUMBER},
    [NATIVE_ESTIMATE] = {"estimate_s", false, FIELD_NUMBER},
    [NATIVE_DEADLINE] = {"deadline_s", false, FIELD_NUMBER},
    [NATIVE_AFTER] = {"after", false, FIELD_NUMBER_OR_TEXT},
    [NATIVE_ARRAY] = {"array", false, FIELD_NUMBER_OR_TEXT},
    [NATIVE_ARRAY_MAX] = {"array_max", false, FIELD_NUMBER},
    [NATIVE_NODE_SELECTOR] = {"node_selector", false, FIELD_TEXT},
    [NATIVE_TOLERATIONS] = {"tolerations", false, FIELD_TEXT},
    [NATIVE_PREEMPTION_DELAY] = {"preemption_delay_s", false, FIELD_NUMBER},
    [NATIVE_STALE_AFTER] = {"stale_after_s", false, FIELD_NUMBER_OR_TEXT},
    [NATIVE_WAIT] = {"wait_s", false, FIELD_NUMBER},
    [NATIVE_FAILED] = {"failed_attempts_s", false, FIELD_NUMBER_OR_TEXT},
    [NATIVE_SENSITIVITY] = {"sensitivity", false, FIELD_TEXT},
};

enum { FAILURES_MAX = 1000 };

enum {
    PREEMPTIBLE_PRIORITY_BELOW = 100, /* default of `preemptible` */
    CPUS_MAX = 4000000,               /* in milli-CPUs they fit a uint32_t */
};

/* A number that is written as itself; 007 is a name. */
static void id_read(const struct reader *reader, const struct field *field, struct job *job)
{
    const size_t sign = field->value.length > 0 && field->value.at[0] == '-';
    const char first = field->value.length > sign ? field->value.at[sign] : '0';
    const bool is_plain = first >= '1' ? first <= '9' : field->value.length == 1;
    if (!is_plain || !text_to_int64(field->value, INT64_MIN, INT64_MAX, &job->trace_id))
        job->name = arena_copy(reader->arena, field->value);
}

static struct error priority_read(const struct line *line, const struct field *fields, struct job *job)
{
    int64_t priority = job->priority;
    TRY(field_int(line, &fields[NATIVE_PRIORITY], INT32_MIN, INT32_MAX, &priority));
    job->priority = (int32_t)priority;
    job->is_preemptible = priority < PREEMPTIBLE_PRIORITY_BELOW;
    return field_bool(line, &fields[NATIVE_PREEMPTIBLE], &job->is_preemptible);
}

static struct error patience_read(const struct line *line, const struct field *fields, struct job *job)
{
    const struct field *stale = &fields[NATIVE_STALE_AFTER];
    TRY(field_seconds(line, &fields[NATIVE_PREEMPTION_DELAY], &job->preemption_delay));
    if (field_is_set(stale) && text_is(stale->value, "never")) {
        job->stale_after = TIME_NEVER;
        return ERROR_OK;
    }
    return field_seconds(line, stale, &job->stale_after);
}

static struct error times_read(const struct line *line, const struct field *fields, struct trace_row *row)
{
    struct checkpoint_plan *plan = &row->job.checkpoint;
    TRY(field_seconds(line, &fields[NATIVE_SUBMIT], &row->job.submit));
    TRY(field_seconds(line, &fields[NATIVE_DURATION], &row->truth.duration));
    TRY(field_seconds(line, &fields[NATIVE_LIMIT], &row->job.limit));
    if (row->job.limit == 0)
        return field_error(line, &fields[NATIVE_LIMIT], "more than 0");
    TRY(field_seconds(line, &fields[NATIVE_ESTIMATE], &row->job.estimate));
    TRY(field_seconds(line, &fields[NATIVE_DEADLINE], &row->job.deadline));
    if (row->job.deadline <= row->job.submit)
        return field_error(line, &fields[NATIVE_DEADLINE], "later than 'submit_s'");
    TRY(field_seconds(line, &fields[NATIVE_WAIT], &row->truth.recorded_wait));
    TRY(field_seconds(line, &fields[NATIVE_CHECKPOINT_INTERVAL], &plan->interval));
    TRY(field_seconds(line, &fields[NATIVE_CHECKPOINT_DURATION], &plan->duration));
    return field_seconds(line, &fields[NATIVE_RESTART], &plan->restart);
}

static struct error truth_read(const struct line *line, const struct field *fields, struct job_truth *truth)
{
    int outcome = truth->outcome;
    int64_t sm_active = truth->sm_active_milli, bandwidth = truth->bandwidth_milli, would_do = truth->would_do_milli;
    TRY(field_choice(line, &fields[NATIVE_OUTCOME], job_outcome_names, &outcome));
    TRY(field_scaled(line, &fields[NATIVE_SM_ACTIVE], GPU_MILLI, 0, GPU_MILLI, &sm_active));
    TRY(field_scaled(line, &fields[NATIVE_MEMORY_BANDWIDTH], GPU_MILLI, 0, GPU_MILLI, &bandwidth));
    TRY(field_scaled(line, &fields[NATIVE_WOULD_DO], GPU_MILLI, 1, GPU_MILLI, &would_do));
    truth->outcome = (uint8_t)outcome;
    truth->sm_active_milli = (uint16_t)sm_active;
    truth->bandwidth_milli = (uint16_t)bandwidth;
    truth->would_do_milli = (uint16_t)would_do;
    return ERROR_OK;
}

/* Run times of attempts that failed before the last, between semicolons. */
static struct error failures_read(const struct reader *reader, const struct line *line, const struct field *field,
                                  const struct job *job, struct job_truth *truth)
{
    time_ns run_times[FAILURES_MAX + 1];
    struct field one = *field;
    struct text rest = field->value;
    uint32_t count = 0;
    if (!field_is_set(field))
        return ERROR_OK;
    while (text_cut(&rest, ';', &one.value)) {
        if (count == FAILURES_MAX)
            return field_error(line, field, "at most 1000 run times");
        if (!field_is_set(&one))
            return field_error(line, field, "seconds between semicolons, such as 60;7.5");
        TRY(field_seconds(line, &one, &run_times[count++]));
    }
    if (job->checkpoint.interval > 0 || job->checkpoint.duration > 0)
        return field_error(line, field, "left out where the job writes checkpoints");
    run_times[count++] = truth->duration;
    reader_attempts(reader, run_times, count, ATTEMPTS_REPLAYED, truth);
    return ERROR_OK;
}

void native_failures_write(const struct job_failures *failures, struct buffer *out)
{
    for (uint32_t i = 0; failures != NULL && i < failures->count; i++) {
        if (i > 0)
            buffer_char(out, ';');
        buffer_scaled(out, failures->work[i], TIME_NS_PER_S);
    }
}

static bool is_in_window(const struct workload_spec *spec, time_ns submit)
{
    bool has_window = spec->window_from != 0 || spec->window_to != 0;
    return !has_window || (submit >= spec->window_from && submit < spec->window_to);
}

/* Fields that connect it with other jobs of the trace. */
static struct error ties_read(struct reader *reader, const struct line *line, const struct field *fields,
                              const struct job_truth *truth, struct job *job)
{
    int64_t array_max = 0;
    TRY(trace_ids_after(&reader->ids, line, &fields[NATIVE_AFTER], reader->arena, job));
    TRY(field_int(line, &fields[NATIVE_ARRAY_MAX], 0, UINT32_MAX, &array_max));
    if (array_max != 0 && !field_is_set(&fields[NATIVE_ARRAY]))
        return field_error(line, &fields[NATIVE_ARRAY_MAX], "left out where there is no 'array'");
    job->array_max = (uint32_t)array_max;
    if (field_is_set(&fields[NATIVE_ARRAY]))
        job->array = trace_ids_array(&reader->ids, fields[NATIVE_ARRAY].value);
    if (reader->has_ties)
        trace_ids_add(&reader->ids, fields[NATIVE_JOB_ID].value, job->submit,
                      is_in_window(reader->spec, job->submit) && !reader_leaves_out(reader, truth));
    return ERROR_OK;
}

struct error native_row_class(const struct reader *reader, const struct line *line, const struct field *field,
                              struct job_truth *truth)
{
    if (!field_is_set(field) || reader->classes == NULL)
        return ERROR_OK;
    TRY(field_utf8(line, field));
    uint32_t id = names_find(reader->classes, field->value);
    if (id == NAMES_NONE && names_count(reader->classes) == WORKLOAD_CLASSES_MAX)
        return field_error(line, field, "one of at most 64 different names");
    if (id == NAMES_NONE)
        id = names_add(reader->classes, field->value);
    truth->workload_class = (uint8_t)(id + 1);
    return ERROR_OK;
}

struct error native_row_facts(struct reader *reader, const struct line *line, const struct field *fields,
                              struct trace_row *row)
{
    int class = row->job.class;
    if (field_is_set(&fields[NATIVE_GPU_CLASS]))
        reason_tally_add(&reader->unread, READER_LOSES_CLASS);
    TRY(times_read(line, fields, row));
    TRY(field_choice(line, &fields[NATIVE_CLASS], job_class_names, &class));
    row->job.class = (uint8_t) class;
    TRY(priority_read(line, fields, &row->job));
    TRY(patience_read(line, fields, &row->job));
    TRY(truth_read(line, fields, &row->truth));
    TRY(native_row_class(reader, line, &fields[NATIVE_WORKLOAD_CLASS], &row->truth));
    TRY(communication_field_read(reader, line, &fields[NATIVE_SENSITIVITY], &row->job));
    TRY(field_utf8(line, &fields[NATIVE_JOB_ID]));
    TRY(field_utf8(line, &fields[NATIVE_QUEUE]));
    TRY(field_utf8(line, &fields[NATIVE_USER]));
    TRY(failures_read(reader, line, &fields[NATIVE_FAILED], &row->job, &row->truth));
    TRY(ties_read(reader, line, fields, &row->truth, &row->job));
    id_read(reader, &fields[NATIVE_JOB_ID], &row->job);
    row->job.queue = reader_queue(reader, fields[NATIVE_QUEUE].value);
    row->job.user = reader_user(reader, fields[NATIVE_USER].value);
    return ERROR_OK;
}

static struct error models_read(const struct reader *reader, const struct line *line, const struct field *fields,
                                struct ask *ask)
{
    const struct field *mig = &fields[NATIVE_MIG];
    uint64_t mig_models = 0;
    if (field_is_set(&fields[NATIVE_GPU_MODEL]))
        ask->gpu_models = reader_models(reader, fields[NATIVE_GPU_MODEL].value);
    if (!field_is_set(mig))
        return ERROR_OK;
    ask->mig = ask_mig(reader->cluster, mig->value, &mig_models);
    if (ask->mig == 0)
        return field_error(line, mig, "a MIG profile such as 1g.10gb");
    ask->gpu_models = ask_both_models(ask->gpu_models, mig_models);
    return ERROR_OK;
}

/* A share too small for an integer must not be read as 0. */
static struct error fraction_read(const struct line *line, const struct field *field, int64_t *out)
{
    double fraction = 0;
    TRY(field_scaled(line, field, GPU_MILLI, 0, GPU_MILLI, out));
    if (*out == 0 && field_is_set(field) && text_to_double(field->value, &fraction) && fraction > 0)
        return field_error(line, field, "0, or from 0.001 to 1");
    return ERROR_OK;
}

/* The complaint about the field as an error. */
static struct error nodes_error(const struct line *line, const struct field *field, const char *complaint)
{
    return complaint == NULL ? ERROR_OK : field_error(line, field, complaint);
}

static struct error nodes_read(const struct reader *reader, const struct line *line, const struct field *fields,
                               struct ask *ask)
{
    const struct field *selector = &fields[NATIVE_NODE_SELECTOR];
    const struct field *tolerations = &fields[NATIVE_TOLERATIONS];
    struct node_ask draft = {.term_count = 0};
    if (!field_is_set(selector) && !field_is_set(tolerations))
        return ERROR_OK;
    TRY(field_utf8(line, selector));
    TRY(field_utf8(line, tolerations));
    if (field_is_set(selector))
        TRY(nodes_error(line, selector, node_ask_selector_of(selector->value, reader->arena, &draft)));
    if (field_is_set(tolerations))
        TRY(nodes_error(line, tolerations, node_ask_tolerations_of(tolerations->value, reader->arena, &draft)));
    ask->node_ask = reader_nodes(reader, &draft);
    return ERROR_OK;
}

/* Without a cluster GPU classes are not known, and their GPUs count as whole GPUs. */
static struct error class_read(const struct reader *reader, const struct line *line, const struct field *fields,
                               struct ask *ask)
{
    const struct field *field = &fields[NATIVE_GPU_CLASS];
    enum ask_field culprit;
    if (!field_is_set(field))
        return ERROR_OK;
    if (!field_is_set(&fields[NATIVE_GPUS]))
        ask->gpus = 1;
    if (reader->cluster == NULL)
        return ERROR_OK;
    const struct gpu_class *class = cluster_gpu_class_of(reader->cluster, field->value);
    if (class == NULL) {
        struct error error = input_error(line->input, line->text, field->place, "the cluster has no GPU class '%.*s'",
                                         (int)field->value.length, field->value.at);
        gpu_class_hint(reader->cluster, field->value, &error);
        return error;
    }
    const char *complaint = ask_class(class, ask, &culprit);
    if (complaint == NULL)
        return ERROR_OK;
    field = native_row_culprit(fields, culprit);
    return input_error(line->input, line->text, field->place, "'%s': %s", field->name, complaint);
}

struct error native_row_ask(const struct reader *reader, const struct line *line, const struct field *fields,
                            struct ask *ask)
{
    *ask = (struct ask){0};
    TRY(field_int(line, &fields[NATIVE_GPUS], 0, ASK_GPUS_MAX, &ask->gpus));
    TRY(field_int(line, &fields[NATIVE_NODES], 1, CLUSTER_NODES_MAX, &ask->nodes));
    TRY(fraction_read(line, &fields[NATIVE_GPU_FRACTION], &ask->gpu_milli));
    TRY(field_mib(line, &fields[NATIVE_GPU_MEMORY], &ask->gpu_memory_mib));
    TRY(field_scaled(line, &fields[NATIVE_CPUS], GPU_MILLI, 0, INT64_C(1000) * CPUS_MAX, &ask->cpu_milli));
    TRY(field_mib(line, &fields[NATIVE_MEMORY], &ask->memory_mib));
    TRY(field_int(line, &fields[NATIVE_MIN_MEMBERS], 1, ASK_GPUS_MAX, &ask->min_members));
    TRY(nodes_read(reader, line, fields, ask));
    TRY(models_read(reader, line, fields, ask));
    return class_read(reader, line, fields, ask);
}

const struct field *native_row_culprit(const struct field *fields, enum ask_field culprit)
{
    static const enum native_field field_of[] = {
        [ASK_GPUS] = NATIVE_GPUS,
        [ASK_NODES] = NATIVE_NODES,
        [ASK_FRACTION] = NATIVE_GPU_FRACTION,
        [ASK_GPU_MEMORY] = NATIVE_GPU_MEMORY,
        [ASK_MIG] = NATIVE_MIG,
        [ASK_MIN_MEMBERS] = NATIVE_MIN_MEMBERS,
        [ASK_MODEL] = NATIVE_GPU_MODEL,
    };
    return &fields[field_of[culprit]];
}

struct error native_row_shape(const struct reader *reader, const struct line *line, const struct field *fields,
                              struct trace_row *row)
{
    struct ask ask;
    enum ask_field culprit;
    TRY(native_row_ask(reader, line, fields, &ask));
    const char *complaint = ask_shape(&ask, &row->job, &culprit);
    if (complaint == NULL)
        return ERROR_OK;
    const struct field *field = native_row_culprit(fields, culprit);
    return input_error(line->input, line->text, field->place, "'%s': %s", field->name, complaint);
}
