#include "workloads/readers/communication_table.h"

#include <string.h>

#include "base/buffer.h"

/* ---- read ---- */

/* A condition on a name; NULL: there is none. */
static const char *name_read(struct json_object *object, const char *key, struct arena *arena)
{
    const struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return NULL;
    const char *name = json_value_string(&value);
    if (name[0] == '\0')
        json_fail(&value, "'%s' must be a name", key);
    return arena_copy(arena, text_of(name));
}

static void class_check(struct json_object *object, const char *name, const char *const *classes)
{
    const struct json_value value = json_member(object, "workload_class");
    for (size_t i = 0; classes[i] != NULL; i++)
        if (strcmp(classes[i], name) == 0)
            return;
    if (error_is(*value.error))
        return;
    json_fail(&value, "the workload has no class '%s'", name);
    const char *near = text_nearest(text_of(name), classes);
    if (near != NULL)
        error_set_hint(value.error, "did you mean '%s'?", near);
}

static void conditions_read(struct json_object *object, struct communication_row *row, struct arena *arena,
                            const char *const *classes)
{
    row->class = json_get_choice(object, "class", job_class_names, -1);
    row->workload_class = name_read(object, "workload_class", arena);
    row->user = name_read(object, "user", arena);
    row->gpus_min = (uint32_t)json_get_int(object, "gpus_min", 1, UINT32_MAX, 1);
    row->gpus_max = (uint32_t)json_get_int(object, "gpus_max", 1, UINT32_MAX, UINT32_MAX);
    const struct json_value most = json_member(object, "gpus_max"), user = json_member(object, "user");
    if (row->gpus_max < row->gpus_min)
        json_fail(&most, "'gpus_max' is %u, below 'gpus_min', which is %u", row->gpus_max, row->gpus_min);
    if (row->user != NULL && classes != NULL)
        json_fail(&user, "the jobs of a synthesized workload have no users");
    if (row->workload_class != NULL && classes != NULL)
        class_check(object, row->workload_class, classes);
}

static void row_read(const struct json_value *value, struct communication_row *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    conditions_read(&object, row, arena, classes);
    const bool has = communication_read(&row->declared, &object, 0);
    const struct json_value plan = json_member(&object, "plan"), sensitivity = json_member(&object, "sensitivity");
    json_object_close(&object);
    if (!has)
        json_fail(value, "a row needs a 'plan' or a 'sensitivity'");
    if (error_is(*value->error))
        return;
    const char *file = json_value_place(plan.node != NULL ? &plan : &sensitivity, &row->line, &row->column);
    row->file = arena_copy(arena, text_of(file));
    const uint64_t gpus = row->declared.has_plan ? training_plan_gpus(&row->declared.plan) : 0;
    if (gpus > 0 && gpus < row->gpus_min)
        json_fail(&plan, "the plan is for %llu GPUs, below 'gpus_min', which is %u", (unsigned long long)gpus,
                  row->gpus_min);
    if (gpus > row->gpus_max)
        json_fail(&plan, "the plan is for %llu GPUs, above 'gpus_max', which is %u", (unsigned long long)gpus,
                  row->gpus_max);
}

struct communication_table communication_table_read(const struct json_value *array, struct arena *arena,
                                                    const char *const *classes)
{
    struct communication_table table = {0};
    if (array->node == NULL)
        return table;
    const size_t count = json_array_count(array);
    if (count > COMMUNICATION_ROWS_MAX) {
        json_fail(array, "'communication' has %zu rows, more than %d", count, COMMUNICATION_ROWS_MAX);
        return table;
    }
    table.rows = arena_alloc_array(arena, count > 0 ? count : 1, struct communication_row);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(array, i);
        row_read(&item, &table.rows[i], arena, classes);
    }
    table.count = (uint32_t)count;
    return table;
}

/* ---- applied ---- */

static bool is_same_or_any(const char *condition, const char *name)
{
    return condition == NULL || strcmp(condition, name) == 0;
}

int communication_table_row(const struct communication_table *table, const struct job *job,
                            struct communication_names names)
{
    const uint64_t gpus = job->communication == NULL ? job_whole_gpus(job) : 0;
    for (uint32_t i = 0; i < table->count && gpus > 0; i++) {
        const struct communication_row *row = &table->rows[i];
        if (gpus >= row->gpus_min && gpus <= row->gpus_max && (row->class < 0 || row->class == job->class) &&
            is_same_or_any(row->user, names.user) && is_same_or_any(row->workload_class, names.workload_class))
            return (int)i;
    }
    return COMMUNICATION_ROW_NONE;
}

static struct error misfit(const struct communication_row *row, uint32_t index, const struct job *job, const char *what,
                           const char *why)
{
    struct buffer name = {0};
    if (what != NULL)
        buffer_string(&name, what);
    else if (job->name != NULL)
        buffer_format(&name, "the job '%s'", job->name);
    else
        buffer_format(&name, "the job %lld", (long long)job->trace_id);
    struct error error = error_at(ERROR_CONFIG, row->file, row->line, row->column, "the plan does not fit %s: %s",
                                  buffer_c_string(&name), why);
    error_set_hint(&error,
                   "limit row %u of 'communication' by 'gpus_min', 'gpus_max', 'class', 'workload_class' or 'user', or "
                   "put a row for such jobs before it",
                   index);
    buffer_release(&name);
    return error;
}

struct error communication_table_apply(const struct communication_table *table, uint32_t row, struct job *job,
                                       const char *what, struct communication_set *set)
{
    const struct communication_row *at = &table->rows[row];
    struct communication fitted;
    struct training_complaint why;
    if (!communication_fit(&at->declared, job_whole_gpus(job), &fitted, &why))
        return misfit(at, row, job, what, why.what);
    job->communication = communication_set_own(set, &fitted);
    return ERROR_OK;
}
