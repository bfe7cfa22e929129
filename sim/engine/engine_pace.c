/* The speed of jobs on pieces of GPUs: the clients of each GPU, and their slowdown; see sim/engine/sharing_speed.h.
 *
 * Only under a sharing policy that makes other pieces of what jobs ask (policies/sharing/sharing.h), and if the world
 * says so: everywhere else a member goes as fast as its trace tells.  That is its speed on what it asks, alone.  What
 * it gets in place of that makes it slower, or, if it asked an instance and gets more, faster:
 *
 *   an instance     by its SMs and memory slices; neighbours do not matter
 *   MPS             by the issue slots that all clients of the GPU would use
 *   else a share    in turns, as processes without a server are: by the time that all clients would be busy
 *
 * What a client alone uses of a whole GPU's issue slots is taken to be its SM activity there; where the workload does
 * not tell that, the part that would have done.  It is busy for a longer part of the time, by
 * world.busy_per_sm_active, for what runs seldom fills all SMs.  Members of a job work in step, at the speed of the
 * slowest.
 *
 * When a client comes or goes, all others on the GPU change their speed at once: O(clients) each.  The attempts of
 * those go on: what they did so far at other speeds is folded. */
#include <math.h>
#include <stdlib.h>

#include "sim/engine/engine_state.h"
#include "sim/engine/sharing_speed.h"

enum { PACE_ONE = 1 << 20 }; /* units of work in a member-ns: a speed is exact to a millionth */
enum { ALL_MICRO = GPU_MILLI * 1000 };

/* One member of a group of a job. */
struct pace_group {
    int64_t use_micro;          /* busy part of a GPU's SMs, when alone on a whole GPU */
    int64_t busy_micro;         /* busy part of the time, likewise */
    uint8_t asked_mig, got_mig; /* enum mig_profile_id + 1; 0 */
};

struct sim_pace {
    bool is_paced; /* it holds a piece of a GPU */
    uint8_t class; /* enum job_class */
    uint32_t pace; /* units that a member does per ns */
    struct pace_group *groups;
    size_t group_capacity;
    struct piece *shares; /* pieces on which it is a client now */
    size_t share_capacity;
    uint32_t share_count;
    uint64_t seen;            /* number of the last change for which it was examined */
    int64_t active;           /* milli-GPU x milli activity, at present */
    time_ns active_since;     /* since when `active` has that value */
    wide_ns active_ns;        /* integral of `active` before that */
    struct sim_folded folded; /* of the present attempt */
};

struct gpu_clients {
    uint32_t *slots; /* of jobs, one entry per piece */
    size_t capacity;
    uint32_t count;
    int64_t use_micro, busy_micro; /* of all members together */
};

bool engine_has_paces(const struct engine *engine)
{
    const struct policy_config *policy = engine->config->policy;
    return engine->config->world.sharing == SHARING_MEASURED && policy != NULL && policy->sharing->map != NULL;
}

/* ---- what a piece costs ---- */

static const struct sharing_mix *mix_of(uint8_t class)
{
    return class == JOB_INFERENCE  ? &sharing_small_inference
           : class == JOB_TRAINING ? &sharing_training
                                   : &sharing_interactive;
}

static double slow_on_instance(const struct sim_pace *pace, const struct gpu_model *model, uint8_t mig)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    if (mig == 0 || profiles == NULL || profiles[mig - 1].sm_count == 0)
        return 1;
    return sharing_slow_mig(*mix_of(pace->class), model->sm_count, profiles[mig - 1].sm_count,
                            profiles[mig - 1].memory_slices);
}

static bool is_share(const struct sim_pace *pace, const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI && pace->groups[piece->group].got_mig == 0;
}

static struct gpu_clients *clients_of(const struct engine *engine, const struct piece *piece)
{
    return &engine->clients[engine->config->cluster->nodes[piece->node].first_gpu +
                            (uint32_t)__builtin_ctz(piece->gpu_mask)];
}

