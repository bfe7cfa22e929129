/* Attempts that failed where the trace was recorded, replayed (struct job_failures): a part.
 *
 * Laws
 *  - The reference work of each attempt is that of the record, and each begins with none done.  When an attempt but the
 *    last has done its work, it fails: the job leaves as one that a fault takes, with the reason `fault`, and waits
 *    again.  The scheduler is told that it has left, as of a fault, and no more.
 *  - The end of the last attempt is that of the job.  A limit may end it before, and a fault of the world may strike.
 *  - Such a job writes no checkpoints: an eviction loses the work of the present attempt, and of that alone. */
#include "sim/engine/engine_state.h"

enum { EVENT_RETRY = 0x70 };

struct sim_retry {                       /* of one job */
    const struct job_failures *failures; /* borrowed from the source; NULL: none */
    time_ns last;                        /* reference work of the last attempt */
    uint32_t failed;                     /* attempts so far */
};

struct retries {
    struct sim_retry *jobs; /* by slot, below capacity */
    size_t capacity;
};

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)engine;
    return needs != 0 ? mem_zalloc(1, sizeof(struct retries)) : NULL;
}

static void release(struct engine *engine)
{
    struct retries *own = engine->states[PART_retries];
    mem_free(own->jobs);
    mem_free(own);
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct retries *own = engine->states[PART_retries];
    const struct job_truth *truth = asked->truth;
    if (truth->failures == NULL && slot >= own->capacity)
        return;
    MEM_GROW(own->jobs, own->capacity, (size_t)engine->job_used);
    own->jobs[slot] = (struct sim_retry){.failures = truth->failures, .last = truth->duration};
    if (truth->failures == NULL)
        return;
    engine->jobs[slot].progress.duration = truth->failures->work[0];
    engine->jobs[slot].checkpoint = (struct checkpoint_plan){0};
}

/* The reference work of the attempt that comes next: retry->failed attempts have failed before it. */
static time_ns work_of(const struct sim_retry *retry)
{
    return retry->failed < retry->failures->count ? retry->failures->work[retry->failed] : retry->last;
}

/* The work of an attempt but the last is done: it fails. */
static bool strikes(struct engine *engine, uint32_t slot)
{
    struct retries *own = engine->states[PART_retries];
    struct sim_retry *retry = slot < own->capacity ? &own->jobs[slot] : NULL;
    struct progress *progress = &engine->jobs[slot].progress;
    if (retry == NULL || retry->failures == NULL || retry->failed == retry->failures->count ||
        !progress_is_done(progress, progress_work_at(progress, engine->now)))
        return false;
    engine_hash(engine, EVENT_RETRY, engine->jobs[slot].row.id);
    engine_take(engine, slot, REASON_FAULT);
    assert(progress->work == 0 && progress->saved == 0);
    retry->failed++;
    progress->duration = work_of(retry);
    return true;
}

const struct engine_part engine_part_retries = {
    .begin = begin, .needs = NEED_ATTEMPTS, .release = release, .submitted = submitted, .strikes = strikes};
