/* What jobs do on their pieces of GPUs, and beside others; see topologies/gpu_demand.h.
 *
 * Neighbours are counted under a sharing policy that makes other pieces of what jobs ask (policies/sharing/sharing.h),
 * if the world says so: everywhere else a closed job goes as fast as its trace tells, on what it asks, and an open one
 * serves what that piece can.  What a job gets in place of it makes a closed one slower, or, if it asked an instance
 * and gets more, faster; an open one serves less or more and keeps its life:
 *
 *   an instance     by its SMs and memory slices; neighbours do not matter
 *   MPS             beside the clients of the GPU
 *   else a share    in turns with them, as processes without a server are
 *
 * A closed job that requests a share of a GPU never uses more SMs than the requested share.  The members of a job work
 * in step, at the speed of the slowest.  When a client comes or goes, all others on the GPU change at once. */
#include <math.h>

#include "sim/engine/engine_pace.h"
#include "sim/engine/engine_use.h"

struct gpu_clients {
    uint32_t *slots;         /* of jobs, one entry per piece */
    struct gpu_client *each; /* likewise */
    size_t slot_capacity, each_capacity;
    uint32_t count;
    int64_t kernels_there; /* its part of LEVEL_KERNEL */
    uint8_t share;         /* enum share_kind: of all its pieces */
    bool serves_all;       /* all do, and without any of them the others would */
};

bool engine_clients_share(const struct sim_pace *pace, const struct piece *piece)
{
    return pace->is_client && piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI &&
           pace->groups[piece->group].got_mig == 0;
}

static struct gpu_clients *clients_of(const struct engine *engine, const struct piece *piece)
{
    return &pace_of(engine)->clients[engine->config->cluster->nodes[piece->node].first_gpu +
                                     (uint32_t)__builtin_ctz(piece->gpu_mask)];
}

static const struct gpu_model *model_of(const struct engine *engine, const struct piece *piece)
{
    const struct cluster *cluster = engine->config->cluster;
    return &cluster->models[cluster_node_type(cluster, piece->node)->model];
}

/* ---- What a job does ---- */

static double time_asked(const struct engine *engine, const struct pace_group *group, const struct piece *piece)
{
    return gpu_demand_alone(&group->demand,
                            engine_grant(model_of(engine, piece), group->asked_mig, group->asked_milli));
}

static double time_on(const struct engine *engine, uint32_t slot, const struct piece *piece)
{
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    const struct pace_group *group = &pace->groups[piece->group];
    if (!engine_clients_share(pace, piece) || pace->share_count == 0) /* none: it waits for the rest of its gang */
        return gpu_demand_alone(&group->demand, engine_grant(model_of(engine, piece), group->got_mig, GPU_MILLI));
    const struct gpu_clients *clients = clients_of(engine, piece);
    uint32_t c = 0;
    while (clients->slots[c] != slot)
        c++;
    return clients->each[c].time;
}

void engine_clients_speed(const struct engine *engine, uint32_t slot, struct sim_speed *speed)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    double slow = 0, served = 0, host = 0;
    int64_t members = 0;
    speed->is_sliced = false;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++) {
        const struct pace_group *group = &pace->groups[pieces[p].group];
        if (pieces[p].gpu_mask == 0)
            continue;
        const double asked = time_asked(engine, group, &pieces[p]);
        const double time = pace->is_client ? time_on(engine, slot, &pieces[p]) : asked;
        const bool is_limited = group->asked_mig == 0 && group->asked_milli < GPU_MILLI;
        const double here = is_limited ? fmax(1, time / asked) : time / asked;
        served += pieces[p].member_count / (group->demand.is_open ? time : asked);
        if (!group->demand.is_open)
            host += pieces[p].member_count * group->demand.host / (is_limited ? fmax(time, asked) : time);
        members += pieces[p].member_count;
        if (!group->demand.is_open && here > slow) {
            slow = here;
            speed->is_sliced = pace->is_client && !engine_clients_share(pace, &pieces[p]);
        }
    }
    speed->served = members > 0 ? served / (double)members : 1;
    speed->host = members > 0 ? host / (double)members : 0;
    speed->slow *= slow > 0 ? slow : 1;
}

/* ---- Clients come and go ---- */

static enum gpu_sharing sharing_of(const struct gpu_clients *clients)
{
    return clients->share == SHARE_MPS ? GPU_TOGETHER : GPU_IN_TURNS;
}

static void solve(struct gpu_clients *clients)
{
    clients->serves_all =
        gpu_demand_share(clients->each, clients->count, (struct gpu_grant){1, 1}, sharing_of(clients));
}

/* Plain shares are counted with their jobs: engine_use.c. */
static void count_kernels(struct engine *engine, struct gpu_clients *clients)
{
    if (clients->share != SHARE_PLAIN)
        engine_use_kernels(engine, &clients->kernels_there,
                           gpu_demand_kernels(clients->each, clients->count, sharing_of(clients)));
}

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

static void leave_gpus(struct engine *engine, uint32_t slot)
{
    const struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    for (uint32_t s = 0; s < pace->share_count; s++) {
        struct gpu_clients *clients = clients_of(engine, &pace->shares[s]);
        uint32_t c = 0;
        while (clients->slots[c] != slot)
            c++;
        clients->slots[c] = clients->slots[--clients->count];
        clients->each[c] = clients->each[clients->count];
        if (!clients->serves_all)
            solve(clients);
        count_kernels(engine, clients);
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
        MEM_GROW(clients->slots, clients->slot_capacity, (size_t)clients->count + 1);
        MEM_GROW(clients->each, clients->each_capacity, (size_t)clients->count + 1);
        clients->share = pieces[p].share;
        clients->slots[clients->count] = slot;
        clients->each[clients->count++] =
            (struct gpu_client){.demand = pace->groups[pieces[p].group].demand, .count = pieces[p].member_count};
        solve(clients);
        count_kernels(engine, clients);
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
    for (gpu_id gpu = 0; pace_of(engine)->clients != NULL && gpu < engine->config->cluster->gpu_count; gpu++) {
        mem_free(pace_of(engine)->clients[gpu].slots);
        mem_free(pace_of(engine)->clients[gpu].each);
    }
    mem_free(pace_of(engine)->clients);
}
