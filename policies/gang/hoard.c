/* hoard.  Members start one by one (those in slices, slice by slice), as they fit, and hold what they have until the
 * rest comes. What a scheduler without gangs does to jobs that need all their members: two half-placed gangs wait for
 * each other for ever, and GPUs held idle count as allocated.  Here to show that; works only if the cluster is nearly
 * empty.  Source: the default Kubernetes scheduler, pod by pod.  Cost: O(groups). */
#include <string.h>

#include "policies/gang/gangs.h"

/* A member, or what lacks to a slice. */
static uint32_t step_of(const struct job_group *group, uint32_t held)
{
    return group->slice_members == 0 ? 1 : group->slice_members - held % group->slice_members;
}

static bool next(const struct gang_view *view, uint32_t step[])
{
    memset(step, 0, view->group_count * sizeof step[0]);
    for (uint32_t g = 0; g < view->group_count; g++)
        if (view->held[g] < view->groups[g].count) {
            step[g] = step_of(&view->groups[g], view->held[g]);
            return true;
        }
    return false;
}

const struct gang_policy gang_hoard = {
    .name = "hoard",
    .version = 1,
    .summary = "member by member (in slices, slice by slice), holding what it has; gangs deadlock "
               "as soon as space is scarce",
    .next = next,
};
