/* topologies/queue_table.c -- the table of queues and its reader. */
#include "topologies/queue_table.h"

#include <assert.h>

#include "base/mem.h"

enum {
    MILLI = 1000,
    QUEUE_PRIORITY_DEFAULT = 100, /* the default of the schedulers whose cases are read */
    QUEUE_PRIORITY_MAX = 1000000000,
};

#define QUEUE_AMOUNT_MAX       INT64_C(1000000000000) /* a billion GPUs; sums cannot overflow */
#define MILLION                INT64_C(1000000)
#define QUEUE_WEIGHT_MILLI_MAX INT64_C(1000000000) /* weight 1,000,000 */
#define QUEUE_USERS_MAX        1000000

struct queue_table *queue_table_new(void)
{
    struct queue_table *table = mem_zalloc(1, sizeof *table);
    table->names = names_new();
    queue_table_add(table, TEXT(""), QUEUE_NONE);
    return table;
}

void queue_table_free(struct queue_table *table)
{
    if (table == NULL)
        return;
    names_free(table->names);
    mem_free(table->queues);
    mem_free(table);
}

struct queue_spec queue_spec_default(const char *name, queue_id parent)
{
    struct queue_spec queue = {.name = name,
                               .parent = parent,
                               .priority = QUEUE_PRIORITY_DEFAULT,
                               .reclaim_min_runtime = -1,
                               .preempt_min_runtime = -1,
                               .preemption_delay = -1,
                               .stale_after = -1};
    bool is_root = parent == QUEUE_NONE;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        queue.deserved[r] = !is_root && r == RESOURCE_GPU ? 0 : QUOTA_UNLIMITED;
        queue.limit[r] = queue.borrowing_limit[r] = queue.lending_limit[r] = QUOTA_UNLIMITED;
        queue.weight_milli[r] = MILLI;
    }
    return queue;
}

queue_id queue_table_add(struct queue_table *table, struct text name, queue_id parent)
{
    assert(table->count == 0 ? parent == QUEUE_NONE : parent < table->count);
    queue_id id = names_add(table->names, name);
    assert(id == table->count && id < QUEUE_NONE); /* false if the name was there */
    MEM_GROW(table->queues, table->capacity, table->count + 1u);
    table->queues[id] = queue_spec_default(names_text(table->names, id), parent);
    table->count++;
    return id;
}

queue_id queue_table_find(const struct queue_table *table, struct text name)
{
    uint32_t id = names_find(table->names, name);
    return id == NAMES_NONE ? QUEUE_NONE : id;
}

queue_id queue_table_of(struct queue_table *table, struct text name)
{
    queue_id id = queue_table_find(table, name);
    return id == QUEUE_NONE ? queue_table_add(table, name, QUEUE_ROOT) : id;
}

/* The name and the parent of a queue, which may be known already.  False: there is an error. */
static bool read_place(const struct queue_table *table, struct json_object *object, bool may_be_there,
                       struct queue_spec *spec, queue_id *known)
{
    json_need(object, "name");
    const char *name = json_get_string(object, "name", "");
    const char *parent_name = json_get_string(object, "parent", "");
    struct json_value name_value = json_member(object, "name");
    struct json_value parent_value = json_member(object, "parent");
    if (error_is(*object->value.error))
        return false;
    if (name[0] == '\0') {
        json_fail(&name_value, "a queue needs a name that is not empty");
        return false;
    }
    *known = queue_table_find(table, text_of(name));
    if (*known != QUEUE_NONE && !may_be_there) {
        json_fail(&name_value, "there is a queue named '%s' already", name);
        return false;
    }
    queue_id parent = queue_table_find(table, text_of(parent_name));
    if (parent == QUEUE_NONE) {
        json_fail(&parent_value, "no queue named '%s' stands before this one", parent_name);
        error_set_hint(object->value.error, "list a parent before its children");
        return false;
    }
    if (*known != QUEUE_NONE && table->queues[*known].parent != parent) {
        json_fail(&parent_value, "the queue '%s' has another parent already", name);
        return false;
    }
    *spec = queue_spec_default(name, parent);
    return true;
}

const char *const resource_names[] = {"gpus", "cpus", "memory_gb", NULL};
static const int64_t resource_scale[RESOURCE_COUNT] = {MILLI, MILLI, 1024}; /* MiB per GiB */

