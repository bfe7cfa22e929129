/* workloads/readers/read_openb.c -- pod lists of Alibaba's GPU-sharing cluster (alibaba/clusterdata, openb 2023).
 * Lists of the kind multigpu* hold no times: see openb_untimed. */
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum {
    OPENB_NAME,
    OPENB_CPU,
    OPENB_MEMORY,
    OPENB_GPUS,
    OPENB_GPU_MILLI,
    OPENB_SPEC,
    OPENB_QOS,
    OPENB_PHASE,
    OPENB_CREATION,
    OPENB_DELETION,
    OPENB_SCHEDULED,
    OPENB_COLUMN_COUNT
};

static const struct column columns[OPENB_COLUMN_COUNT] = {
    [OPENB_NAME] = {"name", true, FIELD_TEXT},
    [OPENB_CPU] = {"cpu_milli", true, FIELD_NUMBER},
    [OPENB_MEMORY] = {"memory_mib", true, FIELD_NUMBER},
    [OPENB_GPUS] = {"num_gpu", true, FIELD_NUMBER},
    [OPENB_GPU_MILLI] = {"gpu_milli", true, FIELD_NUMBER},
    [OPENB_SPEC] = {"gpu_spec", false, FIELD_TEXT},
    [OPENB_QOS] = {"qos", false, FIELD_TEXT},
    [OPENB_PHASE] = {"pod_phase", false, FIELD_TEXT},
    [OPENB_CREATION] = {"creation_time", false, FIELD_NUMBER},
    [OPENB_DELETION] = {"deletion_time", false, FIELD_NUMBER},
    [OPENB_SCHEDULED] = {"scheduled_time", false, FIELD_NUMBER},
};

static struct error openb_first_line(struct reader *reader, struct text text, bool *is_header)
{
    const struct csv *csv = &reader->csv;
    (void)is_header;
    bool has_times = csv->is_there[OPENB_CREATION] && csv->is_there[OPENB_DELETION];
    bool wants_times = reader->spec->default_duration == 0 && reader->spec->fill.load == 0;
    if (has_times || !wants_times)
        return ERROR_OK;
    struct error error = input_error(reader->input, text, (struct text){NULL, 0},
                                     "this pod list has no creation_time and deletion_time");
    error_set_hint(&error, "with workload.default_duration its pods come one per second and last so long; "
                           "workload.fill needs no times");
    return error;
}

/* A pod is one member, so its whole request must fit one node. */
static struct error openb_ask(const struct reader *reader, const struct line *line, const struct field *fields,
                              struct job *job)
{
    int64_t gpu_milli = GPU_MILLI;
    struct ask ask = {.nodes = 1, .gpu_models = reader_models(reader, fields[OPENB_SPEC].value)};
    enum ask_field culprit;
    TRY(field_int(line, &fields[OPENB_CPU], 0, UINT32_MAX, &ask.cpu_milli));
    TRY(field_int(line, &fields[OPENB_MEMORY], 0, UINT32_MAX, &ask.memory_mib));
    TRY(field_int(line, &fields[OPENB_GPUS], 0, UINT16_MAX, &ask.gpus));
    bool is_shared = ask.gpus == 1;
    TRY(field_int(line, &fields[OPENB_GPU_MILLI], is_shared ? 1 : 0, GPU_MILLI, &gpu_milli));
    if (is_shared && gpu_milli < GPU_MILLI)
        ask.gpu_milli = gpu_milli;
    const char *complaint = ask_shape(&ask, job, &culprit);
    if (complaint == NULL)
        return ERROR_OK;
    const struct field *field = &fields[OPENB_GPUS];
    return input_error(line->input, line->text, field->place, "'%s': %s", field->name, complaint);
}

/* A list without times, as for packing experiments.  Only its order is known, which suffices to fill a cluster. */
static void openb_untimed(const struct reader *reader, struct trace_row *row)
{
    row->job.submit = (time_ns)reader->row_count * TIME_NS_PER_S;
    row->truth.duration = reader->spec->default_duration;
}

static struct error openb_times(const struct reader *reader, const struct line *line, const struct csv *csv,
                                struct trace_row *row)
{
    const struct field *fields = csv->fields;
    if (!csv->is_there[OPENB_CREATION] || !csv->is_there[OPENB_DELETION]) {
        openb_untimed(reader, row);
        return ERROR_OK;
    }
    time_ns begin, end = 0;
    for (int i = OPENB_CREATION; i <= OPENB_DELETION; i++)
        if (!field_is_set(&fields[i]))
            return field_error(line, &fields[i], "a number of seconds");
    TRY(field_seconds(line, &fields[OPENB_CREATION], &row->job.submit));
    TRY(field_seconds(line, &fields[OPENB_DELETION], &end));
    begin = row->job.submit;
    TRY(field_seconds(line, &fields[OPENB_SCHEDULED], &begin));
    if (end < begin)
        return field_error(line, &fields[OPENB_DELETION], "no earlier than the pod's start");
    row->truth.duration = end - begin;
    if (field_is_set(&fields[OPENB_SCHEDULED]) && begin >= row->job.submit)
        row->truth.recorded_wait = begin - row->job.submit;
    return ERROR_OK;
}

/* Best effort is batch work; all other service classes count as latency-sensitive. */
static void openb_class(const struct field *fields, struct trace_row *row)
{
    struct text qos = fields[OPENB_QOS].value, phase = fields[OPENB_PHASE].value;
    bool is_sensitive = text_is(qos, "LS") || text_is(qos, "Burstable") || text_is(qos, "Guaranteed");
    row->job.class = is_sensitive ? JOB_INFERENCE : JOB_TRAINING;
    if (text_is(phase, "Failed"))
        row->truth.outcome = OUTCOME_FAILED;
    else if (text_is(phase, "Pending"))
        row->truth.outcome = OUTCOME_CANCELLED; /* it was deleted before it ran */
}

static struct error openb_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    const struct csv *csv = &reader->csv;
    TRY(openb_ask(reader, line, csv->fields, &row->job));
    TRY(openb_times(reader, line, csv, row));
    openb_class(csv->fields, row);
    TRY(field_utf8(line, &csv->fields[OPENB_NAME]));
    row->job.trace_id = (int64_t)reader->row_count + 1;
    row->job.name = arena_copy(reader->arena, csv->fields[OPENB_NAME].value);
    row->job.queue = reader_queue(reader, TEXT(""));
    return ERROR_OK;
}

const struct trace_format trace_openb = {
    .name = "openb",
    .summary = "CSV of Alibaba's openb pod lists: name, cpu_milli, memory_mib, num_gpu, gpu_milli, ...",
    .version = TRACE_FORMAT_VERSION,
    .columns = columns,
    .column_count = OPENB_COLUMN_COUNT,
    .on_first_line = openb_first_line,
    .on_line = openb_line,
};
