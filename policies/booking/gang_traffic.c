/* The traffic of booked gangs (policies/placement/traffic.h), for placement policies that compare what jobs exchange.
 *
 * A gang counts where its members run or were told to start, not where they are claimed or leave. */
#include "policies/placement/traffic.h"
#include "policies/placement/ways.h"
#include "policies/state/sched_state.h"

static bool compares_traffic(const struct placement_policy *placement)
{
    return placement != NULL && placement->score_place != NULL;
}

static void *on_init(struct sched *sched)
{
    const bool is_asked = compares_traffic(sched->policy.placement) || compares_traffic(sched->policy.placement_firm);
    sched->request_classes.keeps_communication = is_asked;
    if (!is_asked || fabric_link_count(sched->cluster) == 0)
        return NULL;
    struct traffic *traffic = mem_zalloc(1, sizeof *traffic);
    traffic_init(traffic, sched->cluster);
    sched->ledger->traffic = traffic;
    return traffic;
}

static void on_release(struct sched *sched, void *own)
{
    (void)sched;
    traffic_release(own);
    mem_free(own);
}

/* Its GPUs that are in place, in the order of its holdings. */
static struct link_place *list_gpus(struct traffic *traffic, const struct sched_job *job, uint32_t *count)
{
    struct link_place *places = arena_alloc_array(&traffic->scratch, (size_t)job->holding_count + 1, struct link_place);
    *count = 0;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding_is_in_place(holding) && holding->piece.gpu_mask != 0)
            places[(*count)++] = (struct link_place){holding->piece.node, holding->piece.gpu_mask};
    }
    return places;
}

/* What the job sends over the links follows from where it is now. */
static void on_settled(struct sched *sched, void *own, uint32_t slot)
{
    struct traffic *traffic = own;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    const uint32_t member_gpus = ways_member_gpus(request_class);
    if (request_class->communication == NULL || member_gpus == 0)
        return;
    uint32_t count;
    arena_reset(&traffic->scratch);
    struct link_place *places = list_gpus(traffic, job, &count);
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

static void on_forgotten(struct sched *sched, void *own, uint32_t slot)
{
    (void)sched;
    traffic_set(own, slot, NULL);
}

const struct observer gang_traffic_observer = {
    .init = on_init, .release = on_release, .settled = on_settled, .forgotten = on_forgotten};
