#include "policies/placement/traffic.h"

#include <math.h>
#include <string.h>

struct traffic_job {
    struct fabric_use *uses;
    size_t use_capacity;
    uint32_t use_count;
    int64_t demand;
};

void traffic_init(struct traffic *traffic, const struct cluster *cluster)
{
    traffic->link_count = fabric_link_count(cluster);
    traffic->links = mem_zalloc((size_t)traffic->link_count + 1, sizeof *traffic->links);
    for (uint32_t l = 0; l < traffic->link_count; l++)
        traffic->links[l].bytes_per_s = llrint(fabric_link_bytes_per_s(cluster, l));
}

void traffic_release(struct traffic *traffic)
{
    for (size_t j = 0; j < traffic->job_capacity; j++)
        mem_free(traffic->jobs[j].uses);
    mem_free(traffic->jobs);
    mem_free(traffic->links);
    arena_release(&traffic->scratch);
    *traffic = (struct traffic){0};
}

static void add(struct traffic *traffic, const struct traffic_job *job, int sign)
{
    for (uint32_t u = 0; u < job->use_count; u++) {
        struct traffic_link *link = &traffic->links[job->uses[u].link];
        link->sent += sign * job->demand * job->uses[u].senders;
        link->senders += (uint32_t)sign * job->uses[u].senders;
    }
}

void traffic_set(struct traffic *traffic, uint32_t slot, const struct traffic_flow *flow)
{
    const uint32_t use_count = flow == NULL ? 0 : flow->use_count;
    if (slot >= traffic->job_capacity && use_count == 0)
        return;
    MEM_GROW(traffic->jobs, traffic->job_capacity, (size_t)slot + 1);
    struct traffic_job *job = &traffic->jobs[slot];
    add(traffic, job, -1);
    job->use_count = use_count;
    if (use_count == 0)
        return;
    MEM_GROW(job->uses, job->use_capacity, (size_t)use_count);
    memcpy(job->uses, flow->uses, use_count * sizeof *job->uses);
    job->demand = flow->demand;
    add(traffic, job, 1);
}

struct traffic_flow traffic_flow_of(const struct cluster *cluster, const struct communication *communication,
                                    const struct gang_place *stands, const struct gang_place *best,
                                    const struct link_place *places, uint32_t count, struct arena *arena)
{
    const double peak = stands->network_bytes_per_s;
    const struct communication_time alone = communication_time(communication, stands, best, peak);
    struct fabric_use *uses = arena_alloc_array(arena, (size_t)fabric_uses_max(cluster, count) + 1, struct fabric_use);
    struct traffic_flow flow = {.uses = uses, .demand = llrint(peak * alone.network_ratio)};
    if (flow.demand > 0)
        flow.use_count = fabric_uses_of(cluster, places, count, uses);
    return flow;
}

double traffic_rate(const struct traffic *traffic, const struct traffic_flow *flow, double peak)
{
    double rate = peak;
    for (uint32_t u = 0; u < flow->use_count; u++) {
        const struct traffic_link *link = &traffic->links[flow->uses[u].link];
        const double senders = flow->uses[u].senders;
        const double left = (double)(link->bytes_per_s - link->sent) / senders;
        const double even = (double)link->bytes_per_s / (link->senders + senders);
        rate = fmin(rate, fmax(left, even));
    }
    return rate;
}

double traffic_part(const struct traffic *traffic, const struct traffic_flow *flow)
{
    double part = 0;
    for (uint32_t u = 0; u < flow->use_count; u++)
        part = fmax(part, (double)flow->demand * flow->uses[u].senders /
                              (double)traffic->links[flow->uses[u].link].bytes_per_s);
    return part;
}
