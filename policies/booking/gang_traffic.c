#include "policies/booking/gang_traffic.h"

#include "policies/placement/ways.h"

void gang_traffic_init(struct sched *sched)
{
    if (!gang_traffic_is_asked(&sched->policy))
        return;
    traffic_init(&sched->traffic, sched->cluster);
    sched->ledger->traffic = sched->traffic.link_count > 0 ? &sched->traffic : NULL;
}

/* Its GPUs that are in place, in the order of its holdings. */
static struct link_place *list_gpus(struct sched *sched, const struct sched_job *job, uint32_t *count)
{
    struct link_place *places =
        arena_alloc_array(&sched->traffic.scratch, (size_t)job->holding_count + 1, struct link_place);
    *count = 0;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding_is_in_place(holding) && holding->piece.gpu_mask != 0)
            places[(*count)++] = (struct link_place){holding->piece.node, holding->piece.gpu_mask};
    }
    return places;
}

void gang_traffic_change(struct sched *sched, uint32_t slot)
{
    struct traffic *traffic = &sched->traffic;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    const uint32_t member_gpus = ways_member_gpus(request_class);
    if (traffic->link_count == 0 || request_class->communication == NULL || member_gpus == 0)
        return;
    uint32_t count;
    arena_reset(&traffic->scratch);
    struct link_place *places = list_gpus(sched, job, &count);
    const struct gang_place stands = gang_place_of(sched->cluster, places, &count);
    if (stands.domain_count <= 1) {
        traffic_set(traffic, slot, NULL);
        return;
    }
    const struct gang_place best =
        communication_best(request_class->communication, sched->cluster, sched->cluster->nodes[places[0].node].pool,
                           stands.gpu_count, member_gpus);
    const struct traffic_flow flow =
        traffic_flow_of(sched->cluster, request_class->communication, &stands, &best, places, count, &traffic->scratch);
    traffic_set(traffic, slot, &flow);
}
