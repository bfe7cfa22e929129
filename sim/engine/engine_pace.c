/* The pace of jobs: how much work a member does in a nanosecond, and what follows from it.
 *
 * Jobs on pieces of GPUs have a pace (engine_clients.c), and jobs that communicate (engine_network.c).  When the pace
 * of a running job changes, its attempt goes on: what it did so far at other speeds is folded.  Busy SMs follow the
 * pace: the activity of the trace is that at full speed. */
#include <math.h>

#include "sim/engine/engine_activity.h"
#include "sim/engine/engine_pace.h"
#include "sim/engine/engine_saves.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/sharing_speed.h"

bool engine_has_paces(const struct engine *engine, const struct job *job)
{
    return engine->paces != NULL || job->communication != NULL || engine_has_clients(engine);
}

static uint32_t pace_now(const struct engine *engine, uint32_t slot, double slow)
{
    const double pace = PACE_ONE * engine_network_speed(engine, slot) / slow;
    return (uint32_t)lrint(fmax(1, pace));
}

/* ---- Jobs ---- */

void engine_pace_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth,
                      const struct job_group *got)
{
    MEM_GROW(engine->paces, engine->pace_capacity, (size_t)engine->job_used);
    struct sim_pace *pace = &engine->paces[slot];
    MEM_GROW(pace->groups, pace->group_capacity, (size_t)job->group_count);
    const int64_t milli = truth->sm_active_milli == SM_ACTIVE_UNKNOWN ? truth->would_do_milli : truth->sm_active_milli;
    pace->is_client = false;
    pace->sm_active_milli = (uint16_t)milli;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct request *asked = &job_group(job, g)->request;
        const int64_t member_milli = engine_member_milli(engine, asked);
        const int64_t use = milli * member_milli;
        const int64_t busy = llrint((double)use * sharing_busy_per_sm_active);
        pace->groups[g] = (struct pace_group){.member_milli = member_milli,
                                              .use_micro = use,
                                              .busy_micro = busy < ALL_MICRO ? busy : ALL_MICRO,
                                              .bandwidth_micro = (int64_t)truth->bandwidth_milli * GPU_MILLI,
                                              .asked_mig = asked->mig,
                                              .got_mig = got[g].request.mig};
        pace->is_client |= asked->mig != 0 || got[g].request.mig != 0 || got[g].request.gpu_milli != 0 ||
                           got[g].request.gpu_memory_mib != 0;
    }
    pace->is_client &= engine_has_clients(engine);
    engine_network_asks(engine, slot, job, got);
    pace->is_paced = pace->is_client || pace->has_network;
    pace->class = job->class;
    pace->pace = PACE_ONE;
    pace->slow = 1;
    pace->is_sliced = false;
    pace->active = 0;
    pace->active_ns = 0;
    pace->folded = (struct sim_folded){0};
    assert(pace->share_count == 0);
    if (pace->is_paced)
        engine->jobs[slot].progress.one = PACE_ONE;
}

static struct sim_pace *pace_of(const struct engine *engine, uint32_t slot)
{
    return engine->paces[slot].is_paced ? &engine->paces[slot] : NULL;
}

uint32_t engine_pace_of(const struct engine *engine, uint32_t slot)
{
    const struct sim_pace *pace = pace_of(engine, slot);
    return pace == NULL ? 1 : pace->pace;
}

/* Book what communication cost in the present interval of the job. */
static void count_network(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (!engine->paces[slot].has_network || job->is_waiting)
        return;
    const time_ns span = engine->now - job->progress.since;
    engine_network_count(engine, slot, span - progress_overhead(&job->progress, engine->now));
}

struct sim_folded engine_pace_unfold(struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace == NULL)
        return (struct sim_folded){0};
    count_network(engine, slot);
    const struct sim_folded folded = pace->folded;
    pace->folded = (struct sim_folded){0};
    return folded;
}

bool engine_pace_has(const struct engine *engine, uint32_t slot)
{
    return engine->paces[slot].is_paced;
}

