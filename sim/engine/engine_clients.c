/* Clients that share a GPU, and their slowdown; see sim/engine/sharing_speed.h.
 *
 * Only under a sharing policy that makes other pieces of what jobs ask (policies/sharing/sharing.h), and if the world
 * says so: everywhere else a member goes as fast as its trace tells.  That is its speed on what it asks, alone.  What
 * it gets in place of that makes it slower, or, if it asked an instance and gets more, faster:
 *
 *   an instance     by its SMs and memory slices; neighbours do not matter
 *   MPS             by the issue slots that all clients of the GPU would use
 *   else a share    in turns, as processes without a server are: by the time that all clients would be busy
 *
 * With SHARING_PAIRS any share costs what pairs were measured to cost, by the time that all clients would be busy.
 * Where the workload tells what part of the memory bandwidth clients use, those on an instance or under MPS are at
 * least as slow as the bandwidth falls short: of the instance, or of the GPU for all of them.
 *
 * What a client alone uses of a whole GPU's issue slots is taken to be its SM activity there; where the workload does
 * not tell that, the part that would have done.  It is busy for a longer part of the time, by
 * sharing_busy_per_sm_active, for what runs seldom fills all SMs.  Members of a job work in step, at the speed of the
 * slowest.
 *
 * When a client comes or goes, all others on the GPU change their speed at once: O(clients) each. */
#include <math.h>

#include "sim/engine/engine_pace.h"
#include "sim/engine/sharing_speed.h"

struct gpu_clients {
    uint32_t *slots; /* of jobs, one entry per piece */
    size_t capacity;
    uint32_t count;
    uint32_t member_count;
    int64_t use_micro, busy_micro, bandwidth_micro; /* of all members together */
};

bool engine_has_clients(const struct engine *engine)
{
    const struct policy_config *policy = engine->policy;
    return engine->config->world.sharing != SHARING_FREE && policy != NULL && policy->sharing->map != NULL;
}

/* ---- What a piece costs ---- */

static const struct sharing_mix *mix_of(uint8_t class)
{
    return class == JOB_INFERENCE  ? &sharing_small_inference
           : class == JOB_TRAINING ? &sharing_training
                                   : &sharing_interactive;
}

static double part_of(int64_t micro)
{
    return (double)micro / ALL_MICRO;
}

static double slow_on_instance(const struct sim_pace *pace, const struct gpu_model *model, uint8_t mig,
                               int64_t bandwidth_micro)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    if (mig == 0 || profiles == NULL || profiles[mig - 1].sm_count == 0)
        return 1;
    const double slices = profiles[mig - 1].memory_slices;
    return fmax(sharing_slow_mig(*mix_of(pace->class), model->sm_count, profiles[mig - 1].sm_count, slices),
                sharing_slow_bandwidth(part_of(bandwidth_micro), slices / MIG_SLICES));
}

/* Beside the clients of its GPU. */
static double slow_beside(const struct engine *engine, const struct pace_group *group,
                          const struct gpu_clients *clients, enum share_kind kind)
{
    double slow;
    if (engine->config->world.sharing == SHARING_PAIRS)
        slow = clients->member_count > 1 ? sharing_slow_pairs(part_of(clients->busy_micro)) : 1;
    else if (kind == SHARE_MPS)
        slow = sharing_slow_mps(part_of(group->use_micro), part_of(clients->use_micro));
    else
        slow = sharing_slow_timeslice(part_of(clients->busy_micro));
    return kind == SHARE_MPS ? fmax(slow, sharing_slow_bandwidth(part_of(clients->bandwidth_micro), 1)) : slow;
}

bool engine_clients_share(const struct sim_pace *pace, const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI && pace->groups[piece->group].got_mig == 0;
}

static struct gpu_clients *clients_of(const struct engine *engine, const struct piece *piece)
{
    return &pace_of(engine)->clients[engine->config->cluster->nodes[piece->node].first_gpu +
                                     (uint32_t)__builtin_ctz(piece->gpu_mask)];
}

