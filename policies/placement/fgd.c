/* fgd.  Fragmentation gradient descent: takes the spot that adds the least to the free GPU space which typical jobs
 * cannot use (policies/jobs/fragmentation.h).
 * It uses the typical request classes, so it keeps the space that each of them needs.  It is as good as its knowledge
 * of them, and looks only one step ahead.
 * Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent"
 * (USENIX ATC 2023): 100 * sigmoid((before - after) / 1000), cut to an integer; a share tries every GPU; ties to the
 * lowest node and GPU.  While no typical jobs are known it places as best_fit does.
 * Cost: O(typical jobs * GPUs) for each state of a node, and for a share for each GPU (policies/placement/by_node.h).
 */
#include <math.h>

#include "policies/jobs/fragmentation.h"
#include "policies/placement/placements.h"

enum { SCORE_MAX = 100 };

/* Take the member's space from the view. */
static void put_in(struct idle_view *view, const struct spot *spot)
{
    uint32_t left = spot->gpus > 0 ? (uint32_t)spot->gpus : spot->milli > 0;
    const int32_t has = spot->milli != 0 ? spot->gpu_left : GPU_MILLI;
    view->cpu_milli -= spot->request->cpu_milli;
    view->memory_mib -= spot->request->memory_mib;
    if (spot->request->mig != 0) {
        view->mig_milli -= (uint32_t)spot->milli;
        view->mig_open_milli[spot->request->mig - 1] -= (uint32_t)spot->milli;
        return;
    }
    for (uint32_t g = 0; g < view->type->gpu_count && left > 0; g++) {
        if (view->gpu_milli[g] != has)
            continue;
        view->gpu_milli[g] = (uint16_t)(has - (spot->milli != 0 ? spot->milli : GPU_MILLI));
        left--;
    }
}

static int64_t score(const struct spot *spot)
{
    const struct typical_jobs *typical = spot->ledger->typical;
    if (typical == NULL || typical->count == 0)
        return placement_fit_score(spot);
    struct idle_view view = idle_view_of(spot->ledger, spot->node);
    const double before = fragmentation_of(&view, typical);
    put_in(&view, spot);
    const double gain = before - fragmentation_of(&view, typical);
    return (int64_t)(SCORE_MAX / (1 + exp(-gain / GPU_MILLI)));
}

const struct placement_policy placement_fgd = {
    .name = "fgd",
    .version = 1,
    .summary = "where least more free GPU becomes useless for the jobs that usually come; needs to "
               "know them, looks one step ahead",
    .score = score,
    .looks_at_nodes = true,
    .is_local = true,
    .uses_typical = true,
};