/* On an instance at most all of its SMs; a share may use SMs of the GPU that others leave idle. */
int64_t engine_pace_busy(const struct engine *engine, uint32_t slot, uint32_t level)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_pace *pace = &engine->paces[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    const int64_t speed = engine_has_phases(engine) ? engine_saves_pace(engine, slot) : pace->pace;
    int64_t sum = 0;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++) {
        const int64_t most = pieces_gpu_milli(&pieces[p], 1) * GPU_MILLI;
        const int64_t whole = pace->groups[pieces[p].group].member_milli * level;
        const int64_t use = whole * pieces[p].member_count * speed / PACE_ONE;
        sum += engine_clients_share(pace, &pieces[p]) || use < most ? use : most;
    }
    return sum;
}

/* Where jobs have phases also 0 while it does not work. */
static int64_t activity(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (job->is_waiting || job->row.sm_active_milli == SM_ACTIVE_UNKNOWN ||
        (engine_has_phases(engine) && engine_spent_works_from(engine, slot) > engine->now))
        return 0;
    return engine_pace_busy(engine, slot, engine->paces[slot].sm_active_milli);
}

static void set_active(struct engine *engine, uint32_t slot, int64_t active, time_ns at)
{
    struct sim_pace *pace = &engine->paces[slot];
    engine->levels[LEVEL_ACTIVE].value += active - pace->active;
    engine->levels[LEVEL_ACTIVE].excess += (__int128)(active - pace->active) * at;
    pace->active_ns += (wide_ns)pace->active * (at - pace->active_since);
    pace->active_since = at;
    pace->active = active;
}

bool engine_pace_counts(struct engine *engine, uint32_t slot, bool is_held)
{
    if (pace_of(engine, slot) == NULL)
        return false;
    set_active(engine, slot, is_held ? activity(engine, slot) : 0, engine->now);
    return true;
}

void engine_pace_resumes(struct engine *engine, uint32_t slot, int64_t active, time_ns at)
{
    set_active(engine, slot, active, at);
}

void engine_pace_close(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace != NULL && pace->has_network)
        engine_network_close(engine, slot);
    if (pace == NULL || job->row.activity != NULL || job->row.sm_active_milli == SM_ACTIVE_UNKNOWN ||
        job->row.held_milli_ns == 0)
        return;
    const wide_ns before = pace->active_ns + (wide_ns)pace->active * (engine->now - pace->active_since);
    const wide_ns milli = (before + job->row.held_milli_ns / 2) / job->row.held_milli_ns;
    job->row.sm_active_milli = (uint16_t)(milli < GPU_MILLI ? milli : GPU_MILLI);
}

/* ---- Changes ---- */

static bool is_running(const struct sim_job *job)
{
    return !job->is_waiting && job->pieces.piece_count > 0;
}

void engine_pace_fold(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_pace *pace = &engine->paces[slot];
    if (!is_running(job))
        return;
    const wide_ns before = job->progress.work;
    if (engine_has_phases(engine))
        engine_saves_count(engine, slot);
    pace->folded.span += engine->now - job->progress.since;
    pace->folded.overhead += progress_overhead(&job->progress, engine->now);
    count_network(engine, slot);
    progress_turn(&job->progress, engine->now, job->progress.speed);
    pace->folded.work += job->progress.work - before;
}

void engine_repace(struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = &engine->paces[slot];
    bool is_sliced;
    const double slow = engine_clients_slow(engine, slot, &is_sliced);
    const uint32_t now = pace_now(engine, slot, slow);
    const bool is_same = now == pace->pace;
    if (is_same && is_sliced == pace->is_sliced)
        return;
    if (engine->activities != NULL) /* at its speed until now */
        engine_activity_carry(engine, slot);
    pace->slow = slow;
    pace->is_sliced = is_sliced;
    pace->pace = now;
    if (!is_running(&engine->jobs[slot]))
        return;
    if (is_same) {
        engine_recount(engine, slot);
        return;
    }
    engine_pace_fold(engine, slot);
    engine_turn(engine, slot);
}

void engine_pace(struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace == NULL)
        return;
    if (pace->is_client)
        engine_clients_move(engine, slot);
    if (pace->has_network)
        engine_network_move(engine, slot);
}

void engine_release_paces(struct engine *engine)
{
    for (uint32_t s = 0; engine->paces != NULL && s < engine->job_used; s++) {
        mem_free(engine->paces[s].groups);
        mem_free(engine->paces[s].shares);
        mem_free(engine->paces[s].network);
    }
    engine_clients_release(engine);
    engine_network_release(engine);
    mem_free(engine->paces);
}
