/* whole.  A member that asks a part of a GPU gets all of it.
 *
 * Source: the default of device plug-ins, which count GPUs.
 * Cost: none.  Known failure: small members hold what they do not use; a fleet is full at a fraction of its work. */
#include "policies/sharing/sharings.h"

static void map(const struct sharing_view *view, struct request *request)
{
    if (request_is_part(request) && sharing_milli(view->cluster, request) <= GPU_MILLI)
        sharing_make_whole(request, 1);
}

const struct sharing_policy sharing_whole = {
    .name = "whole",
    .version = 1,
    .summary = "every share and every MIG instance becomes a whole GPU: nobody disturbs anybody, "
               "and small members waste most of what they hold",
    .map = map,
};
