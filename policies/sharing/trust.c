/* trust.  What stands between two members follows from who they are.
 *
 * Idea: an instance stays one if some node could ever hold it.  Interactive members take turns.  Shares of services get
 * MIG instances, so that teams that do not trust each other share a GPU with the hardware between them, but run under
 * MPS where instances would cost them nodes: if a node that could hold the share is not partitioned and is not cut on
 * demand.  Other shares run under MPS, beside their own team only.
 * Source: the isolation of MIG, MPS and time-slicing as NVIDIA's documents have it.
 * Cost: a scan of the node types for a share of a service.  Known failure: three kinds need three sets of GPUs: where
 * each is small, more GPUs are used in part. */
#include "policies/jobs/request_class.h"
#include "policies/sharing/sharings.h"

static bool could_hold(const struct sharing_view *view, const struct request *request, uint32_t type)
{
    return request_class_members_per_node(request, view->cluster, type, view->recuts) > 0;
}

static bool has_place(const struct sharing_view *view, const struct request *request)
{
    for (uint32_t t = 0; t < view->cluster->type_count; t++)
        if (could_hold(view, request, t))
            return true;
    return false;
}

/* Could every node that the share could be on hold the instance? */
static bool loses_no_node(const struct sharing_view *view, const struct request *share, const struct request *instance)
{
    for (uint32_t t = 0; t < view->cluster->type_count; t++)
        if (could_hold(view, share, t) && !could_hold(view, instance, t))
            return false;
    return true;
}

static void map(const struct sharing_view *view, struct request *request)
{
    struct request instance = *request;
    if (request->mig != 0 && has_place(view, request))
        return;
    if (view->class == JOB_INTERACTIVE) {
        sharing_timeslice.map(view, request);
        return;
    }
    if (view->class == JOB_INFERENCE && request->mig == 0 && request_is_part(request) &&
        sharing_make_instance(view->cluster, &instance) && has_place(view, &instance) &&
        loses_no_node(view, request, &instance))
        *request = instance;
    else
        sharing_mps.map(view, request);
}

const struct sharing_policy sharing_trust = {
    .name = "trust",
    .version = 2,
    .summary = "services on MIG instances beside any team, other shares under MPS beside their own "
               "team, notebooks in time-slices; fails where each kind is too small to fill GPUs",
    .map = map,
    .defaults = {.clients_max = {[SHARE_MPS] = MPS_CLIENTS_MAX, [SHARE_TIMESLICE] = TIMESLICE_CLIENTS}},
};
