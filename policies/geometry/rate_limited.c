/* rate_limited.  GPUs are cut anew when somebody has waited in vain for long, a few in an hour, and then for all that
 * wait.
 *
 * Idea: layouts are semi-static: they follow the demand once what is missing is not a matter of minutes, so that the
 * operator's path (a node drained, minutes of work) is paid seldom.
 * Source: the operator path is that of NVIDIA's mig-parted and MIG manager; the limits are ours.
 * Cost: as on_demand, at most recuts_per_h times an hour.  Known failure: who asks a rare profile always waits wait_s.
 */
#include "policies/geometry/geometries.h"

const struct geometry_policy geometry_rate_limited = {
    .name = "rate_limited",
    .version = 1,
    .summary = "a GPU that is free is cut for those that wait once they waited long, a few an "
               "hour; layouts follow the demand, rare profiles wait",
    .score = geometry_keeps_room,
    .defaults = {.wait = 300 * TIME_NS_PER_S,
                 .recuts_per_h = 60,
                 .rest = 900 * TIME_NS_PER_S,
                 .needs = RECUT_GPU,
                 .fills = true},
};
