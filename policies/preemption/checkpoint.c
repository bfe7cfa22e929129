/* checkpoint.  Victims get grace_s to save their work, then go.
 * A job that can write its checkpoint within the grace loses only the time for that and its restart; one that cannot
 * loses what it did since its own last one.  The preemptor waits out the grace.  Cost: the search of the engine
 * (policies/eviction/plan.c). */
#include "policies/preemption/preemptions.h"

const struct preemption_policy preemption_checkpoint = {
    .name = "checkpoint",
    .version = 2,
    .summary = "victims get a grace to save their work; little is lost, the preemptor waits that long",
    .evicts = true,
};
