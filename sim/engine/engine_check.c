/* The invariants, checked on the world's own books and on the scheduler's. */
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"
#include "sim/job/closeness.h"

static void broken(struct engine *engine, const char *what)
{
    if (!error_is(engine->error))
        engine->error =
            error_new(ERROR_INTERNAL, "at %.9f s of simulated time: %s", time_to_seconds(engine->now), what);
}

void engine_check_take(struct engine *engine, const struct piece *pieces, uint32_t count)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t mask = pieces[i].gpu_mask; mask != 0; mask &= mask - 1) {
            uint32_t index = (uint32_t)__builtin_ctz(mask);
            if (index >= cluster_node_gpus(cluster, pieces[i].node)) {
                broken(engine, "a job was given a GPU its node does not have");
                return;
            }
            uint16_t *used = &engine->gpu_used[cluster->nodes[pieces[i].node].first_gpu + index];
            *used = (uint16_t)(*used + pieces[i].gpu_milli);
            if (*used > GPU_MILLI)
                broken(engine, "a GPU was given twice");
        }
}

void engine_check_give(struct engine *engine, const struct piece *pieces, uint32_t count)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t mask = pieces[i].gpu_mask; mask != 0; mask &= mask - 1) {
            gpu_id gpu = cluster->nodes[pieces[i].node].first_gpu + (uint32_t)__builtin_ctz(mask);
            engine->gpu_used[gpu] = (uint16_t)(engine->gpu_used[gpu] - pieces[i].gpu_milli);
        }
}

void engine_check_asks(struct engine *engine, struct sim_job *own, const struct job *job)
{
    own->close_count = 0;
    if (!engine->config->is_checked || !closeness_is_asked(job))
        return;
    own->close_count = job->group_count;
    MEM_GROW(own->close, own->close_capacity, (size_t)own->close_count);
    for (uint32_t g = 0; g < own->close_count; g++)
        own->close[g] = *job_group(job, g);
}

static void check_closeness(struct engine *engine, const struct sim_job *job)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t g = 0; g < job->close_count; g++) {
        const char *complaint =
            closeness_complaint(cluster, &job->close[g], g, job_pieces_all(&job->pieces), job->pieces.piece_count);
        if (complaint != NULL)
            broken(engine, complaint);
    }
}

void engine_check_pieces(struct engine *engine, const struct sim_job *job)
{
    const struct job_pieces *own = &job->pieces;
    uint32_t members = own->held_count;
    int64_t milli = job->held_milli;
    for (uint32_t i = 0; i < job->change_count; i++) {
        if (job->changes[i].is_join)
            continue; /* leaving members may be replaced before they have left */
        members -= pieces_member_count(job->changes[i].pieces, job->changes[i].piece_count);
        milli -= pieces_gpu_milli(job->changes[i].pieces, job->changes[i].piece_count);
    }
    if (members > own->member_count)
        broken(engine, "a job holds more members than it has");
    if (job->is_exact && (milli > job->asked_milli || (members == own->member_count && milli != job->asked_milli)))
        broken(engine, "a job got more or fewer GPUs than it asked");
    check_closeness(engine, job);
}

/* Are members on their way to the job? */
static bool is_joined(const struct sim_job *job)
{
    for (uint32_t i = 0; i < job->change_count; i++)
        if (job->changes[i].is_join)
            return true;
    return false;
}

/* Under the gang guarantee members wait for others only in a gang that was complete, and no longer than until the cycle
 * after stale_after, whose evictions leave at once.  A START that was decided before comes first. */
static void check_gang(struct engine *engine, const struct sim_job *job)
{
    if (job->state != LIFE_HOLDING || (engine->policy->guarantees & GUARANTEE_GANG) == 0)
        return;
    if (job->stale_since == TIME_NEVER)
        broken(engine, "a gang holds fewer members than its minimum");
    else if (engine->now - job->stale_since > time_after(engine->config->world.scheduler_period, job->stale_after) &&
             !is_joined(job))
        broken(engine, "a stale gang was not evicted in time");
}

/* Count the members of each set again. */
static void check_sets(struct engine *engine, struct sim_job *job)
{
    struct job_pieces *own = &job->pieces;
    const struct piece *pieces = job_pieces_all(own);
    uint32_t held[JOB_SETS_MAX] = {0}, missing = 0;
    for (uint32_t i = 0; i < own->piece_count; i++)
        held[job_pieces_set_of(own, pieces[i].group)] += pieces[i].member_count;
    for (uint32_t s = 0; s < own->set_count; s++)
        missing += held[s] < job_pieces_set(own, s)->min_members;
    if (missing != own->short_count)
        broken(engine, "the members of a job are counted wrongly");
    if (job->state == LIFE_RUNNING && !job_pieces_is_complete(own))
        broken(engine, "a job runs with fewer members than its minimum");
}

static bool holds(const struct sim_job *job)
{
    return job->state == LIFE_HOLDING || job->state == LIFE_RUNNING || job->state == LIFE_LEAVING;
}

void engine_check_instant(struct engine *engine)
{
    int64_t used = 0, held = 0, partial = 0;
    uint64_t waiting = 0, running = 0;
    for (gpu_id g = 0; g < engine->config->cluster->gpu_count; g++)
        used += engine->gpu_used[g];
    for (uint32_t s = 0; s < engine->job_used; s++) {
        struct sim_job *job = &engine->jobs[s];
        if (job->state == LIFE_NONE)
            continue;
        waiting += job->is_waiting;
        running += !job->is_waiting;
        if (!holds(job))
            continue;
        int64_t milli = pieces_gpu_milli(job_pieces_all(&job->pieces), job->pieces.piece_count);
        held += milli;
        partial += job->is_waiting ? milli : 0;
        check_sets(engine, job);
        check_gang(engine, job);
    }
    if (used != held || engine->levels[LEVEL_ALLOCATED].value != held - partial ||
        engine->levels[LEVEL_PARTIAL].value != partial)
        broken(engine, "the GPUs held differ from those of the jobs");
    if (engine->levels[LEVEL_FREE].value != (int64_t)engine->config->cluster->gpu_count * GPU_MILLI - used)
        broken(engine, "the free GPUs are not those that no job holds");
    const char *spent = engine_spent_check(engine);
    if (spent != NULL)
        broken(engine, spent);
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++) {
        const char *broken_law = (*part)->check != NULL ? (*part)->check(engine) : NULL;
        if (broken_law != NULL)
            broken(engine, broken_law);
    }
    if (engine->counts.submitted != waiting + running + engine->counts.ended + engine->counts.rejected)
        broken(engine, "a submitted job is not accounted for");
    if ((uint64_t)engine->levels[LEVEL_PENDING].value != waiting ||
        (uint64_t)engine->levels[LEVEL_RUNNING].value != running)
        broken(engine, "the counts of waiting and running jobs are wrong");
    if (engine->port.sched == NULL)
        return; /* another program's counts are unknown */
    struct sched_counts counts;
    sched_count(engine->port.sched, &counts);
    int64_t total = (int64_t)engine->config->cluster->gpu_count * GPU_MILLI;
    int64_t booked = counts.used_gpu_milli + counts.releasing_gpu_milli;
    if (booked > total || booked < held)
        broken(engine, "free and allocated GPUs do not add up to the cluster");
    const char *law = sched_check(engine->port.sched);
    if (law != NULL)
        broken(engine, law);
}
