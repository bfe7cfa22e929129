/* Nodes kept from all jobs; see policies/state/kept_nodes.h. */
#include "policies/state/kept_nodes.h"
#include "policies/state/sched_state.h"

void kept_nodes_count_time(struct sched *sched, time_ns now)
{
    int64_t gpus = 0;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++)
        gpus += sched->ledger->index->free_count[sched->kept_nodes.nodes[i]];
    sched->kept_gpu_ns += gpus * (now - sched->now);
}

int64_t kept_nodes_free_milli(const struct sched *sched)
{
    int64_t milli = 0;
    for (uint32_t i = 0; i < sched->kept_nodes.count; i++) {
        const node_id node = sched->kept_nodes.nodes[i];
        const gpu_id first = sched->cluster->nodes[node].first_gpu;
        for (uint32_t g = 0; g < cluster_node_gpus(sched->cluster, node); g++)
            milli += sched->ledger->gpus[first + g].free;
    }
    return milli;
}
