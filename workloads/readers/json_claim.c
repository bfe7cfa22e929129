#include "workloads/readers/json_claim.h"

#include "workloads/request/claim.h"

enum {
    CLAIM_CLASS,
    CLAIM_COUNT,
    CLAIM_MODEL,
    CLAIM_MEMORY,
    CLAIM_SMS,
    CLAIM_MIG,
    CLAIM_NVLINK,
    CLAIM_MATCH,
    CLAIM_FIELD_COUNT
};

static const struct column columns[CLAIM_FIELD_COUNT] = {
    [CLAIM_CLASS] = {"class", false, FIELD_TEXT},     [CLAIM_COUNT] = {"count", false, FIELD_NUMBER},
    [CLAIM_MODEL] = {"gpu_model", false, FIELD_TEXT}, [CLAIM_MEMORY] = {"min_memory_gb", false, FIELD_NUMBER},
    [CLAIM_SMS] = {"min_sms", false, FIELD_NUMBER},   [CLAIM_MIG] = {"mig_capable", false, FIELD_BOOL},
    [CLAIM_NVLINK] = {"nvlink", false, FIELD_BOOL},   [CLAIM_MATCH] = {"match", false, FIELD_TEXT},
};

static struct error fields_read(const struct reader *reader, const struct line *line, struct text object,
                                struct field fields[CLAIM_FIELD_COUNT])
{
    struct text rest = object, key, value;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "'claim' must be an object");
    while (json_line_member(&rest, &key, &value)) {
        int index = 0;
        while (index < CLAIM_FIELD_COUNT && !text_is(key, columns[index].name))
            index++;
        if (index == CLAIM_FIELD_COUNT)
            return input_error(line->input, line->text, key, "a claim knows no '%.*s'", (int)key.length, key.at);
        fields[index].name = columns[index].name;
        TRY(json_line_field(line, value, columns[index].kind, reader->arena, &fields[index]));
    }
    return ERROR_OK;
}

static struct error claim_of(const struct line *line, const struct field *fields, struct claim *claim)
{
    struct gpu_conditions *conditions = &claim->conditions;
    int64_t memory_mib = 0, sm_count = 0;
    *claim = (struct claim){.count = 1,
                            .class = fields[CLAIM_CLASS].value,
                            .model = fields[CLAIM_MODEL].value,
                            .match = fields[CLAIM_MATCH].value};
    TRY(field_int(line, &fields[CLAIM_COUNT], 1, ASK_GPUS_MAX, &claim->count));
    TRY(field_mib(line, &fields[CLAIM_MEMORY], &memory_mib));
    TRY(field_int(line, &fields[CLAIM_SMS], 0, UINT16_MAX, &sm_count));
    TRY(field_bool(line, &fields[CLAIM_MIG], &conditions->has_mig));
    TRY(field_bool(line, &fields[CLAIM_NVLINK], &conditions->has_nvlink));
    conditions->memory_mib = (uint32_t)memory_mib;
    conditions->sm_count = (uint16_t)sm_count;
    conditions->asks_nvlink = field_is_set(&fields[CLAIM_NVLINK]);
    return ERROR_OK;
}

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

struct error json_claim_group(const struct reader *reader, const struct line *line, struct text object,
                              const struct field *fields, int64_t count, int64_t min_count, struct job_group *group)
{
    struct field own[CLAIM_FIELD_COUNT] = {{0}};
    struct claims claims = {.count = count, .min_count = min_count};
    struct ask beside;
    TRY(fields_read(reader, line, object, own));
    TRY(claim_of(line, own, &claims.claim));
    TRY(check_beside(line, fields));
    TRY(native_row_ask(reader, line, fields, &beside));
    claims.cpu_milli = beside.cpu_milli;
    claims.memory_mib = beside.memory_mib;
    if (claims.claim.model.length == 0)
        claims.claim.model = fields[NATIVE_GPU_MODEL].value;
    const char *complaint = claims_group(&claims, reader->cluster, group);
    if (complaint == NULL)
        return ERROR_OK;
    struct error error = input_error(line->input, line->text, object, "'claim': %s", complaint);
    if (reader->cluster != NULL && claims.claim.class.length != 0 &&
        cluster_gpu_class_of(reader->cluster, claims.claim.class) == NULL)
        gpu_class_hint(reader->cluster, claims.claim.class, &error);
    return error;
}
