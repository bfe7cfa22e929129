/* Usability of free GPUs: policies/census/census.h, for the workload's typical jobs. */
#include "sim/engine/engine_state.h"

_Static_assert((int)RECORD_CAUSE_COUNT == (int)FRAGMENT_CAUSE_COUNT &&
                   (int)RECORD_GANG_SIZE_COUNT == (int)CENSUS_GANG_SIZES,
               "sim/record/record.h tells each of them");

static void count_members(void *self, const struct job *job, const struct job_truth *truth)
{
    (void)truth;
    member_kinds_add_job(self, job);
}

struct error engine_know_typical(struct engine *engine)
{
    struct member_kinds kinds = {0};
    if (!engine->rows.wants_samples && !engine->config->shows_later && !engine->filling.is_on)
        return ERROR_OK;
    struct error error = job_source_preview(engine->config->source, count_members, &kinds);
    if (!error_is(error))
        member_kinds_tell(&kinds, &engine->space.typical);
    member_kinds_release(&kinds);
    return error;
}

struct space_row engine_space(struct engine *engine)
{
    struct census census;
    struct space_row row = {0};
    if (engine->space.typical.count == 0 ||
        !port_census(&engine->port, &engine->space.census, &engine->space.typical, &census))
        return row;
    row.is_known = true;
    row.idle_gpu_milli = census.idle_milli;
    row.stranded_gpu_milli = census.stranded_milli;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        row.fragmented_gpus[c] = census.fragmented_milli[c] / GPU_MILLI;
    for (int s = 0; s < RECORD_GANG_SIZE_COUNT; s++)
        row.gang_gpus[s] = census.gang_gpus[s];
    row.mig_slices_unplaceable = census.mig_slices_unplaceable;
    return row;
}
