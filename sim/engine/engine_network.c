/* The speed of jobs by their communication: where their GPUs stand, and which links they share.
 *
 * A job that declares communication runs at the speed of its place (topologies/communication.h), of 1 at its best place
 * alone.  Under world.network "shared" a job that crosses a link that can be too narrow is a flow there
 * (sim/network/network.h).  Its demand is what it sends alone, on the mean over a step; it sends also while it restarts
 * or writes a checkpoint.  When a flow comes or goes, the jobs whose bandwidth that changes get their new speed at
 * once, and no others are looked at. */
#include <math.h>
#include <stdio.h>

#include "sim/engine/engine_pace.h"

enum { NS_PER_US = 1000, MICRO = 1000000 };

static struct network *new_network(const struct cluster *cluster)
{
    const uint32_t count = fabric_link_count(cluster);
    double *bytes_per_s = mem_zalloc(count + 1u, sizeof *bytes_per_s);
    for (uint32_t l = 0; l < count; l++)
        bytes_per_s[l] = fabric_link_bytes_per_s(cluster, l);
    struct network *network = network_new(bytes_per_s, count);
    mem_free(bytes_per_s);
    return network;
}

/* The GPUs of a member that has any, of the smallest if they differ; 0: some member gets a piece of a GPU, or none has
 * a GPU. */
static uint32_t member_gpus(const struct job *job, const struct job_group *got)
{
    uint32_t least = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        if (!request_asks_gpus(&got[g].request))
            continue;
        const uint32_t gpus = got[g].request.gpus;
        if (gpus == 0)
            return 0;
        least = least == 0 || gpus < least ? gpus : least;
    }
    return least;
}

void engine_network_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_group *got)
{
    struct sim_pace *pace = &pace_of(engine)->jobs[slot];
    pace->has_network = job->communication != NULL && member_gpus(job, got) > 0;
    if (!pace->has_network)
        return;
    if (pace->network == NULL)
        pace->network = mem_zalloc(1, sizeof *pace->network);
    *pace->network = (struct pace_network){.declared = *job->communication,
                                           .member_gpus = member_gpus(job, got),
                                           .time = {.speed = 1},
                                           .farthest = {.times = 1}};
}

/* ---- Places ---- */

/* Was communication like that at its place measured? */
static void judge_place(struct pace *pace, struct pace_network *network)
{
    network->communicates = validation_communicates(&network->declared, network->place.gpu_count);
    if (!network->communicates)
        return;
    if (pace->ranges == NULL)
        pace->ranges = validation_ranges_new();
    network->here = range_farther(validation_test(pace->ranges, &network->declared, &network->place),
                                  validation_test(pace->ranges, &network->declared, &network->best));
    network->farthest = range_farther(network->farthest, network->here);
}

/* Where its GPUs stand.  Returns the number of nodes, in `places`. */
static uint32_t find_place(struct engine *engine, uint32_t slot)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct job_pieces *own = &engine->jobs[slot].pieces;
    struct pace_network *network = pace_of(engine)->jobs[slot].network;
    const struct piece *pieces = job_pieces_all(own);
    uint32_t count = 0;
    MEM_GROW(pace_of(engine)->places, pace_of(engine)->place_capacity, (size_t)own->piece_count);
    for (uint32_t p = 0; p < own->piece_count; p++)
        if (pieces[p].gpu_mask != 0)
            pace_of(engine)->places[count++] = (struct link_place){pieces[p].node, pieces[p].gpu_mask};
    network->place = gang_place_of(cluster, pace_of(engine)->places, &count);
    if (network->place.gpu_count > 1)
        network->best =
            communication_best(&network->declared, cluster, cluster->nodes[pace_of(engine)->places[0].node].pool,
                               network->place.gpu_count, network->member_gpus);
    judge_place(pace_of(engine), network);
    return count;
}

static void set_bandwidth(struct pace_network *network, double bytes_per_s)
{
    network->bytes_per_s = bytes_per_s;
    network->time = communication_time(&network->declared, &network->place, &network->best, bytes_per_s);
}

