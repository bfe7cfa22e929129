#include "sim/capacity/capacity_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/input.h"
#include "base/mem.h"
#include "workloads/readers/csv.h"
#include "workloads/readers/rows.h"
#include "workloads/readers/zone.h"

enum {
    FILE_BYTES_MAX = 64 << 20,
    GPUS_MAX = 1 << 30,
    DATED_POOLS_MAX = CSV_WANTED_MAX - 2 /* less `date` and `total` */
};

static const char seconds_name[] = "time_s", date_name[] = "date", pool_name[] = "pool", nodes_name[] = "nodes",
                  gpus_name[] = "gpus", total_name[] = "total";

struct reading {
    const struct cluster *cluster;
    struct capacity_clock clock;
    struct capacity_step *steps;
    size_t capacity;
    uint32_t count;
    time_ns last; /* time of the last row */
};

static uint32_t find_pool(const struct cluster *cluster, struct text name)
{
    uint32_t p = 0;
    while (p < cluster->pool_count && !text_is(name, cluster->pools[p].name))
        p++;
    return p;
}

static void add_step(struct reading *reading, uint32_t pool, uint32_t nodes)
{
    MEM_GROW(reading->steps, reading->capacity, (size_t)reading->count + 1);
    reading->steps[reading->count++] = (struct capacity_step){reading->last, pool, nodes};
}

/* GPUs per node of the pool; 0: its nodes have none. */
static uint32_t node_gpus(const struct cluster *cluster, uint32_t pool)
{
    return cluster->types[cluster->pools[pool].type].gpu_count;
}

/* ---- Files ---- */

static const char largest_hint[] = "model the cluster at its largest: give the pool as many nodes as it ever had";

/* An amount that was read: more than the pool has is an error at the field. */
static struct error take_nodes(struct reading *reading, const struct line *line, const struct field *field,
                               uint32_t pool, int64_t nodes)
{
    const struct node_pool *of = &reading->cluster->pools[pool];
    if (nodes > of->node_count) {
        struct error error =
            input_error(line->input, line->text, field->place, "'%s' would have %lld nodes of pool '%s', which has %u",
                        field->name, (long long)nodes, of->name, of->node_count);
        error_set_hint(&error, "%s", largest_hint);
        return error;
    }
    if (reading->count == CAPACITY_STEPS_MAX)
        return input_error(line->input, line->text, (struct text){NULL, 0}, "there are more than %d rows",
                           CAPACITY_STEPS_MAX);
    add_step(reading, pool, (uint32_t)nodes);
    return ERROR_OK;
}

static struct error take_gpus(struct reading *reading, const struct line *line, const struct field *field,
                              uint32_t pool)
{
    const uint32_t each = node_gpus(reading->cluster, pool);
    int64_t gpus = 0;
    if (!field_is_set(field))
        return field_error(line, field, "a number of GPUs");
    TRY(field_scaled(line, field, 1, 0, GPUS_MAX, &gpus)); /* also written 8.0 */
    if (each == 0)
        return input_error(line->input, line->text, field->place, "the nodes of pool '%s' have no GPUs",
                           reading->cluster->pools[pool].name);
    return take_nodes(reading, line, field, pool, (2 * gpus + each) / (2 * (int64_t)each));
}

static struct error take_time(struct reading *reading, const struct line *line, const struct field *field, time_ns at)
{
    if (at < 0)
        return field_error(line, field, "a time that is not before 1970");
    if (at < reading->last)
        return input_error(line->input, line->text, field->place, "'%s' goes back: the row before is later",
                           field->name);
    reading->last = at;
    return ERROR_OK;
}

enum plain_field { PLAIN_TIME, PLAIN_POOL, PLAIN_NODES, PLAIN_GPUS, PLAIN_COUNT };
static const struct column plain_columns[PLAIN_COUNT] = {
    [PLAIN_TIME] = {seconds_name, true, FIELD_NUMBER},
    [PLAIN_POOL] = {pool_name, false, FIELD_TEXT},
    [PLAIN_NODES] = {nodes_name, false, FIELD_NUMBER},
    [PLAIN_GPUS] = {gpus_name, false, FIELD_NUMBER},
};

static struct error plain_pool(const struct reading *reading, const struct line *line, const struct field *field,
                               uint32_t *pool)
{
    *pool = 0;
    if (field_is_set(field)) {
        *pool = find_pool(reading->cluster, field->value);
        if (*pool == reading->cluster->pool_count)
            return input_error(line->input, line->text, field->place, "the cluster has no pool '%.*s'",
                               (int)field->value.length, field->value.at);
        return ERROR_OK;
    }
    if (reading->cluster->pool_count > 1)
        return input_error(line->input, line->text, (struct text){NULL, 0},
                           "the row names no pool, and the cluster has %u: '%s' must say which",
                           reading->cluster->pool_count, pool_name);
    return ERROR_OK;
}

