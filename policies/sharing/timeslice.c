/* timeslice.  Interactive members take turns on a GPU.
 *
 * Idea: a notebook uses a GPU a tenth of the time; a fixed number of them share one, whatever part each asks, and each
 * may hold its part of the memory, or its request of memory if that is more.  A job of several members is no notebook:
 * its members keep the whole GPUs that they ask.  All other jobs get what they ask: a job that is busy all the time is
 * slowed down as many times as it has neighbours, and services by bursts at the worst moment.
 * Source: latencies under time-slicing grow as 1.11 times the number of busy clients (nos, YOLOS on an A100).
 * Cost: none.  Known failure: nothing keeps a client from the memory of others; one that computes slows down all. */
#include "policies/sharing/sharings.h"

static void map(const struct sharing_view *view, struct request *request)
{
    const uint32_t clients = view->config->clients_max[SHARE_TIMESLICE];
    const bool has_one = (request->gpus == 1 && !view->has_members) || request_is_part(request);
    uint32_t milli = GPU_MILLI / clients;
    if (view->class != JOB_INTERACTIVE || !has_one || clients < 2)
        return;
    if (request->gpu_memory_mib != 0) {
        const uint32_t memory = sharing_milli(view->cluster, request);
        milli = memory > milli ? memory : milli;
    }
    if (milli < GPU_MILLI)
        sharing_make_share(request, SHARE_TIMESLICE, milli);
}

const struct sharing_policy sharing_timeslice = {
    .name = "timeslice",
    .version = 2,
    .summary = "interactive jobs of one GPU or less take turns on it, up to `clients_max`; all "
               "others as asked; right for notebooks, wrong for what computes all the time",
    .map = map,
    .defaults = {.clients_max = {[SHARE_TIMESLICE] = TIMESLICE_CLIENTS}},
};