static double slow_on(const struct engine *engine, const struct sim_pace *pace, const struct piece *piece)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct pace_group *group = &pace->groups[piece->group];
    if (piece->gpu_mask == 0)
        return 1;
    const struct gpu_model *model = &cluster->models[cluster_node_type(cluster, piece->node)->model];
    const double asked = slow_on_instance(pace, model, group->asked_mig);
    if (!is_share(pace, piece))
        return slow_on_instance(pace, model, group->got_mig) / asked;
    const struct gpu_clients *clients = clients_of(engine, piece);
    const double slow = piece->share == SHARE_MPS ? sharing_slow_mps((double)group->use_micro / ALL_MICRO,
                                                                     (double)clients->use_micro / ALL_MICRO)
                                                  : sharing_slow_timeslice((double)clients->busy_micro / ALL_MICRO);
    return slow / asked;
}

static uint32_t pace_now(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    double slow = 0;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++)
        slow = fmax(slow, slow_on(engine, &engine->paces[slot], &pieces[p]));
    return slow == 0 ? PACE_ONE : (uint32_t)lrint(fmax(1, PACE_ONE / slow));
}

/* ---- jobs ---- */

void engine_pace_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth,
                      const struct job_group *got)
{
    MEM_GROW(engine->paces, engine->pace_capacity, (size_t)slot + 1);
    struct sim_pace *pace = &engine->paces[slot];
    MEM_GROW(pace->groups, pace->group_capacity, (size_t)job->group_count);
    const int64_t milli = truth->sm_active_milli == SM_ACTIVE_UNKNOWN ? truth->would_do_milli : truth->sm_active_milli;
    pace->is_paced = false;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct request *asked = &job_group(job, g)->request;
        const int64_t use = milli * engine_member_milli(engine, asked);
        const int64_t busy = llrint((double)use * engine->config->world.busy_per_sm_active);
        pace->groups[g] = (struct pace_group){.use_micro = use,
                                              .busy_micro = busy < ALL_MICRO ? busy : ALL_MICRO,
                                              .asked_mig = asked->mig,
                                              .got_mig = got[g].request.mig};
        pace->is_paced |= asked->mig != 0 || got[g].request.mig != 0 || got[g].request.gpu_milli != 0 ||
                          got[g].request.gpu_memory_mib != 0;
    }
    pace->class = job->class;
    pace->pace = PACE_ONE;
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

struct sim_folded engine_pace_unfold(const struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace == NULL)
        return (struct sim_folded){0};
    const struct sim_folded folded = pace->folded;
    pace->folded = (struct sim_folded){0};
    return folded;
}

/* Busy SMs of the job: on an instance at most all of its SMs; a share may use SMs of the GPU that others leave idle. */
static int64_t activity(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_pace *pace = &engine->paces[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    int64_t sum = 0;
    if (job->is_waiting || job->row.sm_active_milli == SM_ACTIVE_UNKNOWN)
        return 0;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++) {
        const int64_t most = pieces_gpu_milli(&pieces[p], 1) * GPU_MILLI;
        const int64_t use = pace->groups[pieces[p].group].use_micro * pieces[p].member_count * pace->pace / PACE_ONE;
        sum += is_share(pace, &pieces[p]) || use < most ? use : most;
    }
    return sum;
}

static void set_active(struct engine *engine, uint32_t slot, int64_t active)
{
    struct sim_pace *pace = &engine->paces[slot];
    engine_level(engine, LEVEL_ACTIVE, active - pace->active);
    pace->active_ns += (wide_ns)pace->active * (engine->now - pace->active_since);
    pace->active_since = engine->now;
    pace->active = active;
}

bool engine_pace_counts(struct engine *engine, uint32_t slot, bool is_held)
{
    if (pace_of(engine, slot) == NULL)
        return false;
    set_active(engine, slot, is_held ? activity(engine, slot) : 0);
    return true;
}

void engine_pace_close(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace == NULL || job->row.sm_active_milli == SM_ACTIVE_UNKNOWN || job->held_milli_ns == 0)
        return;
    const wide_ns before = pace->active_ns + (wide_ns)pace->active * (engine->now - pace->active_since);
    const wide_ns milli = (before + job->held_milli_ns / 2) / job->held_milli_ns;
    job->row.sm_active_milli = (uint16_t)(milli < GPU_MILLI ? milli : GPU_MILLI);
}

