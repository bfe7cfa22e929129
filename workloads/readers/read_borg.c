/* workloads/readers/read_borg.c -- Google's Borg traces of 2019: events of collections, one JSON object a line, and in
 * the table `instance` those of their instances (google/cluster-data, clusterdata_trace_format_v3.proto).
 *
 * A collection is a job, with as many members as it has instances; alloc sets are none.  Events may stand in any
 * order, since the shards are not sorted: a job is submitted at its first SUBMIT, started at the first SCHEDULE of an
 * instance, and ended at its last event that ends it.  CPUs and memory are parts of those of the largest machine; here
 * they become parts of those of the largest node of the cluster.
 *
 * Memory: about 150 bytes for each collection, and 130 more where the table has instances of it. */
#include <string.h>

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

#define INSTANCE_TABLE "instance"

enum {
    CPU_MILLI_ASSUMED = 64000, /* of the largest node, where the cluster does not tell */
    MEMORY_MIB_ASSUMED = 512 << 10,
    PARTS = 1000000,         /* amounts are read in millionths of the largest machine */
    PREEMPTIBLE_BELOW = 120, /* assumed: production begins at this priority */
    NS_PER_US = 1000
};

enum borg_event {
    BORG_SUBMIT,
    BORG_QUEUE,
    BORG_ENABLE,
    BORG_SCHEDULE,
    BORG_EVICT,
    BORG_FAIL,
    BORG_FINISH,
    BORG_KILL,
    BORG_LOST,
    BORG_UPDATE_PENDING,
    BORG_UPDATE_RUNNING,
    BORG_EVENT_COUNT
};

enum borg_field {
    BORG_TIME,
    BORG_TYPE,
    BORG_COLLECTION,
    BORG_COLLECTION_TYPE,
    BORG_PRIORITY,
    BORG_CLASS,
    BORG_USER,
    BORG_INDEX,
    BORG_CPUS,
    BORG_MEMORY,
    BORG_FIELD_COUNT
};

static const char *const field_names[BORG_FIELD_COUNT] = {
    "time", "type",           "collection_id", "collection_type", "priority", "scheduling_class",
    "user", "instance_index", "cpus",          "memory"};

struct event {
    struct field fields[BORG_FIELD_COUNT];
    time_ns time; /* 0: before the trace; TIME_NEVER: after it */
    int64_t type;
};

/* ---- One line ---- */

static struct error members_take(const struct line *line, struct text object, struct arena *arena, struct event *event)
{
    struct text rest = object, key, value;
    while (json_line_member(&rest, &key, &value)) {
        if (text_is(key, "resource_request") && value.at[0] == '{') {
            TRY(members_take(line, value, arena, event));
            continue;
        }
        for (int i = 0; i < BORG_FIELD_COUNT; i++)
            if (text_is(key, field_names[i]))
                TRY(json_line_field(line, value, FIELD_NUMBER_OR_TEXT, arena, &event->fields[i]));
    }
    return ERROR_OK;
}

static struct error event_read(const struct line *line, struct arena *arena, struct event *event)
{
    static const int needed[] = {BORG_TIME, BORG_TYPE, BORG_COLLECTION};
    int64_t us = 0;
    TRY(json_line_check(line));
    *event = (struct event){.type = -1};
    for (int i = 0; i < BORG_FIELD_COUNT; i++)
        event->fields[i].name = field_names[i];
    TRY(members_take(line, line->text, arena, event));
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!field_is_set(&event->fields[needed[i]]))
            return input_error(line->input, line->text, (struct text){NULL, 0}, "'%s' is missing",
                               field_names[needed[i]]);
    TRY(field_int(line, &event->fields[BORG_TIME], 0, INT64_MAX, &us));
    TRY(field_int(line, &event->fields[BORG_TYPE], 0, BORG_EVENT_COUNT - 1, &event->type));
    event->time = us > TIME_NS_MAX / NS_PER_US ? TIME_NEVER : us * NS_PER_US;
    return ERROR_OK;
}

static bool is_end(int64_t type)
{
    return type >= BORG_EVICT && type <= BORG_LOST;
}

/* ---- Instances: kept while the trace is read ---- */

struct instances {        /* of one collection */
    time_ns scheduled;    /* the first; TIME_NEVER: none was, or not in the trace */
    int64_t cpus, memory; /* of the largest, in millionths */
    uint32_t count;       /* the highest index + 1 */
    bool was_before;      /* one was scheduled before the trace began */
};

struct table {
    struct names *ids; /* of collections */
    struct instances *of;
    size_t capacity;
};

static void table_free(void *content)
{
    struct table *table = content;
    names_free(table->ids);
    mem_free(table->of);
    mem_free(table);
}

