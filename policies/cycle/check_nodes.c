/* The laws of kept nodes; see policies/cycle/check.c. */
#include "policies/cycle/cycle_inside.h"
#include "policies/repartition/repartitions.h"

enum { PPM = 1000000 };

/* A node is kept exactly while a drain or a repartition needs it. */
const char *check_kept_nodes(const struct sched *sched)
{
    uint32_t kept = 0;
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        uint32_t listed = 0;
        for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
            listed += sched->kept_nodes.nodes[i] == n;
        listed += repartitions_keep(sched, n); /* never both: see policies/config/policy_config.c */
        if (listed != sched->ledger->is_kept[n])
            return "a node is kept without a drain or repartition, or the reverse";
        if (listed > 0 && sched->ledger->node_state[n] != NODE_UP)
            return "a node is kept that is not up";
        kept += listed - repartitions_keep(sched, n);
    }
    if (kept > (int64_t)sched->cluster->node_count * sched->policy.defrag_config.drain_nodes_ppm / PPM)
        return "more nodes are kept than may be";
    return NULL;
}
