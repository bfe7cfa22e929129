/* The pace of jobs: the hooks; see sim/engine/engine_pace.h.
 *
 * Jobs on pieces of GPUs have a pace (engine_clients.c), and jobs that communicate (engine_network.c).  When the pace
 * of a running job changes, its attempt goes on: what it did so far at other speeds is folded.  Busy SMs follow the
 * pace: the activity of the trace is that at full speed. */
#include "sim/engine/engine_pace.h"

static void *begin(struct engine *engine, uint32_t needs)
{
    return needs != 0 || engine_has_clients(engine) ? mem_zalloc(1, sizeof(struct pace)) : NULL;
}

static void release(struct engine *engine)
{
    struct pace *own = pace_of(engine);
    for (size_t s = 0; s < own->capacity; s++) {
        mem_free(own->jobs[s].groups);
        mem_free(own->jobs[s].shares);
        mem_free(own->jobs[s].network);
    }
    engine_clients_release(engine);
    engine_network_release(engine);
    mem_free(own->jobs);
    mem_free(own);
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct pace *own = pace_of(engine);
    const struct job *job = asked->job;
    const struct job_truth *truth = asked->truth;
    MEM_GROW(own->jobs, own->capacity, (size_t)engine->job_used);
    struct sim_pace *pace = &own->jobs[slot];
    MEM_GROW(pace->groups, pace->group_capacity, (size_t)job->group_count);
    pace->is_client = false;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct request *wish = &job_group(job, g)->request;
        const int64_t member_milli = engine_member_milli(engine, wish);
        pace->groups[g] = (struct pace_group){.demand = engine_demand(engine, job, truth, wish),
                                              .gpus = engine_member_gpus(wish),
                                              .asked_milli = member_milli < GPU_MILLI ? member_milli : GPU_MILLI,
                                              .asked_mig = wish->mig,
                                              .got_mig = asked->got[g].request.mig};
        pace->is_client |= !request_is_whole(wish) || !request_is_whole(&asked->got[g].request);
    }
    pace->is_client &= engine_has_clients(engine);
    engine_network_asks(engine, slot, job, asked->got);
    assert(pace->share_count == 0);
    if (pace->is_client || pace->has_network)
        engine_make_paced(engine, slot, truth);
}

static void moved(struct engine *engine, uint32_t slot)
{
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    if (pace->is_client)
        engine_clients_move(engine, slot);
    if (pace->has_network)
        engine_network_move(engine, slot);
}

/* Book what communication cost in the present interval of the job. */
static void fold(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (!pace_of(engine)->jobs[slot].has_network || job->is_waiting)
        return;
    const time_ns span = engine->now - job->progress.since;
    engine_network_count(engine, slot, span - progress_overhead(&job->progress, engine->now));
}

static void attempt(struct engine *engine, uint32_t slot, struct sim_spent *spent)
{
    (void)spent;
    fold(engine, slot);
}

static void closed(struct engine *engine, uint32_t slot)
{
    if (pace_of(engine)->jobs[slot].has_network)
        engine_network_close(engine, slot);
}

static void slows(const struct engine *engine, uint32_t slot, struct sim_speed *speed)
{
    const struct pace *own = pace_of(engine);
    engine_clients_speed(engine, slot, speed);
    if (own->jobs[slot].has_network)
        speed->network *= own->jobs[slot].network->time.speed;
}

/* What its pieces can serve of that level: on an instance at most all of its SMs. */
static int64_t busy(const struct engine *engine, uint32_t slot, uint32_t level)
{
    if (pace_of(engine)->jobs[slot].groups == NULL)
        return -1;
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    const double part = job->speed.served * (double)engine_pace(job) / PACE_ONE;
    double sum = 0;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++) {
        const struct pace_group *group = &pace->groups[pieces[p].group];
        const bool is_share = pieces[p].gpu_mask != 0 && pieces[p].gpu_milli < GPU_MILLI;
        const double most = is_share && !engine_clients_share(pace, &pieces[p]) ? pieces[p].gpu_milli : GPU_MILLI;
        sum += fmin(level * part, most) * group->gpus * pieces[p].member_count;
    }
    return llrint(sum * GPU_MILLI);
}

const struct engine_part engine_part_pace = {.begin = begin,
                                             .needs = NEED_COMMUNICATION,
                                             .release = release,
                                             .submitted = submitted,
                                             .moved = moved,
                                             .fold = fold,
                                             .attempt = attempt,
                                             .closed = closed,
                                             .slows = slows,
                                             .busy = busy};
