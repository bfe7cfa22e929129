#include "workloads/readers/json_communication.h"

#include "base/json.h"

void json_communication_read(const struct reader *reader, const struct line *line, struct json_object *object,
                             struct job *job)
{
    struct communication declared;
    const uint64_t gpus = job_whole_gpus(job);
    const struct json_value plan = json_member(object, "plan");
    if (plan.node != NULL && gpus == 0)
        json_fail(&plan, "a plan is for whole GPUs, and the job asks for none or for parts of GPUs");
    if (!communication_read(&declared, object, gpus <= UINT32_MAX ? (uint32_t)gpus : UINT32_MAX) || gpus == 0 ||
        error_is(*object->value.error))
        return;
    const uint32_t before = reader->communications->count;
    job->communication = communication_set_own(reader->communications, &declared);
    if (plan.node != NULL && reader->communications->count > before) {
        struct communication_origin origin = {.file = NULL};
        json_value_place(&plan, &origin.line, &origin.column);
        origin.line = (size_t)input_line_number(line->input);
        communication_set_note(reader->communications, origin);
    }
}

struct error communication_field_read(const struct reader *reader, const struct line *line, const struct field *field,
                                      struct job *job)
{
    if (!field_is_set(field))
        return ERROR_OK;
    const struct sensitivity *sensitivity = sensitivity_find(field->value);
    if (sensitivity == NULL) {
        uint32_t count;
        const struct sensitivity *table = sensitivity_table(&count);
        struct buffer names = {0};
        for (uint32_t i = 0; i < count; i++)
            buffer_format(&names, "%s'%s'", i > 0 ? ", " : "one of ", table[i].name);
        struct error error = field_error(line, field, buffer_c_string(&names));
        buffer_release(&names);
        return error;
    }
    const struct communication declared = {.sensitivity = *sensitivity};
    if (job_whole_gpus(job) > 0)
        job->communication = communication_set_own(reader->communications, &declared);
    return ERROR_OK;
}