/* ---- clients ---- */

/* Give the job the speed that its pieces have now. */
static void repace(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_pace *pace = &engine->paces[slot];
    const uint32_t now = pace_now(engine, slot);
    if (now == pace->pace)
        return;
    pace->pace = now;
    if (job->is_waiting || job->pieces.piece_count == 0)
        return;
    const wide_ns before = job->progress.work;
    pace->folded.span += engine->now - job->progress.since;
    pace->folded.overhead += progress_overhead(&job->progress, engine->now);
    engine_turn(engine, slot);
    pace->folded.work += job->progress.work - before;
    set_active(engine, slot, activity(engine, slot));
}

static void repace_others(struct engine *engine, const struct piece *piece)
{
    const struct gpu_clients *clients = clients_of(engine, piece);
    for (uint32_t c = 0; c < clients->count; c++) {
        struct sim_pace *pace = &engine->paces[clients->slots[c]];
        if (pace->seen != engine->pace_changes) {
            pace->seen = engine->pace_changes;
            repace(engine, clients->slots[c]);
        }
    }
}

static void count_use(struct gpu_clients *clients, const struct pace_group *group, int64_t members)
{
    clients->use_micro += group->use_micro * members;
    clients->busy_micro += group->busy_micro * members;
}

static void leave_gpus(struct engine *engine, uint32_t slot)
{
    const struct sim_pace *pace = &engine->paces[slot];
    for (uint32_t s = 0; s < pace->share_count; s++) {
        struct gpu_clients *clients = clients_of(engine, &pace->shares[s]);
        uint32_t c = 0;
        while (clients->slots[c] != slot)
            c++;
        clients->slots[c] = clients->slots[--clients->count];
        count_use(clients, &pace->groups[pace->shares[s].group], -(int64_t)pace->shares[s].member_count);
    }
}

static void join_gpus(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    struct sim_pace *pace = &engine->paces[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    pace->share_count = 0;
    for (uint32_t p = 0; p < job->pieces.piece_count && !job->is_waiting; p++) {
        if (!is_share(pace, &pieces[p]))
            continue;
        struct gpu_clients *clients = clients_of(engine, &pieces[p]);
        MEM_GROW(clients->slots, clients->capacity, (size_t)clients->count + 1);
        clients->slots[clients->count++] = slot;
        count_use(clients, &pace->groups[pieces[p].group], pieces[p].member_count);
        MEM_GROW(pace->shares, pace->share_capacity, (size_t)pace->share_count + 1);
        pace->shares[pace->share_count++] = pieces[p];
    }
}

void engine_pace(struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = pace_of(engine, slot);
    if (pace == NULL)
        return;
    if (engine->clients == NULL)
        engine->clients = mem_zalloc(engine->config->cluster->gpu_count, sizeof *engine->clients);
    struct piece *before = NULL;
    const uint32_t before_count = pace->share_count;
    if (before_count > 0) {
        before = mem_zalloc(before_count, sizeof *before);
        memcpy(before, pace->shares, before_count * sizeof *before);
    }
    leave_gpus(engine, slot);
    join_gpus(engine, slot);
    pace->seen = ++engine->pace_changes;
    repace(engine, slot);
    for (uint32_t s = 0; s < before_count; s++)
        repace_others(engine, &before[s]);
    for (uint32_t s = 0; s < pace->share_count; s++)
        repace_others(engine, &pace->shares[s]);
    mem_free(before);
}

void engine_release_paces(struct engine *engine)
{
    for (uint32_t s = 0; engine->paces != NULL && s < engine->job_used; s++) {
        mem_free(engine->paces[s].groups);
        mem_free(engine->paces[s].shares);
    }
    for (gpu_id gpu = 0; engine->clients != NULL && gpu < engine->config->cluster->gpu_count; gpu++)
        mem_free(engine->clients[gpu].slots);
    mem_free(engine->paces);
    mem_free(engine->clients);
}
