#include "workloads/readers/job_defaults.h"

#include "workloads/readers/native_row.h"

/* The fields that a row may set, besides the GPU model. */
static const uint8_t fields[] = {
    NATIVE_CLASS,
    NATIVE_PRIORITY,
    NATIVE_PREEMPTIBLE,
    NATIVE_LIMIT,
    NATIVE_ESTIMATE,
    NATIVE_CHECKPOINT_INTERVAL,
    NATIVE_CHECKPOINT_DURATION,
    NATIVE_RESTART,
};

static int64_t value_read(struct json_object *object, const struct job_text *text)
{
    switch (text->form) {
    case TEXT_BOOL:
        return json_get_bool(object, text->key, text->usual != 0);
    case TEXT_NAME:
        return json_get_choice(object, text->key, text->names, (int)text->usual);
    case TEXT_TIME:
        return json_get_duration(object, text->key, text->usual);
    default:
        return json_get_int(object, text->key, text->low, text->high, text->usual);
    }
}

static void row_read(const struct json_value *value, struct job_defaults_row *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object, set;
    json_object_open(&object, value);
    row->jobs = job_filter_read(&object, 0, arena, classes);
    json_need(&object, "set");
    if (json_object_at(&set, &object, "set")) {
        for (size_t f = 0; f < sizeof fields; f++) {
            const struct job_text *text = &native_texts[fields[f]];
            const int64_t number = value_read(&set, text);
            const struct json_value given = json_member(&set, text->key);
            if (number < text->low)
                json_fail(&given, "'%s' must be above 0", text->key);
            if (given.node != NULL) {
                row->values[row->count].field = fields[f];
                row->values[row->count++].value = number;
            }
        }
        if (json_has(&set, "gpu_model"))
            row->gpu_model = arena_copy(arena, text_of(json_get_string(&set, "gpu_model", "")));
        json_object_close(&set);
    }
    json_object_close(&object);
    if (row->count == 0 && row->gpu_model == NULL)
        json_fail(value, "a row of 'defaults' must set a field");
}

struct job_defaults job_defaults_read(const struct json_value *array, struct arena *arena, const char *const *classes)
{
    if (array->node == NULL)
        return (struct job_defaults){.count = 0};
    const size_t count = json_array_count(array);
    if (count > JOB_DEFAULT_ROWS_MAX) {
        json_fail(array, "'defaults' has %zu rows, more than %d", count, JOB_DEFAULT_ROWS_MAX);
        return (struct job_defaults){.count = 0};
    }
    struct job_defaults_row *rows = arena_alloc_array(arena, count + 1, struct job_defaults_row);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(array, i);
        row_read(&item, &rows[i], arena, classes);
    }
    return (struct job_defaults){rows, (uint32_t)count};
}

static bool is_of_checkpoints(uint8_t field)
{
    return field == NATIVE_CHECKPOINT_INTERVAL || field == NATIVE_CHECKPOINT_DURATION;
}

void job_defaults_apply(const struct job_defaults *defaults, const struct cluster *cluster, struct job_names names,
                        const struct job_truth *truth, struct job *job)
{
    const int64_t gpus = defaults->count > 0 ? (job_gpu_milli(job) + GPU_MILLI - 1) / GPU_MILLI : 0;
    uint64_t done = 0; /* by enum native_field: set by a row */
    for (uint32_t r = 0; r < defaults->count; r++) {
        const struct job_defaults_row *row = &defaults->rows[r];
        if (!job_filter_passes(&row->jobs, job, gpus, names))
            continue;
        for (uint32_t v = 0; v < row->count; v++) {
            const uint8_t field = row->values[v].field;
            const struct job_text *text = &native_texts[field];
            if ((done >> field & 1) || member_get(&text->at, job) != text->usual ||
                (truth->failures != NULL && is_of_checkpoints(field)))
                continue;
            done |= UINT64_C(1) << field;
            member_set(&text->at, job, row->values[v].value);
            if (field == NATIVE_PREEMPTIBLE)
                job->is_firm_by_priority = false;
        }
        struct request *request = &job->first.request;
        if (row->gpu_model == NULL || cluster == NULL || (done >> NATIVE_GPU_MODEL & 1) || job->group_count > 1 ||
            request->gpu_models != 0 || !request_asks_gpus(request))
            continue;
        done |= UINT64_C(1) << NATIVE_GPU_MODEL;
        request->gpu_models = ask_models(cluster, text_of(row->gpu_model));
    }
}