/* An amount of a resource; only -1 means unlimited.  key: `what` and the resource's name. */
static int64_t read_amount(struct json_object *object, const char *key, int64_t scale, int64_t otherwise)
{
    if (!json_has(object, key))
        return otherwise;
    int64_t amount = json_get_scaled(object, key, scale, -scale, QUEUE_AMOUNT_MAX, 0);
    if (amount == -scale)
        return QUOTA_UNLIMITED;
    if (amount < 0) {
        struct json_value value = json_member(object, key);
        json_fail(&value, "'%s' must be -1 (unlimited) or not negative", key);
    }
    return amount;
}

/* The keys of one kind of amount, in the order of enum resource. */
struct amount_keys {
    const char *keys[RESOURCE_COUNT];
};
static const struct amount_keys QUOTA_KEYS = {{"quota_gpus", "quota_cpus", "quota_memory_gb"}};
static const struct amount_keys NOMINAL_KEYS = {{"nominal_gpus", "nominal_cpus", "nominal_memory_gb"}};
static const struct amount_keys LIMIT_KEYS = {{"limit_gpus", "limit_cpus", "limit_memory_gb"}};
static const struct amount_keys GUARANTEE_KEYS = {{"guarantee_gpus", "guarantee_cpus", "guarantee_memory_gb"}};
static const struct amount_keys BORROWING_KEYS = {
    {"borrowing_limit_gpus", "borrowing_limit_cpus", "borrowing_limit_memory_gb"}};
static const struct amount_keys LENDING_KEYS = {
    {"lending_limit_gpus", "lending_limit_cpus", "lending_limit_memory_gb"}};

static void read_amounts(struct json_object *object, const struct amount_keys *keys, int64_t amounts[RESOURCE_COUNT])
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        amounts[r] = read_amount(object, keys->keys[r], resource_scale[r], amounts[r]);
}

static const char *const weight_keys[] = {"over_quota_weight", "over_quota_weight_cpus", "over_quota_weight_memory"};

static void read_weights(struct json_object *object, int64_t weights[RESOURCE_COUNT])
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        weights[r] = json_get_scaled(object, weight_keys[r], MILLI, 0, QUEUE_WEIGHT_MILLI_MAX, weights[r]);
}

/* For cohorts nominal_* means quota_*; both may not be given. */
static void read_deserved(struct json_object *object, int64_t deserved[RESOURCE_COUNT])
{
    for (int r = 0; r < RESOURCE_COUNT; r++)
        if (json_has(object, QUOTA_KEYS.keys[r]) && json_has(object, NOMINAL_KEYS.keys[r])) {
            struct json_value value = json_member(object, NOMINAL_KEYS.keys[r]);
            json_fail(&value, "'%s' and '%s' say the same", QUOTA_KEYS.keys[r], NOMINAL_KEYS.keys[r]);
        }
    read_amounts(object, &QUOTA_KEYS, deserved);
    read_amounts(object, &NOMINAL_KEYS, deserved);
}

void queue_spec_read(struct queue_spec *queue, struct json_object *object)
{
    read_deserved(object, queue->deserved);
    read_amounts(object, &LIMIT_KEYS, queue->limit);
    read_amounts(object, &GUARANTEE_KEYS, queue->guarantee);
    read_amounts(object, &BORROWING_KEYS, queue->borrowing_limit);
    read_amounts(object, &LENDING_KEYS, queue->lending_limit);
    read_weights(object, queue->weight_milli);
    queue->priority =
        (int32_t)json_get_int(object, "priority", -QUEUE_PRIORITY_MAX, QUEUE_PRIORITY_MAX, queue->priority);
    queue->created = -json_get_duration(object, "age_s", 0);
    queue->reclaim_min_runtime = json_get_duration(object, "reclaim_min_runtime_s", -1);
    queue->preempt_min_runtime = json_get_duration(object, "preempt_min_runtime_s", -1);
    queue->preemption_delay = json_get_duration(object, "preemption_delay_s", -1);
    queue->stale_after = json_get_patience(object, "stale_after_s", -1);
    queue->usage_ppm = json_get_scaled(object, "usage_ratio", MILLION, 0, 1000 * MILLION, 0);
    queue->users = (uint32_t)json_get_int(object, "users", 0, QUEUE_USERS_MAX, 0);
}

/* A queue that cannot be read changes nothing. */
static void read_queue(struct queue_table *table, const struct json_value *value, bool may_be_there)
{
    struct json_object object;
    struct queue_spec spec;
    queue_id id;
    json_object_open(&object, value);
    if (!read_place(table, &object, may_be_there, &spec, &id))
        return;
    queue_spec_read(&spec, &object);
    json_object_close(&object);
    if (error_is(*value->error))
        return;
    if (id == QUEUE_NONE)
        id = queue_table_add(table, text_of(spec.name), spec.parent);
    spec.name = table->queues[id].name;
    table->queues[id] = spec;
}

