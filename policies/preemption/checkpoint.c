/* checkpoint.  Victims get grace_s to save their work; then they stop.
 * A job that can write its checkpoint within the grace loses only the time for that and for its restart.  A job that
 * cannot loses what it did since its last checkpoint.  The preemptor waits until the grace ends.  Cost: that of a plan
 * (policies/eviction/plan.c). */
#include "policies/preemption/preemptions.h"

const struct preemption_policy preemption_checkpoint = {
    .name = "checkpoint",
    .version = 2,
    .summary = "victims get a grace to save their work; little is lost, the preemptor waits that long",
    .evicts = true,
};
