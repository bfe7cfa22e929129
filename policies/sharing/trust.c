/* trust.  What stands between two members follows from who they are.
 *
 * Idea: interactive members take turns; shares of services get MIG instances, so that teams that do not trust each
 * other share a GPU with the hardware between them; other shares run under MPS, beside their own team only.  Where no
 * node could ever hold the instance, a service runs under MPS too.
 * Source: the isolation of MIG, MPS and time-slicing as NVIDIA's documents have it.
 * Cost: a scan of the node types for a share of a service.  Known failure: three kinds need three sets of GPUs: where
 * each is small, more GPUs are used in part. */
#include "policies/jobs/request_class.h"
#include "policies/sharing/sharings.h"

static bool could_hold(const struct sharing_view *view, const struct request *request)
{
    for (uint32_t t = 0; t < view->cluster->type_count; t++)
        if (request_class_members_per_node(request, view->cluster, t, view->recuts) > 0)
            return true;
    return false;
}

static void map(const struct sharing_view *view, struct request *request)
{
    struct request instance = *request;
    if (view->class == JOB_INTERACTIVE) {
        sharing_timeslice.map(view, request);
        return;
    }
    if (request->mig != 0 && could_hold(view, request))
        return;
    if (view->class == JOB_INFERENCE && request->mig == 0 && request_is_part(request) &&
        sharing_make_instance(view->cluster, &instance) && could_hold(view, &instance))
        *request = instance;
    else
        sharing_mps.map(view, request);
}

const struct sharing_policy sharing_trust = {
    .name = "trust",
    .version = 1,
    .summary = "services on MIG instances beside any team, other shares under MPS beside their own "
               "team, notebooks in time-slices; fails where each kind is too small to fill GPUs",
    .map = map,
    .defaults = {.clients_max = {[SHARE_MPS] = MPS_CLIENTS_MAX, [SHARE_TIMESLICE] = TIMESLICE_CLIENTS}},
};