/* Join the links that the job crosses; false: none of them can be too narrow for it. */
static bool join_links(struct engine *engine, uint32_t slot, uint32_t node_count)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct pace_network *network = pace_of(engine)->jobs[slot].network;
    const double peak = network->place.network_bytes_per_s;
    const double demand = peak * network->time.network_ratio;
    if (engine->config->world.network != NETWORK_SHARED || demand <= 0 || fabric_link_count(cluster) == 0)
        return false;
    MEM_GROW(pace_of(engine)->uses, pace_of(engine)->use_capacity, (size_t)fabric_uses_max(cluster, node_count));
    const uint32_t count = fabric_uses_of(cluster, pace_of(engine)->places, node_count, pace_of(engine)->uses);
    if (count == 0)
        return false;
    if (pace_of(engine)->network == NULL)
        pace_of(engine)->network = new_network(engine->config->cluster);
    network_join(pace_of(engine)->network, slot,
                 &(struct flow){fmin(demand, peak), peak, pace_of(engine)->uses, count});
    return true;
}

/* Give all jobs whose bandwidth has changed their new speed. */
static void settle_links(struct engine *engine)
{
    const uint32_t *changed;
    const uint32_t count = network_settle(pace_of(engine)->network, &changed);
    for (uint32_t c = 0; c < count; c++) {
        engine_fold(engine, changed[c]);
        set_bandwidth(pace_of(engine)->jobs[changed[c]].network, network_burst(pace_of(engine)->network, changed[c]));
        engine_set_speed(engine, changed[c]);
    }
}

void engine_network_move(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    struct pace_network *network = pace_of(engine)->jobs[slot].network;
    bool must_settle = pace_of(engine)->network != NULL && network_has(pace_of(engine)->network, slot);
    if (must_settle)
        network_leave(pace_of(engine)->network, slot);
    if (!job->is_waiting && job->pieces.piece_count > 0) {
        const uint32_t node_count = find_place(engine, slot);
        if (network->place.gpu_count > 1) {
            set_bandwidth(network, network->place.network_bytes_per_s);
            must_settle |= join_links(engine, slot, node_count);
        } else {
            network->time = communication_time(NULL, &network->place, &network->place, 1);
        }
        engine_set_speed(engine, slot);
    }
    if (must_settle)
        settle_links(engine);
}

/* ---- Books ---- */

static int64_t part_of(int64_t gpu_us, double ratio)
{
    return llrint((double)gpu_us * ratio);
}

void engine_network_count(struct engine *engine, uint32_t slot, time_ns worked)
{
    struct sim_job *job = &engine->jobs[slot];
    struct pace_network *network = pace_of(engine)->jobs[slot].network;
    const int64_t gpu_us = (int64_t)((wide_ns)worked * job->held_milli / ((wide_ns)GPU_MILLI * NS_PER_US));
    if (network->communicates) {
        network->gpu_us += gpu_us;
        network->outside_gpu_us += range_is_inside(network->here) ? 0 : gpu_us;
    }
    job->row.exposed_gpu_us += part_of(gpu_us, network->time.exposed_ratio);
    job->row.slowed_gpu_us += part_of(gpu_us, 1 - network->time.speed);
    if (network->time.mfu_ratio > 0) {
        job->row.planned_gpu_us += gpu_us;
        network->planned_us_micro += (wide_ns)gpu_us * llrint(network->time.mfu_ratio * MICRO);
    }
    if (network->place.domain_count > 1) {
        job->row.network_gpu_us += gpu_us;
        network->network_us_bytes += (wide_ns)gpu_us * llrint(network->bytes_per_s);
    }
}

static int64_t mean_of(wide_ns sum, int64_t weight)
{
    return weight > 0 ? (int64_t)((sum + weight / 2) / weight) : 0;
}

void engine_network_close(struct engine *engine, uint32_t slot)
{
    struct job_row *row = &engine->jobs[slot].row;
    const struct pace_network *network = pace_of(engine)->jobs[slot].network;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)row->id);
    if (network->gpu_us > 0)
        validation_add(&engine->result->facts.validation, network->farthest, row->name != NULL ? row->name : number,
                       network->gpu_us, network->outside_gpu_us);
    row->network_bytes_per_s = mean_of(network->network_us_bytes, row->network_gpu_us);
    row->mfu_micro = (uint32_t)mean_of(network->planned_us_micro, row->planned_gpu_us);
}

void engine_network_release(struct engine *engine)
{
    network_free(pace_of(engine)->network);
    validation_ranges_free(pace_of(engine)->ranges);
    mem_free(pace_of(engine)->uses);
    mem_free(pace_of(engine)->places);
}
