/* static.  GPUs stay cut as the cluster file says.
 *
 * Source: Slurm's and most device plug-ins' MIG: instances are made by an operator, the scheduler counts them by
 * profile.
 * Cost: none.  Known failure: where what is asked is not what was cut, slices idle while jobs wait. */
#include "policies/geometry/geometries.h"

const struct geometry_policy geometry_static = {
    .name = "static",
    .version = 1,
    .summary = "GPUs stay cut as the cluster file says; right while the mix of requests is known "
               "and steady",
};