static struct error instance_add(struct table *table, const struct line *line, struct arena *arena)
{
    struct event event;
    int64_t index = -1, cpus = 0, memory = 0;
    TRY(event_read(line, arena, &event));
    if (!field_is_set(&event.fields[BORG_INDEX]))
        return input_error(line->input, line->text, (struct text){NULL, 0}, "'instance_index' is missing");
    TRY(field_int(line, &event.fields[BORG_INDEX], 0, ASK_GPUS_MAX - 1, &index));
    TRY(field_scaled(line, &event.fields[BORG_CPUS], PARTS, 0, INT64_C(1000) * PARTS, &cpus));
    TRY(field_scaled(line, &event.fields[BORG_MEMORY], PARTS, 0, INT64_C(1000) * PARTS, &memory));
    const uint32_t known = names_count(table->ids), id = names_add(table->ids, event.fields[BORG_COLLECTION].value);
    MEM_GROW(table->of, table->capacity, (size_t)id + 1);
    struct instances *of = &table->of[id];
    if (id == known)
        *of = (struct instances){.scheduled = TIME_NEVER};
    of->count = of->count > index ? of->count : (uint32_t)index + 1;
    of->cpus = of->cpus > cpus ? of->cpus : cpus;
    of->memory = of->memory > memory ? of->memory : memory;
    if (event.type == BORG_SCHEDULE && event.time == 0)
        of->was_before = true;
    else if (event.type == BORG_SCHEDULE && event.time < of->scheduled)
        of->scheduled = event.time;
    return ERROR_OK;
}

static struct error instances_read(struct reader *reader, struct table *table, struct side_file *file,
                                   struct input *input, struct arena *arena)
{
    struct line line = {.input = input};
    bool has;
    while (true) {
        TRY(input_line(input, &line.text, &has));
        if (!has)
            return ERROR_OK;
        if (text_trim(line.text).length == 0)
            continue;
        arena_reset(arena);
        struct error error = instance_add(table, &line, arena);
        if (!error_is(error))
            file->row_count++;
        else if (!reader_forgives(reader, &error))
            return error;
    }
}

static struct error borg_first_line(struct reader *reader, struct text first, bool *is_header)
{
    struct side_file *file = side_files_ask(reader->sides, INSTANCE_TABLE);
    struct arena arena = {0};
    struct input *input;
    (void)first;
    *is_header = false;
    if (file == NULL)
        return side_files_missing("borg", INSTANCE_TABLE, "the events of instances, with what they ask for");
    if (reader->sides->content != NULL)
        return ERROR_OK;
    TRY(side_file_open(file, &input));
    struct table *table = mem_zalloc(1, sizeof *table);
    table->ids = names_new();
    reader->sides->content = table;
    reader->sides->on_release = table_free;
    struct error error = instances_read(reader, table, file, input, &arena);
    arena_release(&arena);
    if (!error_is(error))
        return side_file_close(file, input);
    input_close(input);
    return error;
}

/* ---- Collections ---- */

struct collection {
    time_ns submit, ended, lived; /* ended: the last event that ends it; lived: the last other; TIME_NEVER: none */
    int32_t priority;
    uint32_t user;
    uint8_t end_type, class; /* class: + 1; 0: not told */
    bool is_alloc_set, was_before;
};

struct borg_state {
    struct names *ids;
    struct collection *collections;
    size_t capacity;
    uint32_t next; /* at the end: the next of them */
};

static void event_fold(struct collection *collection, const struct event *event)
{
    if (event->type == BORG_SUBMIT && event->time == 0)
        collection->was_before = true;
    else if (event->type == BORG_SUBMIT && event->time < collection->submit)
        collection->submit = event->time;
    time_ns *last = is_end(event->type) ? &collection->ended : &collection->lived;
    if (event->time == TIME_NEVER || (*last != TIME_NEVER && event->time < *last))
        return;
    *last = event->time;
    if (is_end(event->type))
        collection->end_type = (uint8_t)event->type;
}

static struct error borg_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct borg_state *state = reader->state;
    struct event event;
    int64_t priority = 0, class = -1, type = 0;
    row->is_nothing = true;
    TRY(event_read(line, reader->arena, &event));
    if (field_is_set(&event.fields[BORG_INDEX]))
        return input_error(
            line->input, line->text, event.fields[BORG_INDEX].place,
            "this is an event of an instance: the trace is that of collections, and its table '" INSTANCE_TABLE
            "' has instances");
    TRY(field_int(line, &event.fields[BORG_PRIORITY], 0, INT32_MAX, &priority));
    TRY(field_int(line, &event.fields[BORG_CLASS], 0, 3, &class));
    TRY(field_int(line, &event.fields[BORG_COLLECTION_TYPE], 0, 1, &type));
    TRY(field_utf8(line, &event.fields[BORG_USER]));
    if (state->ids == NULL)
        state->ids = names_new();
    const uint32_t known = names_count(state->ids), id = names_add(state->ids, event.fields[BORG_COLLECTION].value);
    MEM_GROW(state->collections, state->capacity, (size_t)id + 1);
    struct collection *collection = &state->collections[id];
    if (id == known)
        *collection =
            (struct collection){.submit = TIME_NEVER, .ended = TIME_NEVER, .lived = TIME_NEVER, .user = NAMES_NONE};
    collection->is_alloc_set |= type == 1;
    if (field_is_set(&event.fields[BORG_PRIORITY]))
        collection->priority = (int32_t)priority;
    if (class >= 0)
        collection->class = (uint8_t)(class + 1);
    if (field_is_set(&event.fields[BORG_USER]))
        collection->user = reader_user(reader, event.fields[BORG_USER].value);
    event_fold(collection, &event);
    return ERROR_OK;
}

