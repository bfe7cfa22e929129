/* policies/eviction/node_search.h -- searches victims node by node. */
#ifndef POLICIES_EVICTION_NODE_SEARCH_H
#define POLICIES_EVICTION_NODE_SEARCH_H

#include "policies/eviction/plan.h"

void node_search_init(struct sched *sched);
/* Can the victims for this allocation step be searched node by node?  It must be of one group, ask for no MIG instance
 * and be free to go to any node. */
bool node_search_suit(const struct sched *sched, const struct request_class *ask);
/* In the trial, take the units of the node where room for one more member costs least.  False: no node can have one.
 * True also if a unit may not be taken: the search goes on without it.  Called between victims_collect and
 * node_search_end. */
bool node_search_take(struct sched *sched, const struct plan_request *plan, const struct request *request);
void node_search_end(struct sched *sched);

#endif