static double slow_on(const struct engine *engine, const struct sim_pace *pace, const struct piece *piece)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct pace_group *group = &pace->groups[piece->group];
    if (piece->gpu_mask == 0)
        return 1;
    const struct gpu_model *model = &cluster->models[cluster_node_type(cluster, piece->node)->model];
    const double asked = slow_on_instance(pace, model, group->asked_mig, group->bandwidth_micro);
    if (!engine_clients_share(pace, piece))
        return slow_on_instance(pace, model, group->got_mig, group->bandwidth_micro) / asked;
    return slow_beside(engine, group, clients_of(engine, piece), piece->share) / asked;
}

double engine_clients_slow(const struct engine *engine, uint32_t slot, bool *is_sliced)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    double slow = 0;
    *is_sliced = false;
    for (uint32_t p = 0; p < job->pieces.piece_count && pace->is_client; p++) {
        const double here = slow_on(engine, pace, &pieces[p]);
        if (here > slow) {
            slow = here;
            *is_sliced = !engine_clients_share(pace, &pieces[p]);
        }
    }
    return slow == 0 ? 1 : slow;
}

/* ---- Clients come and go ---- */

static void repace_others(struct engine *engine, const struct piece *piece)
{
    const struct gpu_clients *clients = clients_of(engine, piece);
    for (uint32_t c = 0; c < clients->count; c++) {
        struct sim_pace *pace = &pace_of(engine)->jobs[clients->slots[c]];
        if (pace->seen != pace_of(engine)->changes) {
            pace->seen = pace_of(engine)->changes;
            engine_set_speed(engine, clients->slots[c]);
        }
    }
}

static void count_use(struct gpu_clients *clients, const struct pace_group *group, int64_t members)
{
    clients->member_count += (uint32_t)members;
    clients->use_micro += group->use_micro * members;
    clients->busy_micro += group->busy_micro * members;
    clients->bandwidth_micro += group->bandwidth_micro * members;
}

static void leave_gpus(struct engine *engine, uint32_t slot)
{
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
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
    struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    pace->share_count = 0;
    for (uint32_t p = 0; p < job->pieces.piece_count && !job->is_waiting; p++) {
        if (!engine_clients_share(pace, &pieces[p]))
            continue;
        struct gpu_clients *clients = clients_of(engine, &pieces[p]);
        MEM_GROW(clients->slots, clients->capacity, (size_t)clients->count + 1);
        clients->slots[clients->count++] = slot;
        count_use(clients, &pace->groups[pieces[p].group], pieces[p].member_count);
        MEM_GROW(pace->shares, pace->share_capacity, (size_t)pace->share_count + 1);
        pace->shares[pace->share_count++] = pieces[p];
    }
}

void engine_clients_move(struct engine *engine, uint32_t slot)
{
    struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    if (pace_of(engine)->clients == NULL)
        pace_of(engine)->clients = mem_zalloc(engine->config->cluster->gpu_count, sizeof *pace_of(engine)->clients);
    struct piece *before = NULL;
    const uint32_t before_count = pace->share_count;
    if (before_count > 0) {
        before = mem_zalloc(before_count, sizeof *before);
        memcpy(before, pace->shares, before_count * sizeof *before);
    }
    leave_gpus(engine, slot);
    join_gpus(engine, slot);
    pace->seen = ++pace_of(engine)->changes;
    engine_set_speed(engine, slot);
    for (uint32_t s = 0; s < before_count; s++)
        repace_others(engine, &before[s]);
    for (uint32_t s = 0; s < pace->share_count; s++)
        repace_others(engine, &pace->shares[s]);
    mem_free(before);
}

void engine_clients_release(struct engine *engine)
{
    for (gpu_id gpu = 0; pace_of(engine)->clients != NULL && gpu < engine->config->cluster->gpu_count; gpu++)
        mem_free(pace_of(engine)->clients[gpu].slots);
    mem_free(pace_of(engine)->clients);
}
