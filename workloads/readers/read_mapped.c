/* workloads/readers/read_mapped.c -- tables read by a map of their columns (workloads/readers/column_map.h): those of
 * workloads/maps, and those of users. */
#include <stdio.h>
#include <string.h>

#include "workloads/readers/column_map.h"
#include "workloads/readers/date_column.h"
#include "workloads/readers/join.h"
#include "workloads/readers/reader.h"
#include "workloads/readers/zone.h"
#include "workloads/request/ask.h"

enum { VALUE_BYTES_MAX = 48 }; /* a time or an amount as text */

struct mapped_state {
    struct column_map map;
    struct arena arena;                   /* of the map */
    struct buffer values;                 /* texts of the values of a row */
    struct field fields[MAP_FIELD_COUNT]; /* of the row: as if it were native */
    bool is_missing[CSV_WANTED_MAX];      /* the row's columns without a value */
    uint8_t orders[CSV_WANTED_MAX];       /* enum date_order of columns of dates, as far as it was sought */
    bool is_sought[CSV_WANTED_MAX];
};

/* One row while it is read. */
struct row_reading {
    const struct reader *reader;
    struct mapped_state *state;
    const struct line *line;
    struct trace_row *row;
};

static bool is_one_of(struct text text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (text_is(text, *words))
            return true;
    return false;
}

static const struct field *column(const struct row_reading *reading, int16_t index)
{
    return &reading->reader->csv.fields[index];
}

static bool has_value(const struct row_reading *reading, int16_t index)
{
    return field_is_set(column(reading, index)) && !reading->state->is_missing[index];
}

/* Keep what was written into the values from `start` on as the field's value. */
static void value_keep(const struct row_reading *reading, int field, size_t start)
{
    const struct buffer *values = &reading->state->values;
    reading->state->fields[field].value = (struct text){values->bytes + start, values->length - start};
}

static struct text meaning(const struct map_source *source, struct text value)
{
    for (uint32_t i = 0; i < source->word_count; i++) {
        const char *word = source->words[i].word;
        size_t length = strlen(word);
        bool is_open = length > 0 && word[length - 1] == '*';
        if (is_open ? value.length >= length - 1 && memcmp(value.at, word, length - 1) == 0 : text_is(value, word))
            return text_of(source->words[i].means);
    }
    return value;
}

static enum date_order order_of(const struct mapped_state *state, const struct map_source *source, int16_t index)
{
    return source->unit == UNIT_DAY_FIRST     ? DATE_DAY_FIRST
           : source->unit == UNIT_MONTH_FIRST ? DATE_MONTH_FIRST
                                              : (enum date_order)state->orders[index];
}

/* A date of which the day or the month may be first: all rows of its column decide. */
static struct error order_seek(const struct row_reading *reading, int16_t index)
{
    struct mapped_state *state = reading->state;
    const struct reader *reader = reading->reader;
    enum date_order order = DATE_ORDER_UNKNOWN;
    if (state->is_sought[index] || state->map.table_of[index] != 0 || text_is(text_of(reader->spec->trace), "-"))
        return ERROR_OK;
    TRY(date_column_order(reader->spec->trace, &reader->csv, state->map.names, (uint32_t)index, &order));
    state->is_sought[index] = true;
    state->orders[index] = (uint8_t)order;
    return ERROR_OK;
}

static struct error date_read(const struct row_reading *reading, const struct map_source *source, int16_t index,
                              struct text value, struct zone_moments *moments)
{
    const struct field *field = column(reading, index);
    const struct column_map *map = &reading->state->map;
    const struct workload_spec *spec = reading->reader->spec;
    const struct zone *zone = spec->zone.is_given ? &spec->zone : &map->zone;
    *moments = zone_moments_in(value, zone, order_of(reading->state, source, index));
    if (moments->is_open) {
        TRY(order_seek(reading, index));
        *moments = zone_moments_in(value, zone, order_of(reading->state, source, index));
    }
    if (moments->is_open)
        return input_error(reading->line->input, reading->line->text, field->place,
                           "'%.*s' has the day or the month first, and the rows of '%s' do not tell: give this column "
                           "the unit \"date_day_first\" or \"date_month_first\"",
                           (int)value.length, value.at, field->name);
    if (moments->is_date && moments->count == 0)
        return field_error(reading->line, field, "a time that the clocks of its zone do not skip");
    if (!moments->is_date)
        return field_error(reading->line, field, "a date and time such as 2017-10-09 07:01:55 or 9.10.2017 07:01");
    return ERROR_OK;
}