static const char *skip_reason(const struct collection *collection, const struct instances *instances)
{
    if (collection->is_alloc_set)
        return "they are alloc sets, not jobs";
    if (collection->was_before || (instances != NULL && instances->was_before))
        return "they were submitted before the trace began";
    if (collection->submit == TIME_NEVER)
        return "their submission is not known";
    if (instances == NULL)
        return "the table of instances does not have them";
    if (instances->scheduled == TIME_NEVER)
        return "they never started";
    if (collection->ended == TIME_NEVER || (collection->lived != TIME_NEVER && collection->lived > collection->ended))
        return "they had not ended";
    if (collection->ended < instances->scheduled || instances->scheduled < collection->submit)
        return "their events are in an impossible order";
    return NULL;
}

/* A part of the largest node, rounded up. */
static int64_t part_of(int64_t millionths, int64_t whole)
{
    return (millionths * whole + PARTS - 1) / PARTS;
}

static void largest_node(const struct cluster *cluster, int64_t *cpu_milli, int64_t *memory_mib)
{
    *cpu_milli = *memory_mib = 0;
    for (uint32_t t = 0; cluster != NULL && t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        *cpu_milli = type->cpu_milli > *cpu_milli ? type->cpu_milli : *cpu_milli;
        *memory_mib = type->memory_mib > *memory_mib ? type->memory_mib : *memory_mib;
    }
    if (*cpu_milli == 0)
        *cpu_milli = CPU_MILLI_ASSUMED;
    if (*memory_mib == 0)
        *memory_mib = MEMORY_MIB_ASSUMED;
}

static const char *job_make(struct reader *reader, const struct collection *collection,
                            const struct instances *instances, struct text id, struct trace_row *row)
{
    struct job *job = &row->job;
    int64_t cpu_milli, memory_mib;
    enum ask_field culprit;
    largest_node(reader->cluster, &cpu_milli, &memory_mib);
    const struct ask each = {.cpu_milli = part_of(instances->cpus, cpu_milli),
                             .memory_mib = part_of(instances->memory, memory_mib)};
    if (each.cpu_milli == 0 && each.memory_mib == 0)
        return "they ask for no CPU or memory";
    const char *complaint = ask_group(&each, instances->count, 1, &job->first, &culprit);
    if (complaint != NULL)
        return complaint;
    job->submit = collection->submit;
    job->priority = collection->priority;
    job->is_preemptible = collection->priority < PREEMPTIBLE_BELOW;
    job->queue = reader_queue(reader, (struct text){NULL, 0});
    job->user = collection->user;
    if (!text_to_int64(id, 0, INT64_MAX, &job->trace_id))
        job->name = arena_copy(reader->arena, id);
    row->truth.duration = collection->ended - instances->scheduled;
    row->truth.recorded_wait = instances->scheduled - collection->submit;
    row->truth.outcome = collection->end_type == BORG_FINISH ? OUTCOME_COMPLETED
                         : collection->end_type == BORG_KILL ? OUTCOME_CANCELLED
                                                             : OUTCOME_FAILED;
    return NULL;
}

static struct error borg_end(struct reader *reader, struct trace_row *row, bool *has)
{
    struct borg_state *state = reader->state;
    const struct table *table = reader->sides->content;
    *has = state->ids != NULL && state->next < names_count(state->ids);
    if (!*has)
        return ERROR_OK;
    const struct collection *collection = &state->collections[state->next];
    const struct text id = text_of(names_text(state->ids, state->next++));
    const uint32_t known = names_find(table->ids, id);
    const struct instances *instances = known != NAMES_NONE ? &table->of[known] : NULL;
    row->why = skip_reason(collection, instances);
    if (row->why == NULL)
        row->why = job_make(reader, collection, instances, id, row);
    return ERROR_OK;
}

static void borg_close(struct reader *reader)
{
    struct borg_state *state = reader->state;
    names_free(state->ids);
    mem_free(state->collections);
}

/* Both kinds of events, so that the wrong one is told. */
static bool borg_is_mine(const struct trace_format *self, struct text first_line)
{
    static const char *const keys[] = {"\"collection_id\"", "\"type\"", "\"time\""};
    (void)self;
    if (first_line.length == 0 || first_line.at[0] != '{')
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (memmem(first_line.at, first_line.length, keys[i], strlen(keys[i])) == NULL)
            return false;
    return true;
}

const struct trace_format trace_borg = {
    .name = "borg",
    .summary = "events of collections of Google's Borg (2019), with a table of instances",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct borg_state),
    .is_mine = borg_is_mine,
    .on_first_line = borg_first_line,
    .on_line = borg_line,
    .on_end = borg_end,
    .on_close = borg_close,
};
