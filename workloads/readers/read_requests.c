/* workloads/readers/read_requests.c -- traces of requests to a language model, as the load of a service
 * (workloads/readers/service_load.h): each replica is a job.
 *
 * Sources: Azure/AzurePublicDataset (AzureLLMInferenceDataset2023.md, ...2024.md), HPMLL/BurstGPT (README.md),
 * kvcache-ai/Mooncake (FAST25-release/README.md). */
#include <stdio.h>
#include <string.h>

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"
#include "workloads/readers/service_load.h"
#include "workloads/readers/zone.h"

enum { REQUEST_TIME, REQUEST_PROMPT, REQUEST_OUTPUT, REQUEST_COLUMN_COUNT };
enum { TOKENS_MAX = 1 << 30, SERVICE_PRIORITY = 100 };

static const struct column azure_columns[REQUEST_COLUMN_COUNT] = {
    {"TIMESTAMP", true, FIELD_TEXT}, {"ContextTokens", true, FIELD_NUMBER}, {"GeneratedTokens", true, FIELD_NUMBER}};
static const struct column burstgpt_columns[REQUEST_COLUMN_COUNT] = {
    {"Timestamp", true, FIELD_TEXT}, {"Request tokens", true, FIELD_NUMBER}, {"Response tokens", true, FIELD_NUMBER}};
static const struct column mooncake_columns[REQUEST_COLUMN_COUNT] = {
    {"timestamp", true, FIELD_NUMBER}, {"input_length", true, FIELD_NUMBER}, {"output_length", true, FIELD_NUMBER}};

struct requests_state {
    struct service_load load;
    bool has_begun;
    time_ns last;
    uint64_t replicas;
};

static bool mooncake_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    return first_line.length > 0 && text_trim(first_line).at[0] == '{' &&
           memmem(first_line.at, first_line.length, "\"input_length\"", 14) != NULL &&
           memmem(first_line.at, first_line.length, "\"output_length\"", 15) != NULL;
}

/* The replica that has left, as a job. */
static void replica_make(struct reader *reader, const struct service_replica *replica, struct trace_row *row)
{
    struct requests_state *state = reader->state;
    job_shape_gpus(&row->job, state->load.plan.gpus, (uint16_t)state->load.plan.gpus);
    row->is_nothing = false;
    row->job.submit = replica->begin;
    row->truth.duration = replica->end - replica->begin;
    row->job.class = JOB_INFERENCE;
    row->job.priority = SERVICE_PRIORITY;
    row->job.is_preemptible = false;
    row->job.trace_id = (int64_t)++state->replicas;
    row->job.queue = reader_queue(reader, TEXT(""));
}

static void plan_begin(const struct reader *reader, time_ns at)
{
    struct requests_state *state = reader->state;
    const struct service_plan usual = service_plan_default();
    const struct service_plan *set = &reader->spec->service;
    service_load_begin(&state->load, set->interval != 0 ? set : &usual, at);
}

/* A request, or a replica that left before it: then the line is read again. */
static struct error request_take(struct reader *reader, const struct line *line, const struct field *fields, time_ns at,
                                 struct trace_row *row)
{
    struct requests_state *state = reader->state;
    struct service_replica replica;
    int64_t prompt = 0, output = 0;
    row->is_nothing = true;
    TRY(field_int(line, &fields[REQUEST_PROMPT], 0, TOKENS_MAX, &prompt));
    TRY(field_int(line, &fields[REQUEST_OUTPUT], 0, TOKENS_MAX, &output));
    if (!state->has_begun)
        plan_begin(reader, at);
    state->has_begun = true;
    if (at < state->last)
        return input_error(line->input, line->text, fields[REQUEST_TIME].place,
                           "requests must be sorted by time: this one is before the last one");
    do {
        if (service_load_next(&state->load, &replica)) {
            replica_make(reader, &replica, row);
            reader_put_back(reader, line->text);
            return ERROR_OK;
        }
    } while (service_load_close_before(&state->load, at));
    state->last = at;
    reader->requests.count++;
    reader->requests.prompt_tokens += (uint64_t)prompt;
    reader->requests.output_tokens += (uint64_t)output;
    if (!service_load_add(&state->load, (uint64_t)prompt, (uint64_t)output))
        return input_error(line->input, line->text, (struct text){NULL, 0},
                           "the service would need %d replicas or more: a replica serves more tokens per second than "
                           "workload.service says, or this is no request",
                           SERVICE_REPLICAS_MAX);
    return ERROR_OK;
}