/* The time that `value`, of the column, means.  A date in an hour that comes twice: the first, no earlier than
 * `least`. */
static struct error time_read(const struct row_reading *reading, const struct map_source *source, int16_t index,
                              struct text value, time_ns least, time_ns *out)
{
    /* A number is read in steps of 1/scale of the unit; a step is step_ns long. */
    static const struct {
        int64_t scale, step_ns;
    } units[UNIT_COUNT] = {
        [UNIT_S] = {1000000000, 1},    [UNIT_MS] = {1000000, 1},      [UNIT_US] = {1000, 1},
        [UNIT_MIN] = {1000000000, 60}, [UNIT_H] = {1000000000, 3600}, [UNIT_D] = {1000000000, 86400},
    };
    const struct field *field = column(reading, index);
    if (source->unit >= UNIT_DATE) {
        struct zone_moments moments;
        TRY(date_read(reading, source, index, value, &moments));
        *out = moments.at[moments.count == 2 && moments.at[0] < least];
        return ERROR_OK;
    }
    int64_t ns;
    if (!text_to_scaled(value, units[source->unit].scale, &ns) ||
        __builtin_mul_overflow(ns, units[source->unit].step_ns, &ns) || ns > TIME_NS_MAX || ns < -TIME_NS_MAX)
        return field_error(reading->line, field, "a number, and a time of at most 73 years");
    *out = ns;
    return ERROR_OK;
}

static struct error time_make(const struct row_reading *reading, int field, const struct map_source *source)
{
    time_ns time, other = 0;
    size_t start = reading->state->values.length;
    if (source->combination != MAP_ALONE)
        TRY(time_read(reading, source, source->other, column(reading, source->other)->value, INT64_MIN, &other));
    TRY(time_read(reading, source, source->column, meaning(source, column(reading, source->column)->value),
                  source->combination == MAP_SINCE ? other : INT64_MIN, &time));
    if (source->combination == MAP_SINCE && time < other && !source->has_no_negative)
        return input_error(reading->line->input, reading->line->text, column(reading, source->column)->place,
                           "'%s' is before '%s'", column(reading, source->column)->name,
                           column(reading, source->other)->name);
    if (source->combination == MAP_SINCE && source->has_no_negative && time < other)
        return ERROR_OK; /* no value: the constant stays, if there is one */
    time += source->combination == MAP_SINCE ? -other : other;
    buffer_scaled(&reading->state->values, time, TIME_NS_PER_S);
    value_keep(reading, field, start);
    return ERROR_OK;
}

static struct error amount_make(const struct row_reading *reading, int field, const struct map_source *source)
{
    __extension__ typedef __int128 wide;
    const struct field *first = column(reading, source->column);
    size_t start = reading->state->values.length;
    int64_t amount, factor = AMOUNT_SCALE;
    if (!text_to_scaled(meaning(source, first->value), AMOUNT_SCALE, &amount))
        return field_error(reading->line, first, "a number");
    if (source->combination == MAP_TIMES &&
        !text_to_scaled(column(reading, source->other)->value, AMOUNT_SCALE, &factor))
        return field_error(reading->line, column(reading, source->other), "a number");
    wide product = (wide)amount * factor / AMOUNT_SCALE;
    if (product > INT64_MAX / AMOUNT_SCALE || product < -(INT64_MAX / AMOUNT_SCALE))
        return field_error(reading->line, first, "smaller");
    product = product * source->scale / AMOUNT_SCALE;
    if (product > INT64_MAX || product < INT64_MIN)
        return field_error(reading->line, first, "smaller");
    buffer_scaled(&reading->state->values, (int64_t)product, AMOUNT_SCALE);
    value_keep(reading, field, start);
    return ERROR_OK;
}

