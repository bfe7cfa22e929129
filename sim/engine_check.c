/* The invariants, checked on the world's own books and on the scheduler's. */
#include "sim/engine_state.h"

static void broken(struct engine *engine, const char *what)
{
    if (!error_is(engine->error))
        engine->error = error_new(ERROR_INTERNAL, "at %.9f s of simulated time: %s",
                                  time_to_seconds(engine->now), what);
}

void engine_check_take(struct engine *engine, const struct sim_job *job)
{
    const struct cluster *cluster = engine->config->cluster;
    int64_t held = 0;
    uint32_t members = 0;
    for (uint32_t i = 0; i < job->piece_count; i++) {
        const struct piece *piece = &job->pieces[i];
        members += piece->member_count;
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
            uint32_t index = (uint32_t)__builtin_ctz(mask);
            if (index >= cluster_node_gpus(cluster, piece->node)) {
                broken(engine, "a job was given a GPU its node does not have");
                return;
            }
            uint16_t *used = &engine->gpu_used[cluster->nodes[piece->node].first_gpu + index];
            *used = (uint16_t)(*used + piece->gpu_milli);
            held += piece->gpu_milli;
            if (*used > GPU_MILLI)
                broken(engine, "a GPU was given twice");
        }
    }
    if (members < job->min_members)
        broken(engine, "a gang started with fewer members than its minimum");
    if (job->is_exact && held != job->asked_milli)
        broken(engine, "a job got more or fewer GPUs than it asked");
}

void engine_check_give(struct engine *engine, const struct sim_job *job)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t i = 0; i < job->piece_count; i++)
        for (uint32_t mask = job->pieces[i].gpu_mask; mask != 0; mask &= mask - 1) {
            gpu_id gpu =
                cluster->nodes[job->pieces[i].node].first_gpu + (uint32_t)__builtin_ctz(mask);
            engine->gpu_used[gpu] = (uint16_t)(engine->gpu_used[gpu] - job->pieces[i].gpu_milli);
        }
}

void engine_check_instant(struct engine *engine)
{
    int64_t held = 0;
    for (gpu_id g = 0; g < engine->config->cluster->gpu_count; g++)
        held += engine->gpu_used[g];
    uint64_t alive[LIFE_STATE_COUNT] = {0};
    int64_t asked = 0;
    for (uint32_t s = 0; s < engine->job_used; s++) {
        const struct sim_job *job = &engine->jobs[s];
        alive[job->state]++;
        for (uint32_t i = 0;
             i < job->piece_count && (job->state == LIFE_RUNNING || job->state == LIFE_LEAVING);
             i++)
            asked +=
                (int64_t)__builtin_popcount(job->pieces[i].gpu_mask) * job->pieces[i].gpu_milli;
    }
    if (held != asked)
        broken(engine, "the GPUs held differ from those of the running jobs");
    uint64_t waiting = alive[LIFE_PENDING] + alive[LIFE_STARTING],
             running = alive[LIFE_RUNNING] + alive[LIFE_LEAVING];
    if (engine->submitted != waiting + running + engine->ended + engine->rejected)
        broken(engine, "a submitted job is not accounted for");
    if ((uint64_t)engine->levels[LEVEL_PENDING].value != waiting ||
        (uint64_t)engine->levels[LEVEL_RUNNING].value != running)
        broken(engine, "the counts of waiting and running jobs are wrong");
    struct sched_counts counts;
    sched_count(engine->sched, &counts);
    int64_t total = (int64_t)engine->config->cluster->gpu_count * GPU_MILLI;
    int64_t free = total - counts.used_gpu_milli - counts.releasing_gpu_milli;
    if (free < 0 || counts.used_gpu_milli + counts.releasing_gpu_milli < held)
        broken(engine, "free and allocated GPUs do not add up to the cluster");
    const char *law = sched_check(engine->sched);
    if (law != NULL)
        broken(engine, law);
}
