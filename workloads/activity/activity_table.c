#include "workloads/activity/activity_table.h"

static void row_read(const struct json_value *value, struct activity_row *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    row->jobs = job_filter_read(&object, 0, arena, classes);
    activity_plan_read(&row->plan, &object);
    json_object_close(&object);
}

struct activity_table activity_table_read(const struct json_value *array, struct arena *arena,
                                          const char *const *classes)
{
    if (array->node == NULL)
        return (struct activity_table){0};
    const size_t count = json_array_count(array);
    if (count > ACTIVITY_ROWS_MAX) {
        json_fail(array, "'activity' has %zu rows, more than %d", count, ACTIVITY_ROWS_MAX);
        return (struct activity_table){0};
    }
    struct activity_row *rows = arena_alloc_array(arena, count > 0 ? count : 1, struct activity_row);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(array, i);
        row_read(&item, &rows[i], arena, classes);
    }
    return (struct activity_table){.rows = rows, .count = (uint32_t)count};
}

const struct activity_plan *activity_table_plan(const struct activity_table *table, const struct job *job, int64_t gpus,
                                                struct job_names names)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (job_filter_passes(&table->rows[i].jobs, job, gpus, names))
            return &table->rows[i].plan;
    return NULL;
}