static struct error plain_row(struct reading *reading, const struct csv *csv, const struct line *line)
{
    const struct field *nodes = &csv->fields[PLAIN_NODES], *gpus = &csv->fields[PLAIN_GPUS];
    time_ns at = 0;
    uint32_t pool;
    int64_t count = 0;
    TRY(field_seconds(line, &csv->fields[PLAIN_TIME], &at));
    TRY(take_time(reading, line, &csv->fields[PLAIN_TIME], at));
    TRY(plain_pool(reading, line, &csv->fields[PLAIN_POOL], &pool));
    if (field_is_set(nodes) == field_is_set(gpus))
        return input_error(line->input, line->text, (struct text){NULL, 0}, "a row must have either '%s' or '%s'",
                           nodes_name, gpus_name);
    if (field_is_set(gpus))
        return take_gpus(reading, line, gpus, pool);
    TRY(field_int(line, nodes, 0, GPUS_MAX, &count));
    return take_nodes(reading, line, nodes, pool, count);
}

/* Columns of the dated form: `date`, `total`, then one for each pool. */
struct dated {
    struct column columns[CSV_WANTED_MAX];
    bool is_by_pool;
};
enum { DATED_DATE, DATED_TOTAL, DATED_POOLS };

static struct error dated_open(const struct cluster *cluster, struct dated *dated, struct csv *csv,
                               const struct line *line)
{
    uint32_t found = 0, missing = 0;
    if (cluster->pool_count > DATED_POOLS_MAX)
        return input_error(line->input, line->text, (struct text){NULL, 0},
                           "the cluster has more than %d pools: write rows with the columns %s, %s and %s",
                           DATED_POOLS_MAX, seconds_name, pool_name, nodes_name);
    dated->columns[DATED_DATE] = (struct column){date_name, true, FIELD_TEXT};
    dated->columns[DATED_TOTAL] = (struct column){total_name, false, FIELD_NUMBER};
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        dated->columns[DATED_POOLS + p] = (struct column){cluster->pools[p].name, false, FIELD_NUMBER};
    csv_init(csv, dated->columns, DATED_POOLS + cluster->pool_count);
    TRY(csv_header(csv, line));
    for (uint32_t p = cluster->pool_count; p-- > 0;) {
        found += csv->is_there[DATED_POOLS + p];
        missing = csv->is_there[DATED_POOLS + p] ? missing : p;
    }
    dated->is_by_pool = found == cluster->pool_count;
    if (dated->is_by_pool || (cluster->pool_count == 1 && csv->is_there[DATED_TOTAL]))
        return ERROR_OK;
    struct error error = input_error(line->input, line->text, (struct text){NULL, 0},
                                     cluster->pool_count == 1 ? "the header has neither a column '%s' nor '%s'"
                                                              : "the header has no column '%s'",
                                     cluster->pools[missing].name, total_name);
    error_set_hint(&error, "each pool of the cluster needs a column of its name; of one pool '%s' will do", total_name);
    return error;
}

static struct error dated_row(struct reading *reading, const struct dated *dated, const struct csv *csv,
                              const struct line *line)
{
    const struct field *date = &csv->fields[DATED_DATE];
    time_ns at;
    if (!zone_date(date->value, &reading->clock.zone, &at))
        return field_error(line, date, "a date such as 2020-04-01");
    TRY(take_time(reading, line, date, at));
    if (!dated->is_by_pool)
        return take_gpus(reading, line, &csv->fields[DATED_TOTAL], 0);
    for (uint32_t p = 0; p < reading->cluster->pool_count; p++)
        TRY(take_gpus(reading, line, &csv->fields[DATED_POOLS + p], p));
    return ERROR_OK;
}

/* The rows below the header. */
static struct error read_rows(struct reading *reading, struct input *input, const struct dated *dated, struct csv *csv)
{
    struct line line = {.input = input};
    bool has;
    while (true) {
        TRY(input_line(input, &line.text, &has));
        if (!has)
            return ERROR_OK;
        if (line.text.length == 0)
            continue;
        TRY(csv_row(csv, &line));
        TRY(dated != NULL ? dated_row(reading, dated, csv, &line) : plain_row(reading, csv, &line));
    }
}

static struct error read_table(struct reading *reading, struct input *input, bool *is_dated)
{
    static const struct column date_column = {date_name, true, FIELD_TEXT};
    struct line header = {.input = input};
    struct dated dated;
    struct csv csv = {0};
    struct error error;
    bool has;
    TRY(input_line(input, &header.text, &has));
    if (!has)
        return error_new(ERROR_DATA, "%s is empty", input_path(input));
    *is_dated = csv_is_header(header.text, ',', &date_column, 1);
    if (*is_dated && !reading->clock.is_known) {
        error = input_error(input, header.text, (struct text){NULL, 0},
                            "the sizes have dates, but the jobs are of no trace");
        error_set_hint(&error, "write rows with the columns %s, %s and %s", seconds_name, pool_name, nodes_name);
        return error;
    }
    if (*is_dated) {
        error = dated_open(reading->cluster, &dated, &csv, &header);
    } else {
        csv_init(&csv, plain_columns, PLAIN_COUNT);
        error = csv_header(&csv, &header);
    }
    if (!error_is(error))
        error = read_rows(reading, input, *is_dated ? &dated : NULL, &csv);
    csv_release(&csv);
    return error;
}

