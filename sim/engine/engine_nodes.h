/* sim/engine/engine_nodes.h -- nodes whose state changes while the run goes on, and the recorded size of the cluster: a part.
 *
 * A node is up, draining or absent (enum node_state).  A node that goes out of service takes no more jobs.  It drains
 * while jobs hold something there, or are about to start there; these run to their end.  Then it is absent.
 *
 * world.capacity says how many nodes of a pool are in service: these are its first nodes.  So the nodes with the
 * highest numbers leave first and come back last, and all policies see the same nodes at the same times.  If the
 * emptiest left first, the world would depend on the policy.
 *
 * GPU time out of service (SPENT_ABSENT) is that of nodes which are not up, less what jobs hold there: a job that runs
 * on a draining node has GPUs in service.
 *
 * Laws
 *  - With a size that is always the cluster's nothing is told, counted or hashed.
 *  - Changes of the size keep a run alive only while jobs come, wait or run, or up to world.end.
 *
 * It does not: end jobs.  Nodes that fail would be told by engine_node_set() as NODE_DOWN, after which the world ends
 * what was there; nothing here does so yet.
 */
#ifndef SIM_ENGINE_ENGINE_NODES_H
#define SIM_ENGINE_ENGINE_NODES_H

#include "sim/engine/engine_state.h"

struct sim_node {
    uint8_t state;       /* enum node_state */
    bool is_listed;      /* in `emptied` */
    uint32_t members;    /* of jobs that hold something on it, or start there */
    int64_t taken_milli; /* GPUs that these hold or are about to hold */
};

struct engine_nodes {
    struct sim_node *of;  /* by node_id */
    uint32_t *in_service; /* by pool: nodes, the first ones */
    node_id *emptied;     /* nodes that may have become empty during this instant */
    size_t emptied_capacity;
    uint32_t emptied_count;
    uint32_t next; /* step of world.capacity */
};

static inline struct engine_nodes *engine_nodes_of(const struct engine *engine) /* NULL: all are up all the time */
{
    return engine->states[PART_nodes];
}

/* Give the node another state: tell the scheduler, and count its GPUs.  O(GPUs of the node). */
void engine_node_set(struct engine *engine, node_id node, enum node_state state);

const char *engine_nodes_check(const struct engine *engine); /* engine_nodes_check.c: the hook `check` of the part */

static inline bool engine_node_is_empty(const struct sim_node *node)
{
    return node->members == 0 && node->taken_milli == 0;
}

/* GPUs on it that no job holds or is about to hold. */
static inline int64_t engine_node_unheld(const struct engine *engine, node_id node)
{
    return (int64_t)cluster_node_gpus(engine->config->cluster, node) * GPU_MILLI -
           engine_nodes_of(engine)->of[node].taken_milli;
}

static inline bool engine_node_is_up(const struct engine *engine, node_id node)
{
    return engine_nodes_of(engine) == NULL || engine_nodes_of(engine)->of[node].state == NODE_UP;
}

#endif