/* Make the field's native value.  *why: the row is no job, for this reason. */
static struct error field_make(const struct row_reading *reading, int index, const char **why)
{
    const struct map_source *source = &reading->state->map.sources[index];
    struct field *field = &reading->state->fields[index];
    field->value = (struct text){NULL, 0};
    if (source->only != NULL && !is_one_of(column(reading, source->only_column)->value, source->only))
        return ERROR_OK;
    if (source->value != NULL)
        field->value = text_of(source->value);
    if (source->column < 0)
        return ERROR_OK;
    struct map_source other;
    if (source->or_column >= 0 && !has_value(reading, source->column)) {
        other = *source;
        other.column = source->or_column;
        source = &other;
    }
    const struct field *from = column(reading, source->column);
    field->name = from->name;
    field->place = from->place;
    if (!has_value(reading, source->column) || (source->other >= 0 && !has_value(reading, source->other))) {
        if (source->value == NULL)
            *why = source->if_missing;
        return ERROR_OK;
    }
    if (map_field_is_time(index))
        return time_make(reading, index, source);
    if (map_field_is_amount(index))
        return amount_make(reading, index, source);
    field->value = meaning(source, from->value);
    return ERROR_OK;
}

static const char *skip_reason(const struct row_reading *reading)
{
    const struct column_map *map = &reading->state->map;
    for (uint32_t i = 0; i < map->skip_count; i++)
        if (is_one_of(column(reading, map->skips[i].column)->value, map->skips[i].words))
            return map->skips[i].why;
    return NULL;
}

/* A number of GPUs below 1 is a share of one. */
static void share_move(struct field *fields)
{
    int64_t milli;
    struct field *gpus = &fields[NATIVE_GPUS];
    if (field_is_set(&fields[NATIVE_GPU_FRACTION]) || !text_to_scaled(gpus->value, GPU_MILLI, &milli) || milli <= 0 ||
        milli >= GPU_MILLI)
        return;
    fields[NATIVE_GPU_FRACTION] = *gpus;
    gpus->value = (struct text){NULL, 0};
}

static bool asks_nothing(const struct ask *ask)
{
    return ask->gpus == 0 && ask->gpu_milli == 0 && ask->gpu_memory_mib == 0 && ask->mig == 0 && ask->cpu_milli == 0 &&
           ask->memory_mib == 0 && ask->pieces == 0;
}

/* Do the GPUs divide over the nodes?  Where a publisher's do not, how they lay on the nodes is not known. */
static bool is_even(const struct ask *ask)
{
    return ask->nodes == 0 || ask->gpus % ask->nodes == 0;
}

static struct error shape_make(const struct row_reading *reading)
{
    const struct mapped_state *state = reading->state;
    const struct workload_spec *spec = reading->reader->spec;
    const struct field *count = &state->fields[MAP_COUNT];
    struct job *job = &reading->row->job;
    struct ask ask;
    enum ask_field culprit = ASK_GPUS;
    int64_t members = 0;
    TRY(native_row_ask(reading->reader, reading->line, state->fields, &ask));
    TRY(field_int(reading->line, count, 1, ASK_GPUS_MAX, &members));
    if (asks_nothing(&ask)) {
        reading->row->why = "they ask for no GPU, CPU or memory";
        return ERROR_OK;
    }
    if (!is_even(&ask))
        ask.nodes = 0;
    if (members == 0 && ask.nodes == 0 && ask.gpus > 0 && spec->gpus_per_node > 0) {
        struct job shaped = *job;
        job_shape_gpus(&shaped, (uint32_t)ask.gpus, spec->gpus_per_node);
        if ((int64_t)shaped.first.count * shaped.first.request.gpus == ask.gpus && shaped.first.count < ask.gpus)
            ask.nodes = shaped.first.count;
    }
    const uint32_t least = ask.min_members != 0 ? (uint32_t)ask.min_members : (uint32_t)members;
    const char *complaint =
        members > 0 ? ask_group(&ask, (uint32_t)members, least, &job->first, &culprit) : ask_shape(&ask, job, &culprit);
    return native_row_complaint(reading->line, state->fields, complaint, culprit);
}

static void missing_note(struct mapped_state *state, const struct field *fields)
{
    for (uint32_t i = 0; i < state->map.column_count; i++)
        state->is_missing[i] = is_one_of(fields[i].value, state->map.missing);
}