static struct error read_file(struct reading *reading, struct capacity_table *table)
{
    static const struct input_caps caps = {.bytes_max = FILE_BYTES_MAX};
    struct input *input;
    TRY(input_open(&input, table->path, &caps));
    struct error error = read_table(reading, input, &table->is_dated);
    if (!error_is(error))
        error = input_finish_digest(input, table->digest);
    input_close(input);
    return error;
}

/* ---- Lists ---- */

static void read_item(struct reading *reading, const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    const char *name = json_get_string(&object, pool_name, NULL);
    json_need(&object, seconds_name);
    const time_ns at = json_get_duration(&object, seconds_name, 0);
    json_need(&object, nodes_name);
    const int64_t nodes = json_get_int(&object, nodes_name, 0, GPUS_MAX, 0);
    const uint32_t pool = name != NULL ? find_pool(reading->cluster, text_of(name)) : 0;
    json_object_close(&object);
    if (error_is(*value->error))
        return;
    if (name == NULL && reading->cluster->pool_count > 1) {
        json_fail(value, "'%s' must say which of the cluster's %u pools is meant", pool_name,
                  reading->cluster->pool_count);
    } else if (pool == reading->cluster->pool_count) {
        json_fail(value, "the cluster has no pool '%s'", name);
    } else if (nodes > reading->cluster->pools[pool].node_count) {
        json_fail(value, "pool '%s' has %u nodes, not %lld", reading->cluster->pools[pool].name,
                  reading->cluster->pools[pool].node_count, (long long)nodes);
        error_set_hint(value->error, "%s", largest_hint);
    } else if (at < reading->last) {
        json_fail(value, "'%s' goes back: the entry before is later", seconds_name);
    } else {
        reading->last = at;
        add_step(reading, pool, (uint32_t)nodes);
    }
}

static void read_list(struct reading *reading, const struct json_value *value)
{
    const size_t count = json_array_count(value);
    if (count > CAPACITY_STEPS_MAX) {
        json_fail(value, "there are more than %d entries", CAPACITY_STEPS_MAX);
        return;
    }
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(value, i);
        read_item(reading, &item);
    }
}

/* ---- Both ---- */

struct capacity_table capacity_table_read(const struct json_value *value, const struct cluster *cluster,
                                          struct capacity_clock clock, struct arena *arena)
{
    struct reading reading = {.cluster = cluster, .clock = clock};
    struct capacity_table table = {.count = 0};
    if (value->node == NULL || error_is(*value->error))
        return table;
    if (json_is_string(value->node)) {
        table.path = json_value_file(value, "capacity");
        if (!error_is(*value->error))
            *value->error = read_file(&reading, &table);
    } else if (json_is_array(value->node)) {
        read_list(&reading, value);
    } else {
        json_fail(value, "'capacity' must be the path of a file or a list of sizes");
    }
    struct capacity_step *steps = arena_alloc_array(arena, (size_t)reading.count + 1, struct capacity_step);
    if (reading.count > 0)
        memcpy(steps, reading.steps, reading.count * sizeof *steps);
    mem_free(reading.steps);
    table.steps = steps;
    table.count = reading.count;
    return table;
}

/* ---- In simulated time ---- */

time_ns capacity_step_at(const struct capacity_table *table, uint32_t step, const struct workload_facts *facts)
{
    const time_ns at = table->steps[step].at;
    if (!table->is_dated)
        return at;
    return at <= facts->origin ? 0 : rows_scaled(at - facts->origin, facts->arrival_factor);
}

void capacity_gpu_time(const struct capacity_table *table, const struct cluster *cluster,
                       const struct workload_facts *facts, time_ns from, time_ns to,
                       offered_sum by_model[CLUSTER_MODELS_MAX])
{
    uint64_t *missing = mem_zalloc(cluster->pool_count + (size_t)1, sizeof *missing); /* GPUs, by pool */
    memset(by_model, 0, CLUSTER_MODELS_MAX * sizeof *by_model);
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        if (type->gpu_count > 0)
            by_model[type->model] += (offered_sum)type->node_count * type->gpu_count * (uint64_t)(to - from);
    }
    for (uint32_t s = 0; s < table->count; s++) {
        const struct capacity_step *step = &table->steps[s];
        const struct node_pool *pool = &cluster->pools[step->pool];
        const struct node_type *type = &cluster->types[pool->type];
        const time_ns at = capacity_step_at(table, s, facts), begin = at < from ? from : at < to ? at : to;
        const uint64_t now = (uint64_t)(pool->node_count - step->nodes) * type->gpu_count;
        by_model[type->model] += (offered_sum)missing[step->pool] * (uint64_t)(to - begin);
        by_model[type->model] -= (offered_sum)now * (uint64_t)(to - begin);
        missing[step->pool] = now;
    }
    mem_free(missing);
}
