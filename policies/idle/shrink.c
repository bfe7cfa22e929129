/* shrink.  An idle job that holds more than its minimum is told, and after the grace it loses the members above the
 * minimum; it grows again when it is active.
 * Source: elastic jobs as in Volcano and Ray (minimum and maximum members); the trigger is ours.
 * Cost: O(1) for a measurement, O(holdings) for a shrink.  Known failure: jobs of fixed size, and notebooks of one GPU,
 * are only told. */
#include "policies/idle/idles.h"

const struct idle_policy idle_shrink = {
    .name = "shrink",
    .version = 1,
    .summary = "after a warning, idle elastic jobs go down to their minimum until they are active; jobs of fixed size "
               "are only told",
    .tells = true,
    .shrinks = true,
    .defaults = {IDLE_DEFAULTS},
};
