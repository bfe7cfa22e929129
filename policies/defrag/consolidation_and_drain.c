/* consolidation_and_drain.  Both; and what may move leaves the nodes that are being drained, where it finds another
 * place.
 *
 * The budgets are shared: a job that leaves a drained node counts as one that moved for the gang's plan.
 * Cost: that of both, and one look through what runs whenever a few things have happened during a drain. Known
 * failure: that of consolidation; of drain only where nothing may move. */
#include "policies/defrag/defrags.h"

const struct defrag_policy defrag_consolidation_and_drain = {
    .name = "consolidation_and_drain",
    .version = 1,
    .summary = "both: jobs that may move leave the nodes that are drained; fewer idle hours, but "
               "work is lost",
    .moves = true,
    .drains = true,
    .defaults = {DEFRAG_MOVES, DEFRAG_DRAINS},
};
