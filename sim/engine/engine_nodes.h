/* sim/engine/engine_nodes.h -- the states of nodes, a part that other parts open: the recorded size of the cluster
 * (engine_capacity.c) does.
 *
 * A node is up, draining or absent (enum node_state).  A node that goes out of service takes no more jobs.  It drains
 * while jobs hold something there, or are about to start there; these run to their end.  Then it is absent: at the
 * first end of the events of an instant at which it is empty.
 *
 *   static void *begin(struct engine *engine, uint32_t needs)      in a part below `nodes` in ENGINE_PARTS
 *       engine_nodes_open(engine);
 *   engine_node_set(engine, node, NODE_DRAINING);                  at any time
 *
 * GPU time out of service (SPENT_ABSENT) is that of nodes which are not up, less what jobs hold there: a job that runs
 * on a draining node has GPUs in service.
 *
 * It does not: end jobs.  A part whose nodes fail ends what is there (engine_take), and sets NODE_DOWN.
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
    struct sim_node *of; /* by node_id */
    node_id *emptied;    /* nodes that may have become empty during this instant */
    size_t emptied_capacity;
    uint32_t emptied_count;
};

void engine_nodes_open(struct engine *engine); /* before the first job; all nodes are up */

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
