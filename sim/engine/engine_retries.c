/* Recorded attempts; see sim/engine/engine_retries.h. */
#include "sim/engine/engine_retries.h"

enum { EVENT_RETRY = 0x70 };

void engine_retry_asks(struct engine *engine, uint32_t slot, const struct job_truth *truth)
{
    if (truth->failures == NULL && slot >= engine->retry_capacity)
        return;
    MEM_GROW(engine->retries, engine->retry_capacity, (size_t)engine->job_used);
    engine->retries[slot] = (struct sim_retry){.failures = truth->failures, .last = truth->duration};
    if (truth->failures == NULL)
        return;
    struct sim_job *job = &engine->jobs[slot];
    job->progress.duration = truth->failures->work[0];
    job->checkpoint = (struct checkpoint_plan){0};
}

/* The reference work of the attempt that comes next: retry->failed attempts have failed before it. */
static time_ns work_of(const struct sim_retry *retry)
{
    return retry->failed < retry->failures->count ? retry->failures->work[retry->failed] : retry->last;
}

bool engine_retry_fails(struct engine *engine, uint32_t slot)
{
    struct sim_retry *retry = slot < engine->retry_capacity ? &engine->retries[slot] : NULL;
    struct progress *progress = &engine->jobs[slot].progress;
    if (retry == NULL || retry->failures == NULL || retry->failed == retry->failures->count ||
        !progress_is_done(progress, progress_work_at(progress, engine->now)))
        return false;
    engine_hash(engine, EVENT_RETRY, engine->jobs[slot].row.id);
    engine_fault_take(engine, slot, REASON_FAULT);
    assert(progress->work == 0 && progress->saved == 0);
    retry->failed++;
    progress->duration = work_of(retry);
    return true;
}

time_ns engine_retry_longest(const struct job_truth *truth)
{
    time_ns longest = truth->duration;
    for (uint32_t i = 0; truth->failures != NULL && i < truth->failures->count; i++)
        if (truth->failures->work[i] > longest)
            longest = truth->failures->work[i];
    return longest;
}
