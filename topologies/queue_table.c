/* topologies/queue_table.c -- the table of queues and its reader. */
#include "topologies/queue_table.h"

#include <assert.h>

#include "base/mem.h"

enum {
    MILLI = 1000,
    QUEUE_PRIORITY_DEFAULT =
        100, /* as the schedulers do whose cases we read (DESIGN.md, section 8) */
    QUEUE_PRIORITY_MAX = 1000000000,
};

#define QUEUE_GPUS_MILLI_MAX                                                                       \
    INT64_C(1000000000000)                         /* a billion GPUs; sums stay far from overflow */
#define QUEUE_WEIGHT_MILLI_MAX INT64_C(1000000000) /* weight 1,000,000 */

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

queue_id queue_table_add(struct queue_table *table, struct text name, queue_id parent)
{
    assert(table->count == 0 ? parent == QUEUE_NONE : parent < table->count);
    queue_id id = names_add(table->names, name);
    assert(id == table->count && id < QUEUE_NONE); /* else the name was there */
    MEM_GROW(table->queues, table->capacity, table->count + 1u);
    bool is_root = id == QUEUE_ROOT;
    table->queues[id] = (struct queue_spec){.name = names_text(table->names, id),
                                            .parent = parent,
                                            .deserved_milli = is_root ? QUOTA_UNLIMITED : 0,
                                            .limit_milli = QUOTA_UNLIMITED,
                                            .over_quota_weight_milli = MILLI,
                                            .priority = QUEUE_PRIORITY_DEFAULT};
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

/* The new queue, or QUEUE_NONE after an error. */
static queue_id read_place(struct queue_table *table, struct json_object *object)
{
    json_need(object, "name");
    const char *name = json_get_string(object, "name", "");
    const char *parent_name = json_get_string(object, "parent", "");
    struct json_value name_value = json_member(object, "name");
    struct json_value parent_value = json_member(object, "parent");
    if (error_is(*object->value.error))
        return QUEUE_NONE;
    if (name[0] == '\0') {
        json_fail(&name_value, "a queue needs a name that is not empty");
        return QUEUE_NONE;
    }
    if (queue_table_find(table, text_of(name)) != QUEUE_NONE) {
        json_fail(&name_value, "there is a queue named '%s' already", name);
        return QUEUE_NONE;
    }
    queue_id parent = queue_table_find(table, text_of(parent_name));
    if (parent == QUEUE_NONE) {
        json_fail(&parent_value, "no queue named '%s' stands before this one", parent_name);
        error_set_hint(object->value.error, "list a parent before its children");
        return QUEUE_NONE;
    }
    return queue_table_add(table, text_of(name), parent);
}

/* GPUs as milli-GPUs; -1 alone means unlimited. */
static int64_t read_gpus(struct json_object *object, const char *key, int64_t otherwise)
{
    int64_t milli =
        json_get_scaled(object, key, MILLI, -MILLI, QUEUE_GPUS_MILLI_MAX, otherwise * MILLI);
    if (milli == QUOTA_UNLIMITED * MILLI)
        return QUOTA_UNLIMITED;
    if (milli < 0) {
        struct json_value value = json_member(object, key);
        json_fail(&value, "'%s' must be -1 (unlimited) or not negative", key);
    }
    return milli;
}

static void read_queue(struct queue_table *table, const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    queue_id id = read_place(table, &object);
    int64_t deserved = read_gpus(&object, "quota_gpus", 0);
    int64_t limit = read_gpus(&object, "limit_gpus", QUOTA_UNLIMITED);
    int64_t weight =
        json_get_scaled(&object, "over_quota_weight", MILLI, 0, QUEUE_WEIGHT_MILLI_MAX, MILLI);
    int64_t priority = json_get_int(&object, "priority", -QUEUE_PRIORITY_MAX, QUEUE_PRIORITY_MAX,
                                    QUEUE_PRIORITY_DEFAULT);
    json_object_close(&object);
    if (id == QUEUE_NONE || error_is(*value->error))
        return;
    struct queue_spec *queue = &table->queues[id];
    queue->deserved_milli = deserved;
    queue->limit_milli = limit;
    queue->over_quota_weight_milli = weight;
    queue->priority = (int32_t)priority;
}

void queue_table_read(struct queue_table *table, const struct json_value *array)
{
    size_t count = json_array_count(array);
    for (size_t i = 0; i < count && !error_is(*array->error); i++) {
        struct json_value item = json_array_item(array, i);
        read_queue(table, &item);
    }
}
