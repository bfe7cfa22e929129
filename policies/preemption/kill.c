/* kill.  Victims stop at once, without a grace.
 * The preemptor starts in the same instant.  What the victim did since its last checkpoint is lost, even if it could
 * have saved it.  Use it for jobs that restart cheaply, and as a baseline.  Cost: that of a plan
 * (policies/eviction/plan.c). */
#include "policies/preemption/preemptions.h"

const struct preemption_policy preemption_kill = {
    .name = "kill",
    .version = 1,
    .summary = "victims go at once; no wait for the preemptor, all unsaved work is lost",
    .evicts = true,
    .is_kill = true,
};
