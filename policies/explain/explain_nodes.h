/* policies/explain/explain_nodes.h -- sched_explain, with the cause at each node. */
#ifndef POLICIES_EXPLAIN_EXPLAIN_NODES_H
#define POLICIES_EXPLAIN_EXPLAIN_NODES_H

#include "policies/explain.h"

/* told: by node, enum explain_node; not written where the job was refused.  NULL: not wanted. */
bool explain_nodes(struct sched *sched, job_id job, struct explanation *out, uint8_t *told);

#endif