static void read_queues(struct queue_table *table, const struct json_value *array, bool may_be_there)
{
    size_t count = json_array_count(array);
    for (size_t i = 0; i < count && !error_is(*array->error); i++) {
        struct json_value item = json_array_item(array, i);
        read_queue(table, &item, may_be_there);
    }
}

void queue_table_read(struct queue_table *table, const struct json_value *array)
{
    read_queues(table, array, false);
}

void queue_table_merge(struct queue_table *table, const struct json_value *array)
{
    read_queues(table, array, true);
}

time_ns queue_table_delay(const struct queue_table *table, queue_id queue, time_ns otherwise)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = table->queues[q].parent)
        if (table->queues[q].preemption_delay >= 0)
            return table->queues[q].preemption_delay;
    return otherwise;
}

time_ns queue_table_stale_after(const struct queue_table *table, queue_id queue, time_ns otherwise)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = table->queues[q].parent)
        if (table->queues[q].stale_after >= 0)
            return table->queues[q].stale_after;
    return otherwise;
}

/* ---- Writing ---- */

/* In the form that read_amount reads; left out if it is `otherwise`. */
static void put_amounts(struct buffer *out, const struct amount_keys *keys, const int64_t amounts[RESOURCE_COUNT],
                        const int64_t otherwise[RESOURCE_COUNT])
{
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        const double scale = amounts[r] == QUOTA_UNLIMITED ? 1 : (double)resource_scale[r];
        if (amounts[r] != otherwise[r]) /* a double is exact for milli and for 1024ths; unlimited is -1 */
            buffer_members(out, ",%s:%g", keys->keys[r], (double)amounts[r] / scale);
    }
}

/* Whole seconds as a number, other durations as text, so that no digit is lost. */
static void put_duration(struct buffer *out, const char *key, time_ns duration, time_ns otherwise)
{
    if (duration == otherwise)
        return;
    buffer_members(out, ",%s:", key);
    if (duration == TIME_NEVER)
        buffer_string(out, "\"never\"");
    else if (duration % TIME_NS_PER_S == 0)
        buffer_int(out, duration / TIME_NS_PER_S);
    else
        buffer_format(out, "\"%lldns\"", (long long)duration);
}

static void put_scaled(struct buffer *out, const char *key, int64_t value, int64_t scale, int64_t otherwise)
{
    if (value != otherwise)
        buffer_members(out, ",%s:%g", key, (double)value / (double)scale);
}

static void put_queue(struct buffer *out, const struct queue_spec *queue, const char *parent)
{
    const struct queue_spec usual = queue_spec_default(queue->name, QUEUE_ROOT);
    buffer_members(out, ",{'name':%s", queue->name);
    if (parent[0] != '\0')
        buffer_members(out, ",'parent':%s", parent);
    put_amounts(out, &QUOTA_KEYS, queue->deserved, usual.deserved);
    put_amounts(out, &LIMIT_KEYS, queue->limit, usual.limit);
    put_amounts(out, &GUARANTEE_KEYS, queue->guarantee, usual.guarantee);
    put_amounts(out, &BORROWING_KEYS, queue->borrowing_limit, usual.borrowing_limit);
    put_amounts(out, &LENDING_KEYS, queue->lending_limit, usual.lending_limit);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        put_scaled(out, weight_keys[r], queue->weight_milli[r], MILLI, usual.weight_milli[r]);
    put_scaled(out, "priority", queue->priority, 1, usual.priority);
    put_duration(out, "age_s", -queue->created, 0);
    put_duration(out, "reclaim_min_runtime_s", queue->reclaim_min_runtime, -1);
    put_duration(out, "preempt_min_runtime_s", queue->preempt_min_runtime, -1);
    put_duration(out, "preemption_delay_s", queue->preemption_delay, -1);
    put_duration(out, "stale_after_s", queue->stale_after, -1);
    put_scaled(out, "usage_ratio", queue->usage_ppm, MILLION, 0);
    put_scaled(out, "users", queue->users, 1, usual.users);
    buffer_char(out, '}');
}

void queue_table_write(const struct queue_table *table, queue_id first, struct buffer *out)
{
    buffer_char(out, '[');
    for (queue_id q = first; q < table->count; q++)
        put_queue(out, &table->queues[q], table->queues[table->queues[q].parent].name);
    buffer_char(out, ']');
}
