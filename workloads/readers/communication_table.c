#include "workloads/readers/communication_table.h"

#include "base/buffer.h"

/* ---- read ---- */

static void row_read(const struct json_value *value, struct communication_row *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    row->jobs = job_filter_read(&object, 1, arena, classes);
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
    if (gpus > 0 && gpus < (uint64_t)row->jobs.gpus_min)
        json_fail(&plan, "the plan is for %llu GPUs, below 'gpus_min', which is %lld", (unsigned long long)gpus,
                  (long long)row->jobs.gpus_min);
    if (gpus > (uint64_t)row->jobs.gpus_max)
        json_fail(&plan, "the plan is for %llu GPUs, above 'gpus_max', which is %lld", (unsigned long long)gpus,
                  (long long)row->jobs.gpus_max);
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

int communication_table_row(const struct communication_table *table, const struct job *job, struct job_names names)
{
    const uint64_t gpus = job->communication == NULL ? job_whole_gpus(job) : 0;
    for (uint32_t i = 0; i < table->count && gpus > 0; i++)
        if (job_filter_passes(&table->rows[i].jobs, job, (int64_t)gpus, names))
            return (int)i;
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
    const uint32_t before = set->count;
    job->communication = communication_set_own(set, &fitted);
    if (set->count > before)
        communication_set_note(set, (struct communication_origin){at->file, at->line, at->column});
    return ERROR_OK;
}
