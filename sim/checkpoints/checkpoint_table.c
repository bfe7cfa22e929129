#include "sim/checkpoints/checkpoint_table.h"

#include <math.h>
#include <string.h>

#include "sim/storage/storage.h"

__extension__ typedef __int128 wide_bytes;

#define GIB            INT64_C(1073741824)
#define SIZE_MICRO_MAX (INT64_C(1000000000) * 1000000) /* of a size in GiB, in millionths */
#define S_PER_DAY      86400.0

/* ---- read ---- */

/* The size of a checkpoint: at most one of the two keys. */
static void size_read(struct json_object *object, struct checkpoint_row *row, const struct checkpoint_table *table)
{
    const struct json_value whole = json_member(object, "size_gib"), each = json_member(object, "size_gib_per_gpu");
    const struct json_value write = json_member(object, "write_s"), *size = each.node != NULL ? &each : &whole;
    const int64_t micro =
        json_get_scaled(object, each.node != NULL ? "size_gib_per_gpu" : "size_gib", 1000000, 1, SIZE_MICRO_MAX, 0);
    row->is_per_gpu = each.node != NULL;
    row->bytes = (int64_t)((wide_bytes)micro * GIB / 1000000);
    if (each.node != NULL && whole.node != NULL)
        json_fail(&each, "a plan has 'size_gib' or 'size_gib_per_gpu', not both");
    if (size->node != NULL && write.node != NULL)
        json_fail(&write, "a plan has 'write_s' or a size, not both");
    if (size->node != NULL && table->bytes_per_s == STORAGE_UNLIMITED && table->node_bytes_per_s == STORAGE_UNLIMITED)
        json_fail(size, "a size needs the bandwidth of the storage: give 'storage_gb_per_s' or 'node_gb_per_s' beside "
                        "'plans'");
}

static void interruptions_read(struct json_object *object, struct checkpoint_row *row)
{
    const struct json_value mtbf = json_member(object, "mtbf"),
                            rate = json_member(object, "interruptions_per_node_day");
    const time_ns between = json_get_duration(object, "mtbf", 0);
    const double per_day = json_get_real(object, "interruptions_per_node_day", 1e-9, 1e6, 0);
    row->is_per_node = rate.node != NULL;
    row->interruptions_per_s = rate.node != NULL ? per_day / S_PER_DAY : between > 0 ? 1 / time_to_seconds(between) : 0;
    if (mtbf.node != NULL && rate.node != NULL)
        json_fail(&rate, "a plan has 'mtbf' or 'interruptions_per_node_day', not both");
    if (mtbf.node != NULL && between == 0)
        json_fail(&mtbf, "'mtbf' must be above 0");
}

static void interval_read(struct json_object *object, struct checkpoint_row *row)
{
    static const char *const rules[] = {"young", "daly", NULL};
    const struct json_value value = json_member(object, "interval");
    const char *rule = value.node != NULL && json_is_string(value.node) ? json_string_value(value.node) : "";
    json_note_choices(&value, rules);
    row->rule = value.node == NULL            ? INTERVAL_AS_DECLARED
                : strcmp(rule, rules[0]) == 0 ? INTERVAL_YOUNG
                : strcmp(rule, rules[1]) == 0 ? INTERVAL_DALY
                                              : INTERVAL_FIXED;
    struct text text = text_of(rule);
    time_ns fixed;
    if (row->rule == INTERVAL_FIXED && rule[0] != '\0' && !time_parse_duration(text, &fixed))
        json_fail(&value, "'interval' must be a duration, \"young\" or \"daly\", got \"%s\"", rule);
    if (row->rule == INTERVAL_FIXED || row->rule == INTERVAL_AS_DECLARED) {
        row->interval = json_get_duration(object, "interval", 0);
        return;
    }
    if (row->interruptions_per_s == 0)
        json_fail(&value, "'%s' needs the job's interruptions: 'mtbf' or 'interruptions_per_node_day'", rule);
    if (row->bytes == 0 && row->write <= 0)
        json_fail(&value, "'%s' needs the time of a write: 'write_s' above 0, 'size_gib' or 'size_gib_per_gpu'", rule);
}

static void mode_read(struct json_object *object, struct checkpoint_row *row)
{
    static const char *const modes[] = {"blocking", "asynchronous", NULL};
    const struct json_value slowdown = json_member(object, "slowdown"), mode = json_member(object, "mode");
    row->is_asynchronous = json_get_choice(object, "mode", modes, 0) == 1;
    row->slowdown = json_get_real(object, "slowdown", 0, 0.99, 0);
    if (row->is_asynchronous && slowdown.node == NULL)
        json_fail(&mode, "an asynchronous plan needs 'slowdown', the part of its speed that a write takes");
    if (!row->is_asynchronous && slowdown.node != NULL)
        json_fail(&slowdown, "'slowdown' belongs to the mode 'asynchronous'");
}

static void row_read(const struct json_value *value, struct checkpoint_row *row, const struct checkpoint_table *table,
                     struct arena *arena, const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    row->jobs = job_filter_read(&object, 0, arena, classes);
    row->write = json_get_duration(&object, "write_s", CHECKPOINT_AS_DECLARED);
    row->warmup = json_get_duration(&object, "warmup_s", CHECKPOINT_AS_DECLARED);
    mode_read(&object, row);
    size_read(&object, row, table);
    interruptions_read(&object, row);
    interval_read(&object, row);
    json_object_close(&object);
}

