/* none.  No job is evicted.
 * No work is ever lost.  A queue that lent its share waits until the borrower ends.  Cost: nothing. */
#include "policies/preemption/preemptions.h"

const struct preemption_policy preemption_none = {
    .name = "none",
    .version = 2,
    .summary = "what runs, runs to its end; lent space comes back only when its borrower is done",
};
