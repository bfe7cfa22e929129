/* mps.  Shares and MIG instances become shares under MPS.
 *
 * Idea: clients of one server run at the same time; those of one trust domain only, for a fatal fault of one kills all.
 * An instance becomes the share that it is of compute or memory, whichever is more, so that together they fit both.
 * Source: NVIDIA's MPS documentation (48 clients; the fault of a client is everybody's of that GPU).
 * Cost: none.  Known failure: a domain with one small member has a GPU for itself. */
#include "policies/sharing/sharings.h"

static void map(const struct sharing_view *view, struct request *request)
{
    const uint32_t milli = request_is_part(request) ? sharing_milli(view->cluster, request) : GPU_MILLI + 1;
    if (milli < GPU_MILLI && request->gpu_memory_mib != 0)
        request->share = SHARE_MPS; /* on another model it is another part */
    else if (milli < GPU_MILLI)
        sharing_make_share(request, SHARE_MPS, milli);
    else if (milli == GPU_MILLI)
        sharing_make_whole(request, 1);
}

const struct sharing_policy sharing_mps = {
    .name = "mps",
    .version = 1,
    .summary = "shares and MIG instances become MPS shares, on a GPU only those of one trust "
               "domain; the densest packing within a team, wasteful for many small teams",
    .map = map,
    .defaults = {.clients_max = {[SHARE_MPS] = MPS_CLIENTS_MAX}},
};
