/* drain.  Nodes that are free or nearly so are kept from everybody until they are as many as a waiting gang lacks.
 *
 * Source: what operators do by hand: cordon nodes and let them run empty; a reservation of nodes, not of a time.
 * Departure: while they empty, a kept node that still works is exchanged for any other that is wholly free.
 * Cost: O(nodes log nodes + what runs) to choose them, then O(kept nodes) whenever something has happened. Known
 * failure: what is kept idles until the last of its jobs has ended; where they run for days, one gang's wait costs
 * everybody else's. */
#include "policies/defrag/defrags.h"

const struct defrag_policy defrag_drain = {
    .name = "drain",
    .version = 1,
    .summary = "nodes run empty for a waiting gang and nothing is lost; they idle until the last "
               "job on them has ended",
    .drains = true,
    .defaults = {DEFRAG_DRAINS},
};