static struct error azure_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    const struct field *fields = reader->csv.fields;
    time_ns at;
    if (!zone_date(fields[REQUEST_TIME].value, &reader->spec->zone, &at))
        return field_error(line, &fields[REQUEST_TIME], "a date and time such as 2023-11-16 18:17:03.9799600");
    return request_take(reader, line, fields, at, row);
}

static struct error burstgpt_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    const struct field *fields = reader->csv.fields;
    time_ns at = 0;
    TRY(field_seconds(line, &fields[REQUEST_TIME], &at));
    if (text_is(fields[REQUEST_OUTPUT].value, "0")) {
        row->why = "they are requests that failed";
        return ERROR_OK;
    }
    return request_take(reader, line, fields, at, row);
}

static struct error mooncake_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct field fields[REQUEST_COLUMN_COUNT];
    struct text rest = line->text, key, value;
    int64_t us = 0;
    TRY(json_line_check(line));
    for (int i = 0; i < REQUEST_COLUMN_COUNT; i++)
        fields[i] = (struct field){.name = mooncake_columns[i].name};
    while (json_line_member(&rest, &key, &value))
        for (int i = 0; i < REQUEST_COLUMN_COUNT; i++)
            if (text_is(key, mooncake_columns[i].name))
                TRY(json_line_field(line, value, FIELD_NUMBER, reader->arena, &fields[i]));
    for (int i = 0; i < REQUEST_COLUMN_COUNT; i++)
        if (!field_is_set(&fields[i]))
            return field_error(line, &fields[i], "a number");
    TRY(field_scaled(line, &fields[REQUEST_TIME], 1000, 0, TIME_NS_MAX / TIME_NS_PER_US, &us));
    return request_take(reader, line, fields, us * TIME_NS_PER_US, row);
}

static struct error requests_end(struct reader *reader, struct trace_row *row, bool *has)
{
    struct requests_state *state = reader->state;
    struct service_replica replica;
    *has = false;
    if (!state->has_begun)
        return ERROR_OK;
    do
        *has = service_load_next(&state->load, &replica);
    while (!*has && service_load_end(&state->load));
    if (*has)
        replica_make(reader, &replica, row);
    return ERROR_OK;
}

static void requests_close(struct reader *reader)
{
    struct requests_state *state = reader->state;
    service_load_release(&state->load);
}

#define REQUESTS(NAME, SUMMARY, WORD, ...)                                                                             \
    {                                                                                                                  \
        .name = (NAME), .summary = (SUMMARY), .version = TRACE_FORMAT_VERSION,                                         \
        .state_bytes = sizeof(struct requests_state), __VA_ARGS__, .on_line = WORD##_line, .on_end = requests_end,     \
        .on_close = requests_close,                                                                                    \
    }

#define CSV_OF(COLUMNS) .columns = (COLUMNS), .column_count = REQUEST_COLUMN_COUNT

const struct trace_format trace_azure_llm =
    REQUESTS("azure-llm", "requests of Azure's LLM inference traces, as replicas", azure, CSV_OF(azure_columns));
const struct trace_format trace_burstgpt =
    REQUESTS("burstgpt", "requests of BurstGPT, as replicas", burstgpt, CSV_OF(burstgpt_columns));
const struct trace_format trace_mooncake =
    REQUESTS("mooncake", "requests of Mooncake (JSON lines), as replicas", mooncake, .is_mine = mooncake_is_mine);
