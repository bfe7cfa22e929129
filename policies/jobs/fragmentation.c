/* Free GPU space that typical jobs cannot use; see policies/jobs/fragmentation.h. */
#include "policies/jobs/fragmentation.h"

#include "base/bits.h"
#include "policies/jobs/request_class.h"

static uint32_t profile_milli(uint32_t profile)
{
    return mig_slices((enum mig_profile_id)profile) * MIG_SLICE_MILLI;
}

/* The slices of the instances of the profile at these starts. */
static uint8_t slices_from(uint32_t starts, enum mig_profile_id profile)
{
    uint8_t slices = 0;
    for (; starts != 0; starts &= starts - 1)
        slices |= mig_mask(profile, (unsigned)__builtin_ctz(starts));
    return slices;
}

static uint8_t reach_of(const struct ledger *ledger, node_id node, uint32_t gpu_index, enum mig_profile_id profile,
                        bool may_recut)
{
    const gpu_id gpu = ledger->cluster->nodes[node].first_gpu + gpu_index;
    uint32_t starts = ledger_mig_starts(ledger, node, gpu_index, profile);
    if (may_recut && ledger_mig_room(ledger, gpu, profile) > 0)
        starts |= mig_fit(ledger_busy_slices(ledger, gpu), profile);
    return slices_from(starts, profile);
}

static void view_instances(struct idle_view *view, const struct ledger *ledger, node_id node, uint16_t partitioned)
{
    const uint16_t recut = ledger->recuts ? view->type->recut_mask : 0;
    for (uint32_t mask = partitioned | recut; mask != 0; mask &= mask - 1) {
        const uint32_t g = (uint32_t)__builtin_ctz(mask);
        const gpu_id gpu = ledger->cluster->nodes[node].first_gpu + g;
        if (partitioned >> g & 1)
            view->mig_milli += ledger->gpus[gpu].free;
        for (uint32_t p = 0; p < MIG_PROFILE_COUNT && (partitioned >> g & 1); p++)
            view->mig_reach[g][p] = reach_of(ledger, node, g, (enum mig_profile_id)p, recut >> g & 1);
        for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
            view->mig_open_milli[p] +=
                profile_milli(p) * (recut >> g & 1
                                        ? ledger_mig_room(ledger, gpu, (enum mig_profile_id)p)
                                        : bits_count16(ledger_mig_starts(ledger, node, g, (enum mig_profile_id)p)));
    }
}

struct idle_view idle_view_of(const struct ledger *ledger, node_id node)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_cell *cell = &ledger->nodes[node];
    const struct gpu_cell *gpus = &ledger->gpus[cluster->nodes[node].first_gpu];
    const uint16_t partitioned = ledger_layout_mask(ledger, node);
    struct idle_view view = {.cluster = cluster,
                             .type = cluster_node_type(cluster, node),
                             .cpu_milli = cell->cpu_free,
                             .memory_mib = cell->memory_free};
    for (uint32_t g = 0; g < view.type->gpu_count; g++)
        view.gpu_milli[g] = partitioned >> g & 1 ? 0 : gpus[g].free;
    if (ledger->migs != NULL)
        view_instances(&view, ledger, node, partitioned);
    return view;
}

uint32_t idle_view_milli(const struct idle_view *view)
{
    uint32_t idle = view->mig_milli;
    for (uint32_t g = 0; g < view->type->gpu_count; g++)
        idle += view->gpu_milli[g];
    return idle;
}

/* The milli that a member asks of each of its GPUs; 0: it asks no GPU. */
static uint32_t asked_of_each(const struct idle_view *view, const struct request *request)
{
    return request->gpus != 0 ? GPU_MILLI
                              : request_class_share_milli(request, &view->cluster->models[view->type->model]);
}

/* What a member cannot use, if CPUs, memory and the GPU model suffice for it. */
static struct useless useless_of_gpus(const struct idle_view *view, const struct request *request, uint32_t each,
                                      uint32_t idle)
{
    uint32_t enough = 0, useless = 0;
    for (uint32_t g = 0; g < view->type->gpu_count; g++) {
        enough += view->gpu_milli[g] >= each;
        useless += view->gpu_milli[g] >= each ? 0 : view->gpu_milli[g];
    }
    if (enough >= (request->gpus != 0 ? request->gpus : 1))
        return (struct useless){useless + view->mig_milli, view->mig_milli, FRAGMENT_SHARE};
    return (struct useless){idle, view->mig_milli, request->gpus != 0 ? FRAGMENT_GPU_COUNT : FRAGMENT_SHARE};
}

struct useless useless_for(const struct idle_view *view, const struct request *request, uint32_t idle)
{
    const uint32_t each = asked_of_each(view, request);
    if (each == 0 && request->mig == 0)
        return (struct useless){idle, 0, FRAGMENT_NO_GPU};
    if (!request_takes_type(request, view->cluster, (uint32_t)(view->type - view->cluster->types)))
        return (struct useless){idle, 0, FRAGMENT_TYPE};
    if (view->cpu_milli < request->cpu_milli || view->memory_mib < request->memory_mib)
        return (struct useless){idle, 0, FRAGMENT_HOST};
    if (request->mig != 0) {
        const uint32_t closed = idle - view->mig_open_milli[request->mig - 1];
        return (struct useless){closed, closed, FRAGMENT_GEOMETRY};
    }
    return useless_of_gpus(view, request, each, idle);
}

double fragmentation_of(const struct idle_view *view, const struct typical_jobs *typical)
{
    const uint32_t idle = idle_view_milli(view);
    double sum = 0;
    for (uint32_t j = 0; j < typical->count && idle > 0; j++)
        sum += typical->jobs[j].share * useless_for(view, &typical->jobs[j].request, idle).milli;
    return sum;
}
