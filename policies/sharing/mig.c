/* mig.  Shares become MIG instances.
 *
 * Idea: the smallest profile with the compute and the memory asked; whole GPUs stay.
 * Source: NVIDIA's MIG user guide; a compute slice is a seventh, a memory slice an eighth of a GPU.
 * Cost: none.  Known failure: seven slices of eight are the most that small ones use; where layouts are static and not
 * what is asked, members wait beside idle slices. */
#include "policies/sharing/sharings.h"

static void map(const struct sharing_view *view, struct request *request)
{
    if (request->gpu_milli != 0 || request->gpu_memory_mib != 0)
        sharing_make_instance(view->cluster, request);
}

const struct sharing_policy sharing_mig = {
    .name = "mig",
    .version = 1,
    .summary = "shares become the smallest MIG instance that will do: flat latency and contained "
               "faults; needs partitioned GPUs, or a geometry policy that cuts them",
    .map = map,
};
