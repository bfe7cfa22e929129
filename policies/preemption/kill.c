/* kill.  Victims go at once, without a grace.
 * The preemptor starts in the same instant; what the victim did since its own last checkpoint is lost, whatever it
 * could have saved.  Right for jobs that restart cheaply, and as the plain thing to compare with.  Cost: the search of
 * the engine (policies/eviction/plan.c). */
#include "policies/preemption/preemptions.h"

const struct preemption_policy preemption_kill = {
    .name = "kill",
    .version = 1,
    .summary = "victims go at once; no wait for the preemptor, all unsaved work is lost",
    .evicts = true,
    .is_kill = true,
};
