#include "workloads/activity/activity_table.h"

#include <string.h>

/* A misspelt name would match no job, without a word. */
static void class_check(const struct json_value *value, const char *name, const char *const *classes)
{
    for (size_t i = 0; classes[i] != NULL; i++)
        if (strcmp(classes[i], name) == 0)
            return;
    json_fail(value, "the workload has no class '%s'", name);
    const char *near = text_nearest(text_of(name), classes);
    if (near != NULL)
        error_set_hint(value->error, "did you mean '%s'?", near);
}

static void row_read(const struct json_value *value, struct activity_row *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    row->class = json_get_choice(&object, "class", job_class_names, -1);
    row->workload_class = NULL;
    const struct json_value kind = json_member(&object, "workload_class");
    if (kind.node != NULL) {
        row->workload_class = arena_copy(arena, text_of(json_value_string(&kind)));
        if (classes != NULL && !error_is(*kind.error))
            class_check(&kind, row->workload_class, classes);
    }
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

const struct activity_plan *activity_table_plan(const struct activity_table *table, enum job_class class,
                                                const char *workload_class)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct activity_row *row = &table->rows[i];
        if ((row->class < 0 || row->class == (int)class) &&
            (row->workload_class == NULL || strcmp(row->workload_class, workload_class) == 0))
            return &row->plan;
    }
    return NULL;
}
