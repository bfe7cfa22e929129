#include "workloads/readers/json_claim.h"

#include "workloads/request/claim.h"

/* A claim gives the number and kind of GPUs, so other fields that do are refused. */
static struct error check_beside(const struct line *line, const struct field *fields)
{
    static const enum native_field said[] = {NATIVE_GPUS,       NATIVE_NODES, NATIVE_GPU_FRACTION,
                                             NATIVE_GPU_MEMORY, NATIVE_MIG,   NATIVE_GPU_CLASS};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const struct field *field = &fields[said[i]];
        if (field_is_set(field))
            return input_error(line->input, line->text, field->place, "'%s': it excludes 'claim', which says it",
                               field->name);
    }
    return ERROR_OK;
}

struct error json_claim_group(const struct reader *reader, const struct line *line, const struct json_value *value,
                              const struct field *fields, int64_t count, int64_t min_count, struct job_group *group)
{
    struct ask beside;
    TRY(check_beside(line, fields));
    TRY(native_row_ask(reader, line, fields, &beside));
    struct claims claims = {.claim = claim_read(value),
                            .count = count,
                            .min_count = min_count,
                            .cpu_milli = beside.cpu_milli,
                            .memory_mib = beside.memory_mib};
    if (claims.claim.model.length == 0)
        claims.claim.model = fields[NATIVE_GPU_MODEL].value;
    const char *complaint = error_is(*value->error) ? NULL : claims_group(&claims, reader->cluster, group);
    if (complaint == NULL)
        return ERROR_OK;
    json_fail(value, "'claim': %s", complaint);
    if (reader->cluster != NULL && claims.claim.class.length != 0 &&
        cluster_gpu_class_of(reader->cluster, claims.claim.class) == NULL)
        gpu_class_hint(reader->cluster, claims.claim.class, value->error);
    return ERROR_OK;
}