static struct error mapped_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    static const int needed[] = {NATIVE_SUBMIT, NATIVE_DURATION, NATIVE_GPUS};
    struct mapped_state *state = reader->state;
    const struct row_reading reading = {reader, state, line, row};
    const struct column_map *map = &state->map;
    const char *why, *not_there = NULL;
    char number[24];
    if (reader->sides->content != NULL)
        joins_add(reader->sides->content, map, &reader->csv, &not_there);
    missing_note(state, reader->csv.fields);
    why = skip_reason(&reading);
    if (why == NULL)
        why = not_there;
    state->values.length = 0;
    buffer_reserve(&state->values, MAP_FIELD_COUNT * VALUE_BYTES_MAX); /* values in it must not move */
    for (int field = 0; why == NULL && field < MAP_FIELD_COUNT; field++)
        TRY(field_make(&reading, field, &why));
    row->why = why;
    if (why != NULL)
        return ERROR_OK;
    if (!field_is_set(&state->fields[NATIVE_JOB_ID])) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)reader->row_count + 1);
        state->fields[NATIVE_JOB_ID].value = text_of(number);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!field_is_set(&state->fields[needed[i]]))
            return field_error(line, &state->fields[needed[i]], "a number");
    share_move(state->fields);
    TRY(shape_make(&reading));
    if (row->why != NULL)
        return ERROR_OK;
    return native_row_facts(reader, line, state->fields, row);
}

static struct error mapped_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct mapped_state *state = reader->state;
    struct column_map *map = &state->map;
    if (reader->format->map != NULL)
        TRY(column_map_named(map, reader->format->map, &state->arena));
    else if (reader->spec->column_map != NULL)
        *map = *reader->spec->column_map;
    else if (reader->spec->columns != NULL)
        TRY(column_map_load(map, reader->spec->columns, &state->arena));
    else
        return error_new(ERROR_CONFIG, "the format 'columns' needs a map of the columns: workload.columns");
    for (int field = 0; field < MAP_FIELD_COUNT; field++)
        state->fields[field] = (struct field){.name = field == MAP_COUNT ? "count" : native_columns[field].name};
    TRY(joins_open(reader, map));
    csv_init(&reader->csv, map->columns, map->column_count);
    reader->csv.separator = map->separator;
    reader->csv.has_quotes = map->has_quotes;
    *is_header = map->names == NULL;
    const struct text header = *is_header ? line : text_of(map->names);
    TRY(csv_header(&reader->csv, &(struct line){reader->input, header}));
    reader_tell_columns(reader, header);
    reader->csv.required_count = 0; /* the columns must be there; what a missing value means, the map says */
    return ERROR_OK;
}

static void mapped_close(struct reader *reader)
{
    struct mapped_state *state = reader->state;
    buffer_release(&state->values);
    arena_release(&state->arena);
}

static bool mapped_is_mine(const struct trace_format *self, struct text first_line)
{
    struct arena arena = {0};
    struct column_map map;
    if (self->map == NULL)
        return false;
    struct error error = column_map_named(&map, self->map, &arena);
    bool is_mine = !error_is(error) && column_map_knows(&map, first_line);
    error_release(&error);
    arena_release(&arena);
    return is_mine;
}

#define MAPPED(NAME, SUMMARY)                                                                                          \
    {                                                                                                                  \
        .name = (NAME), .summary = (SUMMARY), .map = (NAME), .version = TRACE_FORMAT_VERSION,                          \
        .state_bytes = sizeof(struct mapped_state), .is_mine = mapped_is_mine, .on_first_line = mapped_first_line,     \
        .on_line = mapped_line, .on_close = mapped_close,                                                              \
    }

const struct trace_format trace_philly =
    MAPPED("philly", "CSV of Microsoft's Philly cluster: timestamp, duration, num_gpus, cluster");
const struct trace_format trace_helios = MAPPED("helios", "cluster_log.csv of SenseTime's Helios clusters");
const struct trace_format trace_seren = MAPPED("seren", "trace_seren.csv of Shanghai AI Laboratory's Acme");
const struct trace_format trace_kalos = MAPPED("kalos", "trace_kalos.csv of Shanghai AI Laboratory's Acme");
const struct trace_format trace_muri = MAPPED("muri", "CSV of the scheduler Muri");
const struct trace_format trace_chronus = MAPPED("chronus", "CSV of the scheduler Chronus, with deadlines");
const struct trace_format trace_spot = MAPPED("spot", "job_info_df.csv of Alibaba's spot GPUs (2026)");
const struct trace_format trace_pai = MAPPED("pai", "pai_task_table.csv of Alibaba's PAI (2020), a task per job");
const struct trace_format trace_pollux = MAPPED("pollux", "CSV of the scheduler Pollux; run times by a table");
const struct trace_format trace_columns = {
    .name = "columns",
    .summary = "a table read by a map of its columns (workload.columns)",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct mapped_state),
    .is_mine = mapped_is_mine,
    .on_first_line = mapped_first_line,
    .on_line = mapped_line,
    .on_close = mapped_close,
};
