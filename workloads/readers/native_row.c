#include "workloads/readers/native_row.h"

#include "workloads/readers/json_communication.h"

/* ---- the table ---- */

#define KIND_INT      FIELD_NUMBER
#define KIND_MILLI    FIELD_NUMBER
#define KIND_BOOL     FIELD_BOOL
#define KIND_NAME     FIELD_TEXT
#define KIND_TIME     FIELD_NUMBER
#define KIND_PATIENCE FIELD_NUMBER_OR_TEXT

#define COLUMN(ID, KEY, FORM, ...)           [NATIVE_##ID] = {JOB_KEY_##FORM(KEY), false, KIND_##FORM},
#define OWN_COLUMN(ID, KEY, KIND, NEED, ...) [NATIVE_##ID] = {KEY, NEED, KIND},
const struct column native_columns[NATIVE_FIELD_COUNT] = {JOB_TEXT(COLUMN, JOB_TEXT_NONE, COLUMN, OWN_COLUMN)};

#define JOB_ROW(ID, ...)   [NATIVE_##ID] = JOB_TEXT_ROW(struct job, false, ID, __VA_ARGS__),
#define TRUTH_ROW(ID, ...) [NATIVE_##ID] = JOB_TEXT_ROW(struct job_truth, true, ID, __VA_ARGS__),
const struct job_text native_texts[NATIVE_FIELD_COUNT] = {JOB_TEXT(JOB_ROW, JOB_TEXT_NONE, TRUTH_ROW, JOB_TEXT_NONE)};

enum { FAILURES_MAX = 1000 };

enum {
    CPUS_MAX = 4000000, /* in milli-CPUs they fit a uint32_t */
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

/* ---- fields that are numbers in their struct ---- */

#define SET_INT(field, low, high, names)   TRY(field_set_int(line, field, low, high, &value))
#define SET_MILLI(field, low, high, names) TRY(field_set_scaled(line, field, GPU_MILLI, low, high, &value))
#define SET_BOOL(field, low, high, names)                                                                              \
    TRY(field_set_bool(line, field, &is));                                                                             \
    value = is
#define SET_NAME(field, low, high, names)                                                                              \
    TRY(field_set_choice(line, field, names, &choice));                                                                \
    value = choice
#define SET_TIME(field, low, high, names)                                                                              \
    TRY(field_set_seconds(line, field, &value));                                                                       \
    if (value < (low))                                                                                                 \
    return field_error(line, field, "more than 0")
#define SET_PATIENCE(field, low, high, names)                                                                          \
    value = TIME_NEVER;                                                                                                \
    if (!text_is((field)->value, "never"))                                                                             \
    TRY(field_set_seconds(line, field, &value))

#define SET(base, ID, FORM, PLACE, LOW, HIGH, NAMES)                                                                   \
    if (field_is_set(&fields[NATIVE_##ID])) {                                                                          \
        SET_##FORM(&fields[NATIVE_##ID], LOW, HIGH, NAMES);                                                            \
        row->base.PLACE = (__typeof__(row->base.PLACE))value;                                                          \
    }
#define SET_JOB(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, ...)   SET(job, ID, FORM, PLACE, LOW, HIGH, NAMES)
#define SET_TRUTH(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, ...) SET(truth, ID, FORM, PLACE, LOW, HIGH, NAMES)

static struct error numbers_read(const struct line *line, const struct field *fields, struct trace_row *row)
{
    int64_t value;
    int choice = 0;
    bool is = false;
    JOB_TEXT(SET_JOB, JOB_TEXT_NONE, SET_TRUTH, JOB_TEXT_NONE)
    row->job.is_firm_by_priority = !field_is_set(&fields[NATIVE_PREEMPTIBLE]);
    if (row->job.deadline <= row->job.submit)
        return field_error(line, &fields[NATIVE_DEADLINE], "later than 'submit_s'");
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
    return !workload_has_window(spec) || (submit >= spec->window_from && submit < spec->window_to);
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
    if (field_is_set(&fields[NATIVE_GPU_CLASS]))
        reason_tally_add(&reader->unread, READER_LOSES_CLASS);
    TRY(field_seconds(line, &fields[NATIVE_SUBMIT], &row->job.submit));
    TRY(field_seconds(line, &fields[NATIVE_DURATION], &row->truth.duration));
    TRY(numbers_read(line, fields, row));
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
    return native_row_complaint(line, fields, complaint, culprit);
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

struct error native_row_complaint(const struct line *line, const struct field *fields, const char *complaint,
                                  enum ask_field culprit)
{
    if (complaint == NULL)
        return ERROR_OK;
    const struct field *field = native_row_culprit(fields, culprit);
    return input_error(line->input, line->text, field->place, "'%s': %s", field->name, complaint);
}

struct error native_row_shape(const struct reader *reader, const struct line *line, const struct field *fields,
                              struct trace_row *row)
{
    struct ask ask;
    enum ask_field culprit;
    TRY(native_row_ask(reader, line, fields, &ask));
    const char *complaint = ask_shape(&ask, &row->job, &culprit);
    return native_row_complaint(line, fields, complaint, culprit);
}
