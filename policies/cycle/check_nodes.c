/* The laws of kept nodes; see policies/cycle/check.c. */
#include "policies/cycle/cycle_inside.h"
#include "policies/repartition/repartitions.h"

/* A node is kept exactly while a repartition needs it. */
const char *check_kept_nodes(const struct sched *sched)
{
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        if (repartitions_keep(sched, n) != (sched->ledger->is_kept[n] != 0))
            return "a node is kept without a repartition, or the reverse";
    return NULL;
}
