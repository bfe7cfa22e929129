/* The faults of jobs, and what they did to each so far; see sim/engine/engine_faults.h. */
#include "sim/engine/engine_faults.h"

void engine_fault_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_group *got)
{
    MEM_GROW(engine->faults, engine->fault_capacity, (size_t)engine->job_used);
    struct sim_fault *own = &engine->faults[slot];
    *own = (struct sim_fault){0};
    for (uint32_t g = 0; g < job->group_count; g++)
        if (got[g].request.mig != 0)
            own->instance_groups |= UINT64_C(1) << g;
    fault_next(&engine->config->world.faults, engine->config->seed, job->id, &own->next);
}

/* The work at which its next fault strikes, in units; beyond all of its work: it has none before its end. */
static wide_ns strikes_at(const struct progress *progress, const struct fault *fault)
{
    return (wide_ns)fault->at * progress->members * progress->one;
}

time_ns engine_fault_before(const struct engine *engine, uint32_t slot, time_ns end)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *next = &engine->faults[slot].next;
    if (next->at >= progress->duration)
        return end;
    const time_ns at = progress_reaches(progress, strikes_at(progress, next));
    return at < end ? at : end;
}

bool engine_fault_is_due(const struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *next = &engine->faults[slot].next;
    const wide_ns work = progress_work_at(progress, engine->now);
    return next->at < progress->duration && work >= strikes_at(progress, next) && !progress_is_done(progress, work);
}

void engine_fault_loss(struct engine *engine, uint32_t slot, int64_t lost_gpu_ns)
{
    engine->faults[slot].row.lost_gpu_ns += lost_gpu_ns;
}

const struct fault_row *engine_fault_row(const struct engine *engine, uint32_t slot)
{
    return &engine->faults[slot].row;
}