static void rows_read(const struct json_value *array, struct checkpoint_table *table, struct arena *arena,
                      const char *const *classes)
{
    const size_t count = json_array_count(array);
    if (count > CHECKPOINT_ROWS_MAX) {
        json_fail(array, "'plans' has %zu rows, more than %d", count, CHECKPOINT_ROWS_MAX);
        return;
    }
    table->rows = arena_alloc_array(arena, count > 0 ? count : 1, struct checkpoint_row);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(array, i);
        row_read(&item, &table->rows[i], table, arena, classes);
    }
    table->count = (uint32_t)count;
}

static int64_t bandwidth_read(struct json_object *object, const char *key)
{
    return json_get_scaled(object, key, 1000000000, 1000000, INT64_C(1000000000000000), STORAGE_UNLIMITED);
}

struct checkpoint_table checkpoint_table_read(const struct json_value *value, struct arena *arena,
                                              const char *const *classes)
{
    static const char *const costs[] = {"free", "charged", NULL}; /* enum checkpoint_cost */
    struct checkpoint_table table = {.cost = CHECKPOINTS_FREE};
    struct json_object object;
    if (value->node == NULL)
        return table;
    json_object_open(&object, value);
    table.cost = (uint8_t)json_get_choice(&object, "cost", costs, CHECKPOINTS_CHARGED);
    table.bytes_per_s = bandwidth_read(&object, "storage_gb_per_s");
    table.node_bytes_per_s = bandwidth_read(&object, "node_gb_per_s");
    const struct json_value plans = json_member(&object, "plans");
    if (plans.node != NULL)
        rows_read(&plans, &table, arena, classes);
    json_object_close(&object);
    return table;
}

/* ---- applied ---- */

static const struct checkpoint_row *row_of(const struct checkpoint_table *table, const struct job *job,
                                           struct job_names names, int64_t gpus)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (job_filter_passes(&table->rows[i].jobs, job, gpus, names))
            return &table->rows[i];
    return NULL;
}

/* The number of nodes that a job of `gpus` GPUs needs at least: `gpus` / GPUs of the largest node, rounded up. */
static uint32_t nodes_of(const struct cluster *cluster, int64_t gpus)
{
    int64_t most = 1;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        most = cluster->types[t].gpu_count > most ? cluster->types[t].gpu_count : most;
    const int64_t nodes = (gpus + most - 1) / most;
    return nodes > 0 ? (uint32_t)nodes : 1;
}

/* By Young or Daly; see the header. */
static time_ns interval_of(const struct checkpoint_row *row, const struct saving *saving, uint32_t nodes)
{
    const double write = time_to_seconds(saving->write);
    const double cost = saving->is_asynchronous ? write * saving->slowdown : write;
    const double between = 1 / (row->interruptions_per_s * (row->is_per_node ? nodes : 1));
    double interval = sqrt(2 * cost * between);
    if (row->rule == INTERVAL_DALY)
        interval = fmax(interval - cost, cost);
    if (saving->is_asynchronous)
        interval = fmax(interval, write);
    return time_from_seconds(fmax(interval, 1));
}

static int64_t bytes_of(const struct checkpoint_row *row, int64_t milli)
{
    const wide_bytes bytes = row->is_per_gpu ? (wide_bytes)row->bytes * milli / GPU_MILLI : row->bytes;
    return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

struct saving checkpoint_table_saving(const struct checkpoint_table *table, const struct cluster *cluster,
                                      const struct job *job, struct job_names names)
{
    const struct checkpoint_plan *plan = &job->checkpoint;
    struct saving saving = {.interval = plan->interval, .write = plan->duration, .warmup = plan->restart};
    const int64_t milli = job_asked_milli(job, cluster), gpus = (milli + GPU_MILLI - 1) / GPU_MILLI;
    const struct checkpoint_row *row = row_of(table, job, names, gpus);
    if (row == NULL)
        return saving;
    const uint32_t nodes = nodes_of(cluster, gpus);
    saving.is_asynchronous = row->is_asynchronous;
    saving.slowdown = row->slowdown;
    saving.bytes = bytes_of(row, milli);
    if (row->write != CHECKPOINT_AS_DECLARED)
        saving.write = row->write;
    if (row->warmup != CHECKPOINT_AS_DECLARED)
        saving.warmup = row->warmup;
    if (saving.bytes > 0)
        saving.write = saving.load = storage_alone(table->bytes_per_s, table->node_bytes_per_s, saving.bytes, nodes);
    if (row->rule == INTERVAL_FIXED)
        saving.interval = row->interval;
    else if (row->rule != INTERVAL_AS_DECLARED)
        saving.interval = interval_of(row, &saving, nodes);
    return saving;
}

struct checkpoint_plan saving_declared(const struct saving *saving)
{
    return (struct checkpoint_plan){
        .interval = saving->interval, .duration = saving->write, .restart = time_after(saving->load, saving->warmup)};
}
