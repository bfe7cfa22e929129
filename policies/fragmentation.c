/* Free GPU that is of no use; see policies/fragmentation.h. */
#include "policies/fragmentation.h"

#include "policies/shape.h"

struct idle_view idle_view_of(const struct ledger *ledger, node_id node)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_cell *cell = &ledger->nodes[node];
    const struct gpu_cell *gpus = &ledger->gpus[cluster->nodes[node].first_gpu];
    struct idle_view view = {.cluster = cluster,
                             .type = cluster_node_type(cluster, node),
                             .cpu_milli = cell->cpu_free,
                             .memory_mib = cell->memory_free};
    for (uint32_t g = 0; g < view.type->gpu_count; g++)
        view.gpu_milli[g] = view.type->layout_mask >> g & 1 ? 0 : gpus[g].free;
    return view;
}

/* Milli that it asks of each GPU it has; 0: it asks none. */
static uint32_t asked_of_each(const struct idle_view *view, const struct request *request)
{
    return request->gpus != 0
               ? GPU_MILLI
               : shape_share_milli(request, &view->cluster->models[view->type->model]);
}

static bool fits_beside_gpus(const struct idle_view *view, const struct request *request)
{
    return (request->gpu_models == 0 || (request->gpu_models >> view->type->model & 1)) &&
           view->cpu_milli >= request->cpu_milli && view->memory_mib >= request->memory_mib;
}

/* Milli that such a member could not use. */
static uint32_t useless_for(const struct idle_view *view, const struct request *request,
                            uint32_t idle)
{
    const uint32_t each = asked_of_each(view, request);
    const uint32_t gpus = request->gpus != 0 ? request->gpus : 1;
    uint32_t enough = 0, useless = 0;
    if (each == 0 || !fits_beside_gpus(view, request))
        return idle;
    for (uint32_t g = 0; g < view->type->gpu_count; g++) {
        enough += view->gpu_milli[g] >= each;
        useless += view->gpu_milli[g] >= each ? 0 : view->gpu_milli[g];
    }
    return enough < gpus ? idle : useless;
}

double fragmentation_of(const struct idle_view *view, const struct typical_jobs *typical)
{
    uint32_t idle = 0;
    double sum = 0;
    for (uint32_t g = 0; g < view->type->gpu_count; g++)
        idle += view->gpu_milli[g];
    for (uint32_t j = 0; j < typical->count && idle > 0; j++)
        sum += typical->jobs[j].share * useless_for(view, &typical->jobs[j].request, idle);
    return sum;
}
